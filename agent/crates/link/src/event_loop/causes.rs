//! Upon what a request sent something, and how likely that is.

use crate::event_loop::behaviour::Behaviour;
use crate::event_loop::hypothesis::{ANY_TIME, Hypothesis, Sending};
use crate::event_loop::request::{Cause, Progress};
use std::rc::Rc;

/// An account or a cause that is less likely than the best by this factor (e to its power) is left out.
pub const HOPELESS: f64 = 12.0;

/// How probable an output is upon each cause, for one state of a request.
pub type Known = Option<(*const Progress, Vec<(Cause, f64)>)>;

/// The likeliest cause of an output of a request's, and the logarithm of how likely it is.
pub fn best_cause(
    account: &Hypothesis,
    at: (usize, u16),
    sending: &Sending,
    behaviour: &Behaviour,
    known: Option<&mut Known>,
) -> (Cause, f64) {
    let Some(progress) = account.progress(at.0) else {
        // How far it has come was not followed: it may be doing anything.
        return (Cause::Unseen, ANY_TIME + behaviour.log_share(sending.output));
    };
    let mut own = None;
    let known = known.unwrap_or(&mut own);
    if known.as_ref().is_none_or(|it| it.0 != Rc::as_ptr(progress)) {
        *known = Some((Rc::as_ptr(progress), causes(progress, sending, behaviour)));
    }
    let causes = known.iter().flat_map(|it| &it.1);
    let mut best = (Cause::Unseen, f64::NEG_INFINITY);
    for &(cause, log) in causes {
        if log > best.1 - HOPELESS {
            let log = log + account.log_timing(at, cause, sending, behaviour);
            if log > best.1 {
                best = (cause, log);
            }
        }
    }
    best
}

fn causes(progress: &Progress, sending: &Sending, behaviour: &Behaviour) -> Vec<(Cause, f64)> {
    let came = progress.waiting.iter().take_while(|it| it.at_ns <= sending.at_ns).count();
    let waiting = (0..came).map(Cause::Waiting);
    let last = progress.has_last().then_some(Cause::Last);
    let log = |cause| (cause, progress.log_probability(cause, sending.output, behaviour));
    last.into_iter().chain(waiting).chain([Cause::Unseen]).map(log).collect()
}

/// Teaches what an output shows.
pub fn learn(
    account: &Hypothesis,
    at: (usize, u16),
    cause: Cause,
    sending: &Sending,
    behaviour: &mut Behaviour,
    weight: f64,
) {
    let Some(progress) = account.progress(at.0) else { return };
    progress.steps(cause, sending.output, |context, next| behaviour.see(context, next, weight));
    if let Some(timing) = account.timing(at, cause, sending) {
        behaviour.see_pace(timing.pace, timing.upon, sending.output, timing.took_ns, weight);
    }
}
