//! Which of a server's workers have a request to themselves: those that read it, those that reply to
//! it, or none. Found from all turns of a run, before the first visit is linked.
//!
//! A worker that has a request to itself does nothing for another one meanwhile. Two kinds of servers
//! have such workers. In the first, a thread (or goroutine) reads a request, works on it and replies.
//! In the second, one thread reads all requests and hands them to a pool, and a thread of the pool
//! works on the request and replies. Where another thread writes the pool's results, nothing tells
//! which worker had which request.

use crate::keyed::SLACK_NS;
use crate::summary::{Keeper, Threads};
use crate::turns::{Kind, Turn};
use crate::visit::{Caller, Worker};
use rustc_hash::{FxHashMap, FxHashSet};

/// At most one request or call in so many may be one of two that a worker had under way. Even event
/// loops at low load have more.
const SHARED: u64 = 1_000;
/// Those who read have their requests to themselves if at most one request in so many was handed on.
/// httpd's event MPM lets others write the rest of what a slow client has not taken; pools hand on far
/// more.
const HANDED_ON: u64 = 50;
/// Those who reply have them if at most one call in so many came at another time than between the read
/// of a request and its reply. Threads that run whatever is ready call at any time.
const OUTSIDE: u64 = 50;
/// So many turns of a server are looked at for the last rule.
const LOOKED_AT: usize = 200_000;

/// Who works on a server's requests.
#[derive(Debug, Default)]
pub struct Keepers {
    /// What was counted.
    pub threads: Threads,
    /// Those that replied: others do something else.
    repliers: FxHashSet<Worker>,
}

impl Keepers {
    /// The worker that sent a call; none where the worker does not tell the call's request.
    pub fn caller(&self, call: &Turn) -> Option<Caller> {
        let (worker, after_reply) = ((call.process, call.worker), call.after_reply);
        match self.threads.one_request_each? {
            // After its reply it may work for that still, or on a request that another one has read.
            Keeper::Reader if !after_reply => call.serves.map(Caller::Turn),
            Keeper::Reader | Keeper::Replier => self
                .repliers
                .contains(&worker)
                .then_some(Caller::Worker { worker, at_ns: call.begin_ns, after_reply }),
        }
    }
}

/// Counts a server's turns.
#[derive(Default)]
pub struct Tally {
    threads: Threads,
    /// By who replied: until when, and when the request was read.
    replies: FxHashMap<Worker, Vec<(i64, i64)>>,
    calls: FxHashMap<Worker, Vec<i64>>,
    looked_at: usize,
}

impl Tally {
    /// Counts one turn.
    pub fn add(&mut self, turn: &Turn) {
        let is_looked_at = self.looked_at < LOOKED_AT;
        match turn.kind {
            Kind::Served if turn.end_ns.is_some() => {
                self.threads.served += 1;
                self.threads.shared += u64::from(turn.shared);
                self.threads.handed_on += u64::from(turn.handed_on);
                if let Some((worker, until_ns)) = turn.replied {
                    let replies = self.replies.entry((turn.process, worker)).or_default();
                    if is_looked_at {
                        replies.push((until_ns, turn.begin_ns));
                    }
                }
            }
            Kind::Called => {
                self.threads.calls += 1;
                if is_looked_at {
                    let calls = self.calls.entry((turn.process, turn.worker)).or_default();
                    calls.push(turn.begin_ns);
                }
            }
            Kind::Served | Kind::Throttled | Kind::Stopped => return,
        }
        self.threads.overlapping += u64::from(turn.overlaps);
        self.looked_at += 1;
    }

    /// What follows from the counts.
    pub fn keepers(mut self) -> Keepers {
        let mut looked_at = 0;
        for (worker, calls) in &self.calls {
            looked_at += calls.len() as u64;
            let Some(replies) = self.replies.get_mut(worker) else { continue };
            replies.sort_unstable();
            let is_before_reply = |&&at_ns: &&i64| {
                let next = replies.partition_point(|&(until_ns, _)| until_ns < at_ns);
                replies.get(next).is_some_and(|&(_, read_ns)| read_ns - SLACK_NS <= at_ns)
            };
            self.threads.before_reply += calls.iter().filter(is_before_reply).count() as u64;
        }
        let it = self.threads;
        let rarely = |count: u64, of: u64, one_in: u64| of > 0 && one_in * count <= of;
        self.threads.one_request_each = if !rarely(it.shared, it.served, SHARED) {
            None
        } else if rarely(it.handed_on, it.served, HANDED_ON) {
            Some(Keeper::Reader)
        } else if rarely(it.overlapping, it.served + it.calls, SHARED)
            && rarely(looked_at - it.before_reply, looked_at, OUTSIDE)
        {
            Some(Keeper::Replier)
        } else {
            None
        };
        let repliers = self.replies.into_keys().collect();
        Keepers { threads: self.threads, repliers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: i64 = 1;

    fn turn(kind: Kind, worker: i64, (begin_ns, end_ns): (i64, i64)) -> Turn {
        let served = kind == Kind::Served;
        Turn {
            turn: begin_ns,
            kind,
            server: 0,
            endpoints: 7,
            process: 1,
            thread: worker,
            worker,
            begin_ns,
            end_ns: served.then_some(end_ns),
            serves: None,
            replied: served.then_some((worker, end_ns)),
            overlaps: false,
            shared: false,
            after_reply: false,
            handed_on: false,
            before: [0; 9],
            after: [0; 9],
            other_call: None,
        }
    }

    fn keeper(turns: impl IntoIterator<Item = Turn>) -> Option<Keeper> {
        let mut tally = Tally::default();
        turns.into_iter().for_each(|it| tally.add(&it));
        tally.keepers().threads.one_request_each
    }

    /// What a loop reads and one of two workers replies to, one request after the other; each calls
    /// `after` nanoseconds after the read.
    fn pool(after_ns: i64) -> Vec<Turn> {
        let request = |at: i64| {
            let (worker, read_ns) = (2 + at % 2, 1_000_000_000 * at);
            let replied = Some((worker, read_ns + 500_000_000));
            let served = turn(Kind::Served, LOOP, (read_ns, read_ns + 500_000_000));
            let call = turn(Kind::Called, worker, (read_ns + after_ns, 0));
            [Turn { replied, handed_on: true, ..served }, call]
        };
        (0..100).flat_map(request).collect()
    }

    #[test]
    fn a_worker_that_reads_and_replies_has_its_request_to_itself() {
        let served = (0..100).map(|at| turn(Kind::Served, 2, (10 * at, 10 * at + 5)));
        assert_eq!(keeper(served), Some(Keeper::Reader));
    }

    #[test]
    fn a_pool_behind_a_loop_has_them_by_its_replies() {
        assert_eq!(keeper(pool(100_000_000)), Some(Keeper::Replier));
    }

    #[test]
    fn threads_that_call_between_requests_tell_nothing() {
        assert_eq!(keeper(pool(700_000_000)), None);
    }

    #[test]
    fn threads_that_have_two_calls_under_way_run_whatever_is_ready() {
        let hopping = pool(100_000_000).into_iter().enumerate();
        assert_eq!(keeper(hopping.map(|(at, it)| Turn { overlaps: at % 50 == 1, ..it })), None);
    }

    #[test]
    fn event_loops_share() {
        let served = (0..100).map(|at| turn(Kind::Served, 2, (10 * at, 10 * at + 15)));
        assert_eq!(keeper(served.map(|it| Turn { shared: true, ..it })), None);
    }

    #[test]
    fn a_thread_that_never_replies_is_no_parent() {
        let mut tally = Tally::default();
        pool(100_000_000).iter().for_each(|it| tally.add(it));
        let keepers = tally.keepers();
        let call = |worker| turn(Kind::Called, worker, (5, 0));
        let by = Caller::Worker { worker: (1, 2), at_ns: 5, after_reply: false };
        assert_eq!(keepers.caller(&call(2)), Some(by));
        assert_eq!(keepers.caller(&call(9)), None);
    }
}
