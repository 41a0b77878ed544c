//! Joins turns of threads (`raw_turns`) to the visits in which they read requests and sent calls.
//!
//! A visit and its turns are on one connection. A thread reads a request after its first byte came
//! and before its reply leaves; it sends a call just when the callee's visit begins. On a connection
//! that carries one request after the other, this leaves no choice.

use crate::keepers::{Keepers, Tally};
use crate::keyed::SLACK_NS;
use crate::names::Name;
use crate::summary::{Keeper, Threads};
use crate::table::{ReadError, TurnReader, Words};
use crate::visit::{Replied, Visit, Waits, Work};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// A turn is written at most so long after its last event.
const LATENESS_NS: i64 = 3_000_000_000;
/// The kernel tells of a call after it was sent: a thread that was preempted meanwhile, so much later.
const SENDING_NS: i64 = 20_000_000;
/// Turns for which no visit comes are forgotten.
const FORGOTTEN_NS: i64 = 60_000_000_000;
/// Places of these states among a thread's times (`tierlab_trace::State`).
const THROTTLED: usize = 2;
const STOPPED: usize = 3;

/// What a row of `raw_turns` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request that was read.
    Served,
    /// A call that was sent.
    Called,
    /// A thread was held back by a quota.
    Throttled,
    /// A thread was stopped.
    Stopped,
}

/// A row of `raw_turns`.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Its number.
    pub turn: i64,
    /// What it is.
    pub kind: Kind,
    /// Whose thread.
    pub server: Name,
    /// Its connection.
    pub endpoints: u64,
    /// The process.
    pub process: i64,
    /// The thread.
    pub thread: i64,
    /// Who works on requests: the thread, or the goroutine that it ran.
    pub worker: i64,
    /// When it began.
    pub begin_ns: i64,
    /// When it last wrote of the reply.
    pub end_ns: Option<i64>,
    /// Of a call: the turn that its worker worked on.
    pub serves: Option<i64>,
    /// Who replied, and until when.
    pub replied: Option<(i64, i64)>,
    /// Its thread had another call under way when it called or replied.
    pub overlaps: bool,
    /// Its thread had another request under way.
    pub shared: bool,
    /// It is a call of a worker that had replied to what it read.
    pub after_reply: bool,
    /// Another thread went on with it.
    pub handed_on: bool,
    /// The thread's times at the beginning and the end.
    pub before: [u64; 9],
    /// The same at the end.
    pub after: [u64; 9],
    /// The system call in which it slept longest.
    pub other_call: Option<Name>,
}

/// The turns of a run, as they are joined to its visits.
pub struct TurnJoin {
    reader: TurnReader,
    /// By connection, in the order in which they were written.
    served: FxHashMap<u64, VecDeque<Turn>>,
    called: FxHashMap<u64, VecDeque<Turn>>,
    /// By server, when its threads were held back.
    pauses: FxHashMap<Name, VecDeque<Turn>>,
    keepers: FxHashMap<Name, Keepers>,
    /// The latest time of a turn that was read.
    latest_ns: i64,
    forget_ns: i64,
    ended: bool,
}

impl TurnJoin {
    /// Opens the table, and finds out which servers' workers have a request to themselves.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(
        path: &Path,
        words: &mut Words,
    ) -> Result<(Self, BTreeMap<String, Threads>), ReadError> {
        let mut tallies: FxHashMap<Name, Tally> = FxHashMap::default();
        let mut reader = TurnReader::open(path)?;
        while let Some(batch) = reader.batch()? {
            reader.turns(&batch, words, |turn| tallies.entry(turn.server).or_default().add(&turn));
        }
        let keepers: FxHashMap<Name, Keepers> =
            tallies.into_iter().map(|(server, tally)| (server, tally.keepers())).collect();
        let names =
            keepers.iter().map(|(&server, it)| (words.server(server).to_owned(), it.threads));
        let names = names.collect();
        let it = Self {
            reader: TurnReader::open(path)?,
            served: FxHashMap::default(),
            called: FxHashMap::default(),
            pauses: FxHashMap::default(),
            keepers,
            latest_ns: i64::MIN,
            forget_ns: i64::MIN,
            ended: false,
        };
        Ok((it, names))
    }

    /// Adds to a visit what threads did for it. Visits come in the order in which they were over.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn join(&mut self, visit: &mut Visit, words: &mut Words) -> Result<(), ReadError> {
        let upto_ns = visit.ended_ns.saturating_add(LATENESS_NS);
        while !self.ended && self.latest_ns < upto_ns {
            self.read(words)?;
        }
        let begins_ns = visit.span.arrival_ns - SLACK_NS;
        let read = taken(&mut self.served, visit.endpoints, begins_ns, visit.ended_ns);
        let sent_by_ns = visit.ended_ns.saturating_add(SENDING_NS);
        let sent = taken_first(&mut self.called, visit.endpoints, begins_ns, sent_by_ns);
        let caller = sent.and_then(|call| self.keepers.get(&call.server)?.caller(&call));
        let keeper =
            read.first().and_then(|it| self.keepers.get(&it.server)?.threads.one_request_each);
        let turns: Vec<i64> = read.iter().map(|it| it.turn).collect();
        let is_own = |it: &Turn| !it.shared && !it.handed_on && it.worker == it.thread;
        let waits = if keeper == Some(Keeper::Reader) && read.iter().all(is_own) {
            waits(visit, &read).map(|it| self.with_pauses(it, visit, &read))
        } else {
            None
        };
        let replied = read.last().filter(|_| keeper.is_some()).and_then(replied);
        if caller.is_some() || !turns.is_empty() {
            visit.work = Some(Box::new(Work { turns, caller, replied, waits }));
        }
        if visit.ended_ns > self.forget_ns {
            self.forget(visit.ended_ns);
        }
        Ok(())
    }

    /// Of the time until a thread read the request, that in which the server's threads were held back
    /// is not the queue's: nobody could have read it.
    fn with_pauses(&self, mut waits: Waits, visit: &Visit, read: &[Turn]) -> Waits {
        let Some(pauses) = read.first().and_then(|it| self.pauses.get(&it.server)) else {
            return waits;
        };
        let arrival_ns = visit.span.arrival_ns;
        for (kind, state) in [(Kind::Stopped, STOPPED), (Kind::Throttled, THROTTLED)] {
            let of_kind = pauses.iter().filter(|it| it.kind == kind);
            let span = |it: &Turn| (it.begin_ns, it.end_ns.unwrap_or(it.begin_ns));
            let until_ns = arrival_ns + waits.queued_ns;
            let held_ns = covered(of_kind.map(span), (arrival_ns, until_ns));
            waits.queued_ns -= held_ns;
            waits.parts[state] += held_ns;
        }
        waits
    }

    fn read(&mut self, words: &mut Words) -> Result<(), ReadError> {
        let Some(batch) = self.reader.batch()? else {
            self.ended = true;
            return Ok(());
        };
        let Self { reader, served, called, pauses, latest_ns, .. } = self;
        reader.turns(&batch, words, |turn| {
            *latest_ns = (*latest_ns).max(turn.end_ns.unwrap_or(turn.begin_ns));
            let queue = match turn.kind {
                Kind::Served => served.entry(turn.endpoints).or_default(),
                Kind::Called => called.entry(turn.endpoints).or_default(),
                Kind::Throttled | Kind::Stopped => pauses.entry(turn.server).or_default(),
            };
            // A reply that went on after a pause comes once more.
            match queue.iter_mut().find(|it| it.kind == Kind::Served && it.turn == turn.turn) {
                Some(known) => *known = turn,
                None => queue.push_back(turn),
            }
        });
        Ok(())
    }

    /// Drops what is too old to be joined.
    fn forget(&mut self, now_ns: i64) {
        self.forget_ns = now_ns.saturating_add(FORGOTTEN_NS / 4);
        let is_left = |queue: &mut VecDeque<Turn>| {
            while queue.front().is_some_and(|it| it.begin_ns + FORGOTTEN_NS < now_ns) {
                queue.pop_front();
            }
            !queue.is_empty()
        };
        self.served.retain(|_, queue| is_left(queue));
        self.called.retain(|_, queue| is_left(queue));
        self.pauses.retain(|_, queue| is_left(queue));
    }
}

/// How much of a span others cover, in nanoseconds.
fn covered(others: impl Iterator<Item = (i64, i64)>, (from_ns, to_ns): (i64, i64)) -> i64 {
    let mut within: Vec<_> = others
        .map(|(begin_ns, end_ns)| (begin_ns.max(from_ns), end_ns.min(to_ns)))
        .filter(|(begin_ns, end_ns)| begin_ns < end_ns)
        .collect();
    within.sort_unstable();
    let mut reached_ns = from_ns;
    let mut covered_ns = 0;
    for (begin_ns, end_ns) in within {
        covered_ns += (end_ns - begin_ns.max(reached_ns)).max(0);
        reached_ns = reached_ns.max(end_ns);
    }
    covered_ns
}

/// Takes the turns of a connection that began in that time; those before it belong to no visit.
fn taken(
    queues: &mut FxHashMap<u64, VecDeque<Turn>>,
    endpoints: u64,
    from_ns: i64,
    to_ns: i64,
) -> Vec<Turn> {
    let Some(queue) = queues.get_mut(&endpoints) else { return Vec::new() };
    while queue.front().is_some_and(|it| it.begin_ns < from_ns) {
        queue.pop_front();
    }
    let count = queue.iter().take_while(|it| it.begin_ns <= to_ns).count();
    queue.drain(..count).collect()
}

/// The same, of which the first tells.
fn taken_first(
    queues: &mut FxHashMap<u64, VecDeque<Turn>>,
    endpoints: u64,
    from_ns: i64,
    to_ns: i64,
) -> Option<Turn> {
    let queue = queues.get_mut(&endpoints)?;
    while queue.front().is_some_and(|it| it.begin_ns < from_ns) {
        queue.pop_front();
    }
    if queue.front()?.begin_ns <= to_ns { queue.pop_front() } else { None }
}

/// Who replied in a turn.
fn replied(turn: &Turn) -> Option<Replied> {
    let (worker, at_ns) = turn.replied?;
    Some(Replied { worker: (turn.process, worker), read_ns: turn.begin_ns, at_ns })
}

/// What the thread waited for, from the first of a visit's turns to the last: a server may ask its
/// client for more in between. None where it is not known of the whole stay.
fn waits(visit: &Visit, turns: &[Turn]) -> Option<Waits> {
    let (first, last) = (turns.first()?, turns.last()?);
    let departure_ns = Some(visit.span.departure_ns).filter(|&it| it != i64::MAX)?;
    let end_ns = last.end_ns?;
    if turns.iter().any(|it| it.thread != first.thread) {
        return None;
    }
    let mut parts = [0; 9];
    for (part, (before, after)) in parts.iter_mut().zip(first.before.iter().zip(&last.after)) {
        *part = after.checked_sub(*before)? as i64;
    }
    let queued_ns = first.begin_ns - visit.span.arrival_ns;
    let sending_ns = departure_ns - end_ns;
    // The kernel tells of a write after its bytes have left: what is beyond the stay was spent in the
    // system call, on a CPU or waiting for one.
    let mut beyond_ns = -queued_ns.min(0) - sending_ns.min(0);
    for part in &mut parts {
        let less_ns = beyond_ns.min(*part);
        *part -= less_ns;
        beyond_ns -= less_ns;
    }
    Some(Waits {
        process: first.process,
        thread: first.thread,
        queued_ns: queued_ns.max(0),
        parts,
        other_call: last.other_call,
        sending_ns: sending_ns.max(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;

    fn turn(turn: i64, (begin_ns, end_ns): (i64, i64), before: [u64; 9], after: [u64; 9]) -> Turn {
        Turn {
            turn,
            kind: Kind::Served,
            server: 0,
            endpoints: 7,
            process: 1,
            thread: 2,
            worker: 2,
            begin_ns,
            end_ns: Some(end_ns),
            serves: None,
            replied: None,
            overlaps: false,
            shared: false,
            after_reply: false,
            handed_on: false,
            before,
            after,
            other_call: None,
        }
    }

    #[test]
    fn the_parts_are_the_whole_stay() {
        let before = [5, 0, 0, 0, 0, 0, 3, 0, 0];
        let turns = [turn(0, (120, 170), before, [25, 10, 0, 0, 0, 0, 23, 0, 0])];
        let found = waits(&visit(1).during(100, 200).build(), &turns).unwrap();
        assert_eq!((found.queued_ns, found.sending_ns), (20, 30));
        assert_eq!(found.parts, [20, 10, 0, 0, 0, 0, 20, 0, 0]);
    }

    #[test]
    fn a_write_that_is_told_after_its_bytes_left_is_no_part_of_the_stay() {
        let turns = [turn(0, (120, 230), [0; 9], [20, 90, 0, 0, 0, 0, 0, 0, 0])];
        let found = waits(&visit(1).during(100, 200).build(), &turns).unwrap();
        assert_eq!(found.sending_ns, 0);
        assert_eq!(found.parts[..2], [0, 80]);
        assert_eq!(found.queued_ns + found.parts.iter().sum::<i64>(), 100);
    }

    #[test]
    fn a_server_that_asks_for_more_has_two_turns_in_one_stay() {
        let mut queues = FxHashMap::default();
        let turns = [
            turn(0, (5, 9), [0; 9], [0; 9]),
            turn(1, (120, 130), [0; 9], [10, 0, 0, 0, 0, 0, 0, 0, 0]),
            turn(2, (150, 190), [10; 9], [40, 10, 10, 10, 10, 10, 10, 10, 20]),
            turn(3, (210, 230), [0; 9], [0; 9]),
        ];
        queues.insert(7, VecDeque::from(turns));
        let found = taken(&mut queues, 7, 100, 200);
        assert_eq!(found.iter().map(|it| it.turn).collect::<Vec<_>>(), [1, 2]);
        let stay = visit(1).during(100, 200).build();
        let parts = waits(&stay, &found).unwrap().parts;
        assert_eq!((parts[0], parts[8]), (40, 20));
        assert_eq!(taken(&mut queues, 7, 205, 300).len(), 1, "the next stay's is still there");
    }

    #[test]
    fn what_is_covered_twice_counts_once() {
        let others = [(5, 15), (10, 20), (30, 40), (32, 35)].into_iter();
        assert_eq!(covered(others, (8, 33)), 12 + 3);
        assert_eq!(covered([].into_iter(), (8, 33)), 0);
    }

    #[test]
    fn a_reply_that_was_not_seen_has_no_parts() {
        let stay = visit(1).during(100, i64::MAX).build();
        assert_eq!(waits(&stay, &[turn(0, (120, 170), [0; 9], [50; 9])]), None);
    }
}
