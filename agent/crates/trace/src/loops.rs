//! What threads did over time that have several requests under way: event loops, and whatever else
//! runs what is ready. No visit's time can be divided by what such a thread does, but the thread's own
//! can. Touches no kernel: events in, rows out.

use crate::event::{Event, State, Times};
use rustc_hash::FxHashMap;

/// A row is of at least so long. It ends with a read or write of the thread's: an idle loop's are
/// longer.
const LEAST_NS: i64 = 50_000_000;

/// A thread that has been silent for so long is forgotten.
const FORGOTTEN_NS: i64 = 60_000_000_000;

/// What a thread did in the `dt_ns` before `at_ns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The server that has the thread: a place in the plan's subjects.
    pub subject: usize,
    /// The process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// The end, since the epoch.
    pub at_ns: i64,
    /// How long it was.
    pub dt_ns: i64,
    /// How long it was in each state.
    pub times: Times,
}

impl Stretch {
    /// How long it was in one state.
    pub fn in_state(&self, state: State) -> i64 {
        self.times[state as usize] as i64
    }

    /// How long it slept for anything but locks and disks: a loop sleeps until something is ready.
    pub fn asleep_ns(&self) -> i64 {
        [State::Call, State::Connecting, State::Other].map(|it| self.in_state(it)).iter().sum()
    }
}

struct Since {
    at_ns: i64,
    times: Times,
    has_several: bool,
}

/// All threads, since their last rows.
#[derive(Default)]
pub struct Loops {
    threads: FxHashMap<(u32, u32), Since>,
}

impl Loops {
    /// Takes an event at `at_ns` since the epoch, of a thread that has several requests under way or
    /// not, and gives the thread's stretch if that is over. A thread that once had several is a loop
    /// from then on.
    pub fn take(&mut self, event: &Event<'_>, at_ns: i64, has_several: bool) -> Option<Stretch> {
        let now = Since { at_ns, times: event.times, has_several };
        let key = (event.process, event.thread);
        let Some(since) = self.threads.get_mut(&key) else {
            self.threads.insert(key, now);
            return None;
        };
        since.has_several |= has_several;
        let dt_ns = at_ns - since.at_ns;
        // Less than nothing: the clock was set.
        if (0..LEAST_NS).contains(&dt_ns) {
            return None;
        }
        let is_loop = since.has_several;
        let before = std::mem::replace(since, Since { has_several: is_loop, ..now });
        let times = std::array::from_fn(|at| event.times[at].saturating_sub(before.times[at]));
        (is_loop && dt_ns > 0).then_some(Stretch {
            subject: event.subject,
            process: event.process,
            thread: event.thread,
            at_ns,
            dt_ns,
            times,
        })
    }

    /// Forgets threads that are silent.
    pub fn tick(&mut self, now_ns: i64) {
        self.threads.retain(|_, it| it.at_ns + FORGOTTEN_NS > now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Direction, Ends, Role, STATES};
    use tierlab_dissect::Peer;

    const MS: i64 = 1_000_000;

    /// Of a thread that computed half of the time until then, and slept the other half.
    fn event(at_ns: i64) -> Event<'static> {
        let peer = Peer { address: [127, 0, 0, 1].into(), port: 1 };
        let mut times = [0; STATES];
        times[State::OnCpu as usize] = (at_ns / 2) as u64;
        times[State::Other as usize] = (at_ns / 2) as u64;
        Event {
            monotonic_ns: 0,
            socket: 1,
            process: 1,
            thread: 2,
            worker: 2,
            subject: 0,
            bytes: 1,
            direction: Direction::Received,
            role: Role::Server,
            overlaps: false,
            times,
            longest_call: None,
            ends: Ends::Inet { local: peer, remote: peer },
        }
    }

    fn stretches(events: &[(i64, bool)]) -> Vec<Stretch> {
        let mut loops = Loops::default();
        events.iter().filter_map(|&(at, several)| loops.take(&event(at), at, several)).collect()
    }

    #[test]
    fn a_loop_s_stretches_follow_each_other_and_have_its_time() {
        let found = stretches(&[(0, true), (20 * MS, false), (60 * MS, false), (160 * MS, false)]);
        let spans: Vec<_> = found.iter().map(|it| (it.at_ns, it.dt_ns)).collect();
        assert_eq!(spans, [(60 * MS, 60 * MS), (160 * MS, 100 * MS)]);
        assert_eq!(found[1].in_state(State::OnCpu), 50 * MS);
        assert_eq!(found[1].asleep_ns(), 50 * MS);
    }

    #[test]
    fn a_thread_with_one_request_at_a_time_has_none() {
        assert_eq!(stretches(&[(0, false), (60 * MS, false), (160 * MS, false)]), []);
    }

    #[test]
    fn it_is_a_loop_from_when_it_has_several() {
        let found = stretches(&[(0, false), (60 * MS, false), (120 * MS, true)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at_ns, 120 * MS);
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_stretch() {
        let found = stretches(&[(100 * MS, true), (50 * MS, false), (110 * MS, false)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].dt_ns, 60 * MS);
    }
}
