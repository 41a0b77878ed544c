//! Whether an operation of several pages, its forms and its users make sense.

use crate::plan::LONGEST_TIME_NS;
use crate::source::Several;
use crate::state::{Encoding, Method, State};
use crate::workload::{Identity, Workload};

/// Steps of an operation at most.
const MOST_STEPS: usize = 30;

/// Its steps, its files and its delay.
pub(super) fn operation(workload: &Workload, state: &State) -> Result<(), String> {
    if state.before.len() + state.after.len() > MOST_STEPS {
        return Err(format!("has more than {MOST_STEPS} steps"));
    }
    for step in state.before.iter().chain(&state.after) {
        if workload.state(&step.state).is_none() {
            return Err(format!("a step names the unknown state {:?}", step.state));
        }
        if step.when.chance.is_some_and(|chance| !(0.0..=1.0).contains(&chance)) {
            return Err("the `chance` of a step must be 0 to 1".into());
        }
    }
    let fits =
        |path: &String| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
    if let Some(path) = state.resources.iter().find(|path| !fits(path)) {
        return Err(format!(
            "resource {path:?} must begin with / and be plain ASCII without blanks"
        ));
    }
    if state.encoding == Encoding::Multipart && state.method != Method::Post {
        return Err("only a POST is `multipart`".into());
    }
    if state.encoding == Encoding::Multipart && state.body.is_some() {
        return Err("a `multipart` form has no other `body`".into());
    }
    let unfit = |name: &str| name.bytes().any(|byte| matches!(byte, b'"' | b'\r' | b'\n'));
    if state.encoding == Encoding::Multipart
        && state.parameters.iter().any(|parameter| unfit(&parameter.name))
    {
        return Err("a name in a `multipart` form has no quote or line end".into());
    }
    match state.delay.as_ref().and_then(|delay| delay.problem(LONGEST_TIME_NS)) {
        Some(what) => Err(what.into()),
        None => Ok(()),
    }
}

/// Numbers that are to be different.
pub(super) fn several(several: &Several) -> Result<(), String> {
    let (least, most) = several.count;
    if least > most || most > several.of || most > 1000 {
        return Err("needs a `count` that runs upwards, to at most `of` and 1000".into());
    }
    if !(several.mean > 0.0 && several.mean <= 1.0) {
        return Err("needs a `mean` above 0 and at most 1".into());
    }
    Ok(())
}

/// Whom a kind of session belongs to.
pub(super) fn identity(identity: &Identity) -> Result<(), &'static str> {
    let (low, high) = identity.numbers;
    if low > high {
        return Err("`identity.numbers` runs downwards");
    }
    let reach =
        identity.stride.map(|stride| u64::from(high) * u64::from(stride) + u64::from(stride));
    match reach {
        Some(0) => Err("`identity.stride` must be at least 1"),
        Some(reach) if reach > u64::from(u32::MAX) => {
            Err("`identity.numbers` times `identity.stride` exceeds 32 bits")
        }
        _ => Ok(()),
    }
}
