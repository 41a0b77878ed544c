//! From reads and writes to turns: which request a thread worked on when, and which calls it sent
//! meanwhile. Touches no kernel: events in, turns out.

use crate::event::{Direction, Event, Pause, Role, Times};
use crate::turn::{Kind, Sharing, Turn};
use rustc_hash::FxHashMap;

/// A reply that has not gone on for so long is taken to be over; if it goes on after all, its turn is
/// given once more.
const OVER_NS: i64 = 1_000_000_000;

/// What has been silent for so long is forgotten.
const FORGOTTEN_NS: i64 = 60 * OVER_NS;

/// A worker, and its process: two may have the same addresses.
type Worker = (u32, u64);

/// A request that a thread has read.
struct Serving {
    turn: Turn,
    given: bool,
}

/// What a worker works on.
#[derive(Default)]
struct Working {
    /// The sockets of the requests that it read and has not begun to reply to.
    open: Vec<u64>,
    /// The request that it read last.
    turn: Option<i64>,
    /// Its socket.
    socket: u64,
    /// When it read that.
    last_ns: i64,
}

/// All workers' turns.
#[derive(Default)]
pub struct Turns {
    served: FxHashMap<u64, Serving>,
    workers: FxHashMap<Worker, Working>,
    next: i64,
    /// Events that belonged to no turn: a greeting, or the rest of what began before the tracing.
    pub outside: u64,
}

impl Turns {
    /// Takes an event at `at_ns` since the epoch on a connection, and gives the turns that are over.
    pub fn take(&mut self, event: &Event<'_>, at_ns: i64, connection: u64, out: &mut Vec<Turn>) {
        match (event.role, event.direction) {
            (Role::Server, Direction::Received) => self.request(event, at_ns, connection, out),
            (Role::Server, Direction::Sent) => self.reply(event, at_ns, connection),
            (Role::Client, Direction::Sent) => self.call(event, at_ns, connection, out),
            (Role::Client, Direction::Received) => {}
        }
    }

    /// Whether the worker of an event has read several requests that it has not begun to reply to.
    pub fn has_several(&self, event: &Event<'_>) -> bool {
        let working = self.workers.get(&(event.process, event.worker));
        working.is_some_and(|it| it.open.len() > 1)
    }

    /// Gives the turns whose replies have not gone on for a while.
    pub fn tick(&mut self, now_ns: i64, out: &mut Vec<Turn>) {
        for serving in self.served.values_mut().filter(|it| !it.given) {
            if serving.turn.end_ns.is_some_and(|end_ns| end_ns + OVER_NS <= now_ns) {
                serving.given = true;
                out.push(serving.turn.clone());
            }
        }
        // A socket that is silent for so long is closed, or its next request begins a turn anew.
        self.served.retain(|_, it| {
            let last_ns = it.turn.end_ns.unwrap_or(it.turn.begin_ns);
            !it.given || last_ns + FORGOTTEN_NS > now_ns
        });
        // Threads that live for one request would fill the memory.
        self.workers.retain(|_, it| it.last_ns + FORGOTTEN_NS > now_ns || !it.open.is_empty());
    }

    /// Gives what is left: requests that were not answered have no end.
    pub fn finish(&mut self, out: &mut Vec<Turn>) {
        out.extend(self.served.drain().map(|(_, it)| it).filter(|it| !it.given).map(|it| it.turn));
    }

    /// A pause in which no request was taken up, between two times since the epoch.
    pub fn pause(pause: &Pause, begin_ns: i64, end_ns: i64) -> Turn {
        Turn {
            turn: 0,
            kind: if pause.throttled { Kind::Throttled } else { Kind::Stopped },
            subject: pause.subject,
            connection: 0,
            process: pause.process,
            thread: pause.thread,
            worker: pause.thread.into(),
            begin_ns,
            end_ns: Some(end_ns),
            replied: None,
            overlaps: false,
            serves: None,
            sharing: Sharing::Alone,
            before: Times::default(),
            after: Times::default(),
            longest_call: None,
        }
    }

    fn request(&mut self, event: &Event<'_>, at_ns: i64, connection: u64, out: &mut Vec<Turn>) {
        let worker = (event.process, event.worker);
        let mut turn = Turn::of(event, Kind::Served, at_ns, connection);
        let known = self.served.get(&event.socket).map(|it| &it.turn);
        let unanswered = known.filter(|it| it.connection == connection && it.end_ns.is_none());
        if let Some(known) = unanswered {
            let before = (known.process, known.worker);
            if before == worker {
                return;
            }
            // Another one reads on: the request is its own from now on.
            turn.turn = known.turn;
            if let Some(working) = self.workers.get_mut(&before) {
                working.open.retain(|it| *it != event.socket);
            }
        } else {
            turn.turn = self.next;
            self.next += 1;
        }
        let working = self.workers.entry(worker).or_default();
        let (served, socket) = (&self.served, event.socket);
        working.open.retain(|it| *it != socket && served.contains_key(it));
        working.open.push(event.socket);
        // What this worker served before is over: it has begun something else.
        if working.socket != event.socket
            && let Some(before) = self.served.get_mut(&working.socket)
            && before.turn.end_ns.is_some()
            && !before.given
        {
            before.given = true;
            out.push(before.turn.clone());
        }
        working.turn = Some(turn.turn);
        (working.socket, working.last_ns) = (event.socket, at_ns);
        let number = turn.turn;
        let before = self.served.insert(event.socket, Serving { turn, given: false });
        out.extend(before.filter(|it| !it.given && it.turn.turn != number).map(|it| it.turn));
    }

    /// A thread that replies to a request after it has read another had both under way. (One that
    /// reads another and never replies to the first has given that up.)
    fn reply(&mut self, event: &Event<'_>, at_ns: i64, connection: u64) {
        // A socket's address may be that of another before it: a greeting is no reply to that one.
        let known = self.served.get_mut(&event.socket);
        let Some(serving) = known.filter(|it| it.turn.connection == connection) else {
            self.outside += 1;
            return;
        };
        let mut overtaken_by = None;
        let is_own = (serving.turn.process, serving.turn.worker) == (event.process, event.worker);
        if is_own {
            serving.turn.after = event.times;
            serving.turn.longest_call = event.longest_call;
        } else {
            serving.turn.sharing = Sharing::HandedOn;
        }
        serving.turn.end_ns = Some(at_ns);
        match &mut serving.turn.replied {
            Some((worker, last_ns)) if *worker == event.worker => *last_ns = at_ns,
            Some(_) => {}
            none => *none = Some((event.worker, at_ns)),
        }
        serving.turn.overlaps |= event.overlaps;
        serving.given = false;
        let reader = (serving.turn.process, serving.turn.worker);
        if let Some(working) = self.workers.get_mut(&reader) {
            working.open.retain(|it| *it != event.socket);
            if is_own && working.socket != event.socket {
                serving.turn.sharing = Sharing::Shared;
                overtaken_by = Some(working.socket);
            }
        }
        if let Some(other) = overtaken_by.and_then(|it| self.served.get_mut(&it)) {
            other.turn.sharing = Sharing::Shared;
        }
    }

    fn call(&mut self, event: &Event<'_>, at_ns: i64, connection: u64, out: &mut Vec<Turn>) {
        let working = self.workers.get(&(event.process, event.worker));
        let sharing = match working {
            Some(it) if it.open.len() > 1 => Sharing::Shared,
            Some(it) if it.open.is_empty() => Sharing::AfterReply,
            Some(it) if it.open != [it.socket] => Sharing::Shared,
            _ => Sharing::Alone,
        };
        let serves = working.and_then(|it| it.turn);
        let turn = Turn::of(event, Kind::Called, at_ns, connection);
        out.push(Turn { serves, sharing, ..turn });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ends, STATES};
    use tierlab_dissect::Peer;

    const WEB: u64 = 1;
    const WEB_TOO: u64 = 2;
    const DB: u64 = 3;

    fn event(thread: u32, socket: u64, role: Role, direction: Direction) -> Event<'static> {
        let peer = Peer { address: [127, 0, 0, 1].into(), port: 1 };
        Event {
            monotonic_ns: 0,
            socket,
            process: 1,
            thread,
            worker: thread.into(),
            subject: 0,
            bytes: 1,
            direction,
            role,
            overlaps: false,
            times: [7; STATES],
            longest_call: None,
            ends: Ends::Inet { local: peer, remote: peer },
        }
    }

    /// Events of (time, thread, socket, what): `<` a request is read, `>` of its reply is written,
    /// `c` a call is sent.
    fn turns(events: &[(i64, u32, u64, char)]) -> Vec<Turn> {
        let (mut it, mut out) = (Turns::default(), Vec::new());
        for &(at_ns, thread, socket, what) in events {
            let (role, direction) = match what {
                '<' => (Role::Server, Direction::Received),
                '>' => (Role::Server, Direction::Sent),
                _ => (Role::Client, Direction::Sent),
            };
            it.take(&event(thread, socket, role, direction), at_ns, socket, &mut out);
        }
        it.finish(&mut out);
        out.sort_by_key(|turn| (turn.kind == Kind::Called, turn.begin_ns));
        out
    }

    fn calls(found: &[Turn]) -> Vec<(Option<i64>, Sharing)> {
        let calls = found.iter().filter(|it| it.kind == Kind::Called);
        calls.map(|it| (it.serves, it.sharing)).collect()
    }

    #[test]
    fn a_thread_that_serves_one_request_after_the_other_calls_for_the_one_it_read() {
        let found = turns(&[
            (10, 1, WEB, '<'),
            (11, 1, DB, 'c'),
            (12, 1, DB, 'c'),
            (15, 1, WEB, '>'),
            (16, 1, WEB, '>'),
            (20, 1, WEB, '<'),
            (21, 1, DB, 'c'),
            (25, 1, WEB, '>'),
        ]);
        let first = Some(0);
        let alone = Sharing::Alone;
        assert_eq!(calls(&found), [(first, alone), (first, alone), (Some(1), alone)]);
        let served: Vec<_> = found.iter().filter(|it| it.kind == Kind::Served).collect();
        assert_eq!([served[0].begin_ns, served[1].begin_ns], [10, 20]);
        assert_eq!([served[0].end_ns, served[1].end_ns], [Some(16), Some(25)]);
        assert!(served.iter().all(|it| it.sharing == alone));
    }

    #[test]
    fn an_event_loop_shares_its_thread() {
        let found = turns(&[
            (10, 1, WEB, '<'),
            (11, 1, WEB_TOO, '<'),
            (12, 1, DB, 'c'),
            (13, 1, WEB, '>'),
            (14, 1, WEB_TOO, '>'),
        ]);
        assert_eq!(calls(&found), [(Some(1), Sharing::Shared)]);
        assert!(found[..2].iter().all(|it| it.sharing == Sharing::Shared));
    }

    #[test]
    fn a_request_whose_client_went_away_does_not_make_a_worker_a_loop() {
        let found = turns(&[
            (10, 1, WEB, '<'),
            (20, 1, WEB_TOO, '<'),
            (21, 1, DB, 'c'),
            (22, 1, WEB_TOO, '>'),
        ]);
        assert!(found[..2].iter().all(|it| it.sharing == Sharing::Alone));
    }

    #[test]
    fn a_request_that_another_thread_answers_is_nobodys_alone() {
        let found = turns(&[(10, 1, WEB, '<'), (12, 2, WEB, '>')]);
        assert_eq!(found[0].sharing, Sharing::HandedOn);
        assert_eq!(found[0].replied, Some((2, 12)));
    }

    #[test]
    fn the_thread_that_reads_on_has_the_request_from_then_on() {
        let found =
            turns(&[(10, 1, WEB, '<'), (12, 2, WEB, '<'), (13, 2, DB, 'c'), (15, 2, WEB, '>')]);
        assert_eq!(calls(&found), [(Some(0), Sharing::Alone)]);
        assert_eq!((found[0].begin_ns, found[0].thread), (12, 2));
        assert_eq!(found[0].sharing, Sharing::Alone);
        assert_eq!(found.len(), 2, "it is one turn");
    }

    #[test]
    fn a_call_after_the_reply_says_so() {
        let found = turns(&[(10, 1, WEB, '<'), (12, 1, WEB, '>'), (13, 1, DB, 'c')]);
        assert_eq!(calls(&found), [(Some(0), Sharing::AfterReply)]);
    }

    #[test]
    fn a_reply_that_goes_on_after_a_pause_is_given_again_with_its_end() {
        let (mut it, mut out) = (Turns::default(), Vec::new());
        it.take(&event(1, WEB, Role::Server, Direction::Received), 0, WEB, &mut out);
        it.take(&event(1, WEB, Role::Server, Direction::Sent), 10, WEB, &mut out);
        it.tick(OVER_NS + 10, &mut out);
        it.take(&event(1, WEB, Role::Server, Direction::Sent), OVER_NS + 20, WEB, &mut out);
        it.finish(&mut out);
        let ends: Vec<_> = out.iter().map(|it| (it.turn, it.end_ns)).collect();
        assert_eq!(ends, [(0, Some(10)), (0, Some(OVER_NS + 20))]);
    }

    #[test]
    fn a_call_of_a_thread_that_read_nothing_serves_nobody() {
        assert_eq!(calls(&turns(&[(10, 1, DB, 'c')])), [(None, Sharing::Alone)]);
    }
}
