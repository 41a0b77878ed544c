//! The linker: raw visits in, in the order in which they departed; linked visits out, each as soon
//! as its parent is decided. It does no I/O and keeps no more than a window of visits.

use crate::by_thread::ByThread;
use crate::infer::Inference;
use crate::joint::Joint;
use crate::keyed::Keyed;
use crate::neighbour::{Borrowed, Neighbours};
use crate::topology::{Server, Topology};
use crate::visit::{Linked, Means, Visit};

/// How often, in capture time, what waits too long is looked for.
const TICK_NS: i64 = 250_000_000;

/// How sure a borrowed id is: pauses tell two requests apart nearly always.
const BORROWED: f64 = 0.95;

/// How the visits of one tier find their parents in the tiers that call it, unless they name the
/// connection that they continue.
pub enum Way {
    /// By the request ids that they carry.
    ByIds,
    /// By inference.
    Inferred(Box<Inference>),
    /// With all other calls of those that call it.
    InLoop,
}

/// Pairs that have callers in common, and what finds the parents of all their calls.
pub struct LoopPairs {
    /// By number.
    pub pairs: Vec<usize>,
    /// All calls of the callers.
    pub event_loop: Joint,
}

/// One tier and those that call it.
struct Pair {
    by_id: Keyed,
    by_connection: Keyed,
    /// Some visit has named the connection that it continues.
    paired: bool,
    neighbours: Neighbours,
    inference: Option<Box<Inference>>,
    /// Which event loops call it, and whether those tell its parents.
    event_loop: Option<usize>,
    in_loop: bool,
}

/// Links visits to their parents.
pub struct Linker {
    topology: Topology,
    /// As in the topology.
    pairs: Vec<Pair>,
    loops: Vec<LoopPairs>,
    by_thread: ByThread,
    now_ns: i64,
    tick_ns: i64,
    out: Vec<Linked>,
}

impl Linker {
    /// A linker for the pairs of `topology`, with one way for each; a visit waits up to `window_ns`
    /// for its parent.
    pub fn new(topology: Topology, ways: Vec<Way>, window_ns: i64) -> Self {
        let pair = |way| Pair {
            by_id: Keyed::side_by_side(window_ns),
            by_connection: Keyed::in_turn(window_ns),
            paired: false,
            neighbours: Neighbours::default(),
            in_loop: matches!(way, Way::InLoop),
            event_loop: None,
            inference: match way {
                Way::ByIds | Way::InLoop => None,
                Way::Inferred(inference) => Some(inference),
            },
        };
        let pairs = ways.into_iter().map(pair).collect();
        let by_thread = ByThread::new(window_ns);
        let (loops, out) = (Vec::new(), Vec::new());
        Self { topology, pairs, loops, by_thread, now_ns: 0, tick_ns: 0, out }
    }

    /// The same, where event loops call.
    #[must_use]
    pub fn with_loops(mut self, loops: Vec<LoopPairs>) -> Self {
        for (at, each) in loops.iter().enumerate() {
            each.pairs.iter().for_each(|&pair| self.pairs[pair].event_loop = Some(at));
        }
        self.loops = loops;
        self
    }

    /// Takes the next visit.
    pub fn push(&mut self, visit: Visit) {
        if visit.span.departure_ns != i64::MAX {
            self.now_ns = self.now_ns.max(visit.span.departure_ns);
        }
        for &below in self.topology.pairs_below(visit.server) {
            self.pairs[below].parent(&visit, self.now_ns, &self.topology, &mut self.out);
        }
        let calls = self.topology.pairs_below(visit.server);
        for each in &mut self.loops {
            if each.pairs.iter().any(|pair| calls.contains(pair)) {
                each.event_loop.parent(&visit);
            }
        }
        self.by_thread.parent(&visit, self.now_ns, &self.topology, &mut self.out);
        let visit = self.by_thread.child(visit, self.now_ns, &self.topology, &mut self.out);
        if let Some(visit) = visit {
            self.infer(visit);
        }
        if self.now_ns >= self.tick_ns {
            self.tick_ns = self.now_ns + TICK_NS;
            self.advance(self.now_ns);
        }
    }

    /// Takes a visit whose caller's thread is not known.
    fn infer(&mut self, visit: Visit) {
        let above = self.topology.pair_above(visit.server);
        match above.and_then(|above| self.pairs.get_mut(above)) {
            Some(&mut Pair { in_loop: true, event_loop: Some(at), .. }) => {
                self.loops[at].event_loop.child(visit);
            }
            Some(pair) => {
                if let (Some(at), Some(_)) = (pair.event_loop, visit.id) {
                    self.loops[at].event_loop.call(&visit, true);
                }
                pair.child(visit, self.now_ns, &self.topology, &mut self.out);
            }
            None => self.out.push((visit, None)),
        }
    }

    /// Says that no visit will follow.
    pub fn finish(&mut self) {
        self.advance(i64::MAX);
    }

    /// Of the links by thread to this server, how many have two ids to compare, and how many have the
    /// same one twice.
    pub fn checked(&self, server: Server) -> (u64, u64) {
        self.by_thread.checked(server)
    }

    /// Takes the visits that are decided, in no particular order.
    pub fn decided(&mut self) -> Vec<Linked> {
        std::mem::take(&mut self.out)
    }

    /// The servers.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    fn advance(&mut self, now_ns: i64) {
        self.by_thread.advance(now_ns, &self.topology, &mut self.out);
        for each in &mut self.loops {
            each.event_loop.advance(now_ns, &self.topology, &mut self.out);
        }
        for pair in &mut self.pairs {
            pair.advance(now_ns, &self.topology, &mut self.out);
        }
    }
}

impl Pair {
    fn child(&mut self, visit: Visit, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        if let Some(connection) = visit.upstream {
            self.paired = true;
            let key = connection as u64;
            self.by_connection.child(key, visit, (Means::Id, 1.0), now_ns, topology, out);
        } else if let Some(inference) = &mut self.inference {
            inference.child(visit);
        } else if let Some(id) = visit.id {
            let mut borrowed = Vec::new();
            self.neighbours.meet(&visit, id, &mut borrowed);
            self.lend(borrowed, now_ns, topology, out);
            self.by_id.child(id, visit, (Means::Id, 1.0), now_ns, topology, out);
        } else if visit.lent {
            self.neighbours.wait(visit);
        } else {
            out.push((visit, None));
        }
    }

    fn parent(&mut self, visit: &Visit, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        if self.paired {
            let key = visit.connection as u64;
            self.by_connection.parent(key, visit, now_ns, topology, out);
        }
        if let Some(inference) = &mut self.inference {
            inference.parent(visit);
        } else if let Some(id) = visit.id {
            self.by_id.parent(id, visit, now_ns, topology, out);
        }
    }

    /// Hands over statements that borrowed an id; those that found none have no parent.
    fn lend(
        &mut self,
        borrowed: Vec<Borrowed>,
        now_ns: i64,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        for (visit, id) in borrowed {
            match id {
                Some(id) => {
                    let means = (Means::Inferred, BORROWED);
                    self.by_id.child(id, visit, means, now_ns, topology, out);
                }
                None => out.push((visit, None)),
            }
        }
    }

    fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        let mut borrowed = Vec::new();
        let patience_ns = if now_ns == i64::MAX { 0 } else { 4 * TICK_NS };
        self.neighbours.advance(now_ns - patience_ns, &mut borrowed);
        self.lend(borrowed, now_ns.min(i64::MAX / 2), topology, out);
        if let Some(inference) = &mut self.inference {
            inference.advance(now_ns, topology, out);
        }
        self.by_connection.advance(now_ns, topology, out);
        self.by_id.advance(now_ns, topology, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use std::collections::BTreeMap;

    const APP: u16 = 0;
    const DB: u16 = 1;
    const LB: u16 = 2;
    const WEB: u16 = 3;

    /// Servers are numbered by the order of their names.
    fn linker() -> Linker {
        let calls = [("web", "app"), ("app", "lb"), ("lb", "db")];
        let calls: BTreeMap<_, _> =
            calls.map(|(upper, lower)| (upper.to_owned(), vec![lower.to_owned()])).into();
        let ways = (0..3).map(|_| Way::ByIds).collect();
        Linker::new(Topology::new(&calls).unwrap(), ways, 60_000_000_000)
    }

    fn parents(visits: Vec<Visit>) -> BTreeMap<i64, Option<(i64, Means)>> {
        let mut linker = linker();
        visits.into_iter().for_each(|visit| linker.push(visit));
        linker.finish();
        let decided = linker.decided();
        decided.into_iter().map(|(v, link)| (v.visit, link.map(|l| (l.parent, l.means)))).collect()
    }

    #[test]
    fn a_request_is_followed_through_four_tiers() {
        let found = parents(vec![
            visit(1).at(DB).during(30, 40).on(51).upstream(50).id(0xa).build(),
            visit(2).at(LB).during(29, 41).on(50).lent().id(0xa).build(),
            visit(3).at(APP).during(20, 60).on(9).id(0xa).build(),
            visit(4).at(WEB).during(10, 70).on(8).id(0xa).build(),
        ]);
        let id = |parent| Some((parent, Means::Id));
        assert_eq!(found, [(1, id(2)), (2, id(3)), (3, id(4)), (4, None)].into());
    }

    #[test]
    fn an_id_that_occurs_twice_goes_by_the_span() {
        let found = parents(vec![
            visit(1).at(APP).during(1_000_000, 2_000_000).id(0xa).build(),
            visit(2).at(WEB).during(0, 3_000_000).id(0xa).build(),
            visit(3).at(APP).during(11_000_000, 12_000_000).id(0xa).build(),
            visit(4).at(WEB).during(10_000_000, 13_000_000).id(0xa).build(),
        ]);
        assert_eq!(found[&1], Some((2, Means::Id)));
        assert_eq!(found[&3], Some((4, Means::Id)));
    }

    #[test]
    fn a_parent_that_gave_up_early_is_found_by_overlap() {
        let found = parents(vec![
            visit(1).at(WEB).during(0, 5_000_000).id(0xa).build(),
            visit(2).at(APP).during(1_000_000, 9_000_000).id(0xa).build(),
            visit(3).at(APP).during(6_000_000, 9_500_000).id(0xa).build(),
        ]);
        assert_eq!(found[&2], Some((1, Means::Id)));
        assert_eq!(found[&3], None, "it began after the parent had ended");
    }

    #[test]
    fn a_visit_without_an_end_is_linked_and_never_lost() {
        let found = parents(vec![
            visit(1).at(APP).during(1_000_000, i64::MAX).id(0xa).build(),
            visit(2).at(WEB).during(0, i64::MAX).id(0xa).build(),
            visit(3).at(APP).during(1_000_000, i64::MAX).id(0xb).build(),
            visit(4).at(WEB).during(0, 200_000_000_000).id(0xc).build(),
            visit(5).at(APP).during(1_000_000, i64::MAX).id(0xd).build(),
        ]);
        assert_eq!(found.len(), 5);
        assert_eq!(found[&1], Some((2, Means::Id)));
        assert_eq!((found[&3], found[&5]), (None, None));
    }

    #[test]
    fn a_commit_without_an_id_borrows_its_neighbours() {
        let found = parents(vec![
            visit(1).at(LB).during(110, 120).on(5).lent().id(0xa).build(),
            visit(2).at(LB).during(121, 125).on(5).lent().build(),
            visit(3).at(APP).during(100, 130).on(9).id(0xa).build(),
            visit(4).at(LB).during(210, 220).on(5).lent().id(0xb).build(),
            visit(5).at(APP).during(200, 230).on(9).id(0xb).build(),
        ]);
        assert_eq!(found[&2], Some((3, Means::Inferred)));
    }

    #[test]
    fn memory_holds_no_more_than_the_window() {
        let mut linker = linker();
        for n in 0..200_000_i64 {
            let (start, id) = (n * 1_000_000, n as u64);
            linker.push(visit(2 * n).at(APP).during(start, start + 500).id(id).build());
            if n % 2 == 0 {
                linker.push(visit(2 * n + 1).at(WEB).during(start, start + 900).id(id).build());
            }
            linker.decided();
        }
        let held: usize = linker.pairs.iter().map(|pair| pair.by_id.len()).sum();
        assert!(held < 35_000, "{held} keys held: 60 s of orphans at 500 a second and 1 s more");
    }
}
