//! Links by the thread that read a request and sent a call: parents and children meet by the number
//! of the turn.

use crate::keyed::DISORDER_NS;
use crate::topology::{Server, Topology};
use crate::visit::{Link, Linked, Means, Visit};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Visits that wait for the visit of their caller's turn, and turns whose visits are known.
#[derive(Default)]
pub struct ByThread {
    parents: FxHashMap<i64, Parent>,
    children: FxHashMap<i64, Vec<Visit>>,
    parents_due: VecDeque<(i64, i64)>,
    children_due: VecDeque<(i64, i64)>,
    window_ns: i64,
    /// By server that is called: links whose two visits carry request ids, and those of them in which
    /// the ids are the same.
    checked: FxHashMap<Server, (u64, u64)>,
}

#[derive(Clone, Copy)]
struct Parent {
    visit: i64,
    server: Server,
    id: Option<u64>,
}

impl ByThread {
    /// Children wait for `window_ns` after their departure.
    pub fn new(window_ns: i64) -> Self {
        Self { window_ns, ..Self::default() }
    }

    /// Takes a visit that its caller's thread tells the parent of; gives any other back.
    pub fn child(
        &mut self,
        visit: Visit,
        now_ns: i64,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) -> Option<Visit> {
        // A server that passes connections on has its parents by these.
        let caller = visit.work.as_ref().and_then(|work| work.caller);
        let Some(turn) =
            caller.filter(|_| visit.upstream.is_none() && topology.knows(visit.server))
        else {
            return Some(visit);
        };
        match self.parents.get(&turn) {
            Some(&parent) if topology.calls(parent.server, visit.server) => {
                self.link(visit, parent, out);
                None
            }
            // The plan says that this server does not call that one: an address was used twice.
            Some(_) => Some(visit),
            None => {
                self.children_due.push_back((now_ns.saturating_add(self.window_ns), turn));
                self.children.entry(turn).or_default().push(visit);
                None
            }
        }
    }

    /// A visit that may be the parent of others.
    pub fn parent(
        &mut self,
        visit: &Visit,
        now_ns: i64,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        let Some(work) = &visit.work else { return };
        let parent = Parent { visit: visit.visit, server: visit.server, id: visit.id };
        for &turn in &work.turns {
            for child in self.children.remove(&turn).unwrap_or_default() {
                if topology.calls(parent.server, child.server) {
                    self.link(child, parent, out);
                } else {
                    out.push((child, None));
                }
            }
            self.parents.insert(turn, parent);
            // What is called after the reply departs later than its parent.
            self.parents_due.push_back((now_ns + 10 * DISORDER_NS, turn));
        }
    }

    /// Of the links to this server whose two visits carry request ids: how many there are, and in how
    /// many the ids are the same.
    pub fn checked(&self, server: Server) -> (u64, u64) {
        self.checked.get(&server).copied().unwrap_or_default()
    }

    fn link(&mut self, child: Visit, parent: Parent, out: &mut Vec<Linked>) {
        if let (Some(own), Some(of_parent)) = (child.id, parent.id) {
            let (all, same) = self.checked.entry(child.server).or_default();
            *all += 1;
            *same += u64::from(own == of_parent);
        }
        let link = Link { parent: parent.visit, means: Means::Thread, confidence: 1.0 };
        out.push((child, Some(link)));
    }

    /// Gives up on what has waited until `now_ns`: the caller's visit was not captured.
    pub fn advance(&mut self, now_ns: i64, out: &mut Vec<Linked>) {
        while self.parents_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, turn)) = self.parents_due.pop_front() else { break };
            self.parents.remove(&turn);
        }
        while self.children_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, turn)) = self.children_due.pop_front() else { break };
            let children = self.children.remove(&turn).unwrap_or_default();
            out.extend(children.into_iter().map(|child| (child, None)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use crate::visit::Work;
    use std::collections::BTreeMap;

    const APP: u16 = 0;
    const DB: u16 = 1;

    fn topology() -> Topology {
        let calls = BTreeMap::from([("app".to_owned(), vec!["db".to_owned()])]);
        Topology::new(&calls).unwrap()
    }

    fn served(number: i64, (from, to): (i64, i64), turn: i64) -> Visit {
        let work = Work { turns: vec![turn], ..Work::default() };
        Visit { work: Some(Box::new(work)), ..visit(number).at(APP).during(from, to).build() }
    }

    fn called(number: i64, (from, to): (i64, i64), turn: i64) -> Visit {
        let work = Work { caller: Some(turn), ..Work::default() };
        Visit { work: Some(Box::new(work)), ..visit(number).at(DB).during(from, to).build() }
    }

    #[test]
    fn children_find_their_parent_whichever_departs_first() {
        let (mut it, mut out, topology) = (ByThread::new(1_000), Vec::new(), topology());
        assert!(it.child(called(1, (11, 12), 7), 12, &topology, &mut out).is_none());
        it.parent(&served(2, (10, 20), 7), 20, &topology, &mut out);
        assert!(it.child(called(3, (21, 22), 7), 22, &topology, &mut out).is_none());
        let parents: Vec<_> = out.iter().map(|(v, link)| (v.visit, link.unwrap().parent)).collect();
        assert_eq!(parents, [(1, 2), (3, 2)], "a call after the reply is the request's, too");
    }

    #[test]
    fn a_child_whose_parent_was_not_captured_is_not_lost() {
        let (mut it, mut out) = (ByThread::new(1_000), Vec::new());
        it.child(called(1, (11, 12), 7), 12, &topology(), &mut out);
        it.advance(2_000, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].1, None);
    }

    #[test]
    fn a_visit_without_a_known_caller_is_given_back() {
        let (mut it, mut out) = (ByThread::new(1_000), Vec::new());
        let alone = visit(1).at(DB).during(1, 2).build();
        assert_eq!(it.child(alone.clone(), 2, &topology(), &mut out), Some(alone));
    }
}
