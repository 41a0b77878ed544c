//! One account of what a loop did: which request sent which call, upon which input.

use crate::event_loop::behaviour::{Behaviour, Output, Pace};
use crate::event_loop::request::{Cause, Input, Progress};
use crate::topology::Server;
use std::collections::VecDeque;
use std::rc::Rc;

/// The logarithms of the probabilities that an output continues what was sent upon an input although
/// another request sent something meanwhile, and that it follows from nothing that was seen.
const INTERLEAVED: f64 = -4.0;
const UNSEEN: f64 = -9.0;
/// The logarithm of the probability that something is sent upon an input only after the request's next
/// input came: what is sent in one turn leaves at once. Without it, what always follows an answer is
/// as well explained by what came before the call, and so by whoever sent something last.
const OVERTAKEN: f64 = -4.0;
/// The logarithms of the probabilities that nothing is sent upon an input upon which something always
/// was, that something is after all although its turn is over, and of any input out of turn.
const NEVER: f64 = -5.0;
const LATE: f64 = -5.0;
const OUT_OF_TURN: f64 = -12.0;
/// So many inputs whose turn is over are remembered.
const MOST_PASSED: usize = 256;
/// Of an output that follows from nothing that was seen, and of a call that is no request's, the
/// logarithm of the density in time, per second.
pub const ANY_TIME: f64 = 6.9;

/// A message that a loop sends.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// When it was seen.
    pub at_ns: i64,
    /// What.
    pub output: Output,
    /// When the connection that it took became free, if no other was.
    pub freed_ns: Option<i64>,
}

/// Where the loop of one server is.
#[derive(Clone, Debug)]
struct Position {
    server: Server,
    last_ns: i64,
    /// Whose the last output was.
    last: usize,
}

/// An input that waits for its turn.
#[derive(Clone, Debug)]
struct Queued {
    source: Option<Server>,
    slot: usize,
    at_ns: i64,
    /// The logarithm of the probability that nothing is sent upon it, though its turn came.
    silent: f64,
}

/// An output's timing: what it is measured from, how long it took, and how late its input was.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub pace: Pace,
    pub upon: Output,
    pub took_ns: i64,
}

/// One account.
#[derive(Clone)]
pub struct Hypothesis {
    /// Accounts of one group are compared with each other.
    pub group: u8,
    /// The logarithm of its probability, up to a constant.
    pub weight: f64,
    /// By slot.
    progress: Vec<Option<Rc<Progress>>>,
    /// The requests of the calls that are not decided, in the order in which those were sent.
    pub owners: VecDeque<Option<i64>>,
    positions: Vec<Position>,
    queue: VecDeque<Queued>,
    /// Those whose turn is over without anything having been sent upon them.
    passed: VecDeque<Queued>,
}

impl Hypothesis {
    /// Nothing happened yet.
    pub fn new(group: u8) -> Self {
        Self {
            group,
            weight: 0.0,
            progress: Vec::new(),
            owners: VecDeque::new(),
            positions: Vec::new(),
            queue: VecDeque::new(),
            passed: VecDeque::new(),
        }
    }

    /// How far the request in a slot has come; none if it is not followed.
    pub fn progress(&self, slot: usize) -> Option<&Rc<Progress>> {
        self.progress.get(slot).and_then(Option::as_ref)
    }

    /// Follows no request that is under way any longer.
    pub fn lose_track(&mut self) {
        self.progress.clear();
        self.positions.clear();
        self.queue.clear();
        self.passed.clear();
    }

    /// A request came.
    pub fn ask(&mut self, slot: usize, progress: Rc<Progress>) {
        if self.progress.len() <= slot {
            self.progress.resize(slot + 1, None);
        }
        let at_ns = progress.waiting[0].at_ns;
        self.queue.push_back(Queued { source: None, slot, at_ns, silent: NEVER });
        self.progress[slot] = Some(progress);
    }

    /// An answer came for a request.
    pub fn answer(&mut self, slot: usize, input: Input, behaviour: &Behaviour) {
        if let Some(progress) = self.progress.get_mut(slot).and_then(Option::as_mut) {
            let progress = Rc::make_mut(progress);
            progress.waiting.push(input);
            let silent = progress.log_silence(behaviour).max(NEVER);
            let Input { source, at_ns, .. } = input;
            self.queue.push_back(Queued { source, slot, at_ns, silent });
        }
    }

    /// The request in a slot is over.
    pub fn close(&mut self, slot: usize) {
        if let Some(progress) = self.progress.get_mut(slot) {
            *progress = None;
        }
        self.queue.retain(|it| it.slot != slot);
        self.passed.retain(|it| it.slot != slot);
    }

    /// The logarithm of the probability that the turn of an input came: nothing was sent upon those of
    /// other requests that came from the same source before it.
    fn log_turn(&self, slot: usize, input: &Input, sending: &Sending) -> f64 {
        // Those that wait for a connection have had their turn.
        let may_wait = sending.freed_ns.is_some_and(|freed_ns| freed_ns > input.at_ns);
        let passed = self.passed.iter().filter(|_| may_wait);
        let mut sum = 0.0_f64;
        for it in passed.chain(&self.queue) {
            if (it.slot, it.source, it.at_ns) == (slot, input.source, input.at_ns) {
                return sum.max(OUT_OF_TURN);
            }
            if it.source == input.source && it.slot != slot {
                sum += it.silent;
            }
        }
        LATE
    }

    /// The timing of an output that a request at `server` sends upon `cause`.
    pub fn timing(
        &self,
        (slot, server): (usize, Server),
        cause: Cause,
        sending: &Sending,
    ) -> Option<Timing> {
        let progress = self.progress(slot)?;
        let position = self.positions.iter().find(|it| it.server == server);
        let last_ns = position.map_or(i64::MIN / 2, |it| it.last_ns);
        let upon = progress.upon(cause);
        let since_last = sending.at_ns - last_ns;
        match cause {
            Cause::Unseen => None,
            Cause::Last => Some(Timing { pace: Pace::Next, upon, took_ns: since_last }),
            Cause::Waiting(at) => {
                let came_ns = progress.waiting[at].at_ns.max(sending.freed_ns.unwrap_or(i64::MIN));
                let (pace, took_ns) = if came_ns > last_ns {
                    (Pace::Idle, sending.at_ns - came_ns)
                } else {
                    (Pace::Busy, since_last)
                };
                Some(Timing { pace, upon, took_ns })
            }
        }
    }

    /// The logarithm of how an output's timing speaks for its cause.
    pub fn log_timing(
        &self,
        at: (usize, Server),
        cause: Cause,
        sending: &Sending,
        behaviour: &Behaviour,
    ) -> f64 {
        let Some(timing) = self.timing(at, cause, sending) else {
            return UNSEEN + ANY_TIME + behaviour.log_share(sending.output);
        };
        let pace = behaviour.log_pace(timing.pace, timing.upon, sending.output, timing.took_ns);
        let order = match (cause, self.progress(at.0)) {
            (Cause::Waiting(which), Some(it)) => self.log_turn(at.0, &it.waiting[which], sending),
            _ if self.is_last(at) => 0.0,
            _ => INTERLEAVED,
        };
        let is_overtaken = cause == Cause::Last && self.has_input(at.0, sending.at_ns);
        pace + order + if is_overtaken { OVERTAKEN } else { 0.0 }
    }

    /// True if an input of a request's came by then on which nothing was sent yet.
    fn has_input(&self, slot: usize, by_ns: i64) -> bool {
        self.progress(slot).is_some_and(|it| it.waiting.first().is_some_and(|it| it.at_ns <= by_ns))
    }

    /// True if the last output of its loop was this request's.
    pub fn is_last(&self, (slot, server): (usize, Server)) -> bool {
        self.positions.iter().any(|it| it.server == server && it.last == slot)
    }

    /// A request sends something.
    pub fn send(&mut self, (slot, server): (usize, Server), cause: Cause, sending: &Sending) {
        let input = self.progress(slot).and_then(|it| match cause {
            Cause::Waiting(at) => Some(it.waiting[at]),
            _ => None,
        });
        if let Some(input) = input {
            let is_over = |it: &Queued| {
                it.at_ns <= input.at_ns && (it.source == input.source || it.slot == slot)
            };
            self.passed.retain(|it| it.slot != slot || it.at_ns > input.at_ns);
            let others = self.queue.iter().filter(|it| is_over(it) && it.slot != slot);
            self.passed.extend(others.cloned());
            while self.passed.len() > MOST_PASSED {
                self.passed.pop_front();
            }
            self.queue.retain(|it| !is_over(it));
        }
        let at = self.positions.iter().position(|it| it.server == server).unwrap_or_else(|| {
            let beginning = Position { server, last_ns: i64::MIN / 2, last: slot };
            self.positions.push(beginning);
            self.positions.len() - 1
        });
        let position = &mut self.positions[at];
        (position.last_ns, position.last) = (sending.at_ns, slot);
        if let Some(progress) = self.progress.get_mut(slot).and_then(Option::as_mut) {
            Rc::make_mut(progress).send(cause, sending.output);
        }
    }
}
