//! Statements that carry no id among others that do: COMMIT, SET, PING. They belong to the request
//! before or after them on their connection, on whichever side of the longest pause they lie.

use crate::visit::Visit;
use rustc_hash::FxHashMap;

/// A statement and the request id that it borrows from a neighbour; none when it has no neighbour.
pub type Borrowed = (Visit, Option<u64>);

#[derive(Default)]
struct Connection {
    last: Option<(u64, i64)>,
    waiting: Vec<Visit>,
}

/// The connections, each with its last id and the statements since.
#[derive(Default)]
pub struct Neighbours {
    connections: FxHashMap<(u16, i64), Connection>,
}

impl Neighbours {
    /// A statement without an id.
    pub fn wait(&mut self, visit: Visit) {
        self.connections.entry((visit.server, visit.connection)).or_default().waiting.push(visit);
    }

    /// A statement with an id: those that waited on its connection borrow from it or from the last.
    pub fn meet(&mut self, visit: &Visit, id: u64, out: &mut Vec<Borrowed>) {
        let it = self.connections.entry((visit.server, visit.connection)).or_default();
        let mut pauses = Vec::with_capacity(it.waiting.len() + 1);
        let mut free_since = it.last.map(|(_, departure_ns)| departure_ns);
        for next in it.waiting.iter().chain([visit]) {
            let pause = free_since.map_or(i64::MAX, |since| next.span.arrival_ns - since);
            pauses.push(pause);
            free_since = Some(next.ended_ns);
        }
        let longest = (0..pauses.len()).max_by_key(|&at| pauses[at]).unwrap_or(0);
        let before = it.last.map(|(id, _)| id);
        for (at, waiter) in it.waiting.drain(..).enumerate() {
            out.push((waiter, if at < longest { before } else { Some(id) }));
        }
        it.last = Some((id, visit.ended_ns));
    }

    /// Lets go of what has waited since before `until_ns`: nobody came after, so it borrows from
    /// the last.
    pub fn advance(&mut self, until_ns: i64, out: &mut Vec<Borrowed>) {
        self.connections.retain(|_, it| {
            let before = it.last.map(|(id, _)| id);
            let (due, waiting) = std::mem::take(&mut it.waiting)
                .into_iter()
                .partition(|visit| visit.span.arrival_ns < until_ns);
            let due: Vec<Visit> = due;
            it.waiting = waiting;
            out.extend(due.into_iter().map(|visit| (visit, before)));
            !it.waiting.is_empty() || it.last.is_some_and(|(_, last_ns)| last_ns >= until_ns)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;

    #[test]
    fn the_longest_pause_parts_two_requests() {
        let mut it = Neighbours::default();
        let mut out = Vec::new();
        it.meet(&visit(1).on(7).during(0, 10).build(), 0xa, &mut out);
        it.wait(visit(2).on(7).during(11, 12).build());
        it.wait(visit(3).on(7).during(50, 52).build());
        it.meet(&visit(4).on(7).during(53, 60).build(), 0xb, &mut out);
        let borrowed: Vec<_> = out.iter().map(|(visit, id)| (visit.visit, *id)).collect();
        assert_eq!(borrowed, [(2, Some(0xa)), (3, Some(0xb))]);
    }

    #[test]
    fn the_last_statement_of_a_connection_borrows_backwards() {
        let mut it = Neighbours::default();
        let mut out = Vec::new();
        it.wait(visit(1).on(3).during(0, 1).build());
        it.meet(&visit(2).on(7).during(0, 10).build(), 0xa, &mut out);
        it.wait(visit(3).on(7).during(11, 12).build());
        it.advance(100, &mut out);
        out.sort_by_key(|(visit, _)| visit.visit);
        let borrowed: Vec<_> = out.iter().map(|(visit, id)| (visit.visit, *id)).collect();
        assert_eq!(borrowed, [(1, None), (3, Some(0xa))]);
        assert!(it.connections.is_empty());
    }

    #[test]
    fn a_connection_that_ended_without_a_reply_is_forgotten() {
        let mut it = Neighbours::default();
        let mut out = Vec::new();
        it.meet(&visit(1).on(7).during(0, 0).given_up(10).build(), 0xa, &mut out);
        it.advance(100, &mut out);
        assert!(it.connections.is_empty());
    }
}
