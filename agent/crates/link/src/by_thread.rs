//! Links by the worker that sent a call. Where that one had read a request, parents and children meet
//! by the number of the turn; where it replies to what another one has read, by the worker and the time:
//! what it called between the read and its reply was for that request.

use crate::keyed::{DISORDER_NS, SLACK_NS};
use crate::topology::{Server, Topology};
use crate::visit::{Caller, Link, Linked, Means, Replied, Visit, Worker};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Visits that wait for the visit of their caller's turn, and turns whose visits are known.
#[derive(Default)]
pub struct ByThread {
    parents: FxHashMap<i64, Parent>,
    children: FxHashMap<i64, Vec<Visit>>,
    /// For each worker, the calls that wait for its next reply, and its last reply.
    workers: FxHashMap<Worker, Calls>,
    parents_due: VecDeque<(i64, i64)>,
    children_due: VecDeque<(i64, i64)>,
    window_ns: i64,
    /// By server that is called: links whose two visits carry request ids, and those of them in which
    /// the ids are the same.
    checked: FxHashMap<Server, (u64, u64)>,
}

/// What a worker called.
#[derive(Default)]
struct Calls {
    waiting: Vec<Waiting>,
    last: Option<(Replied, Parent)>,
}

/// A call that waits: its worker has not replied since it sent it.
struct Waiting {
    due_ns: i64,
    /// When it was sent.
    at_ns: i64,
    after_reply: bool,
    visit: Visit,
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
        let by_thread = visit.upstream.is_none() && topology.knows(visit.server);
        let turn = match caller.filter(|_| by_thread) {
            None => return Some(visit),
            Some(Caller::Turn(turn)) => turn,
            Some(Caller::Worker { worker, at_ns, after_reply }) => {
                let due_ns = now_ns.saturating_add(self.window_ns);
                let calls = self.workers.entry(worker).or_default();
                match calls.last.filter(|(replied, _)| at_ns <= replied.at_ns) {
                    // Its reply came later than that to the request for which it was sent.
                    Some((replied, parent)) => {
                        let parent = (replied.read_ns - SLACK_NS <= at_ns).then_some(parent);
                        self.link_if_called(visit, parent, topology, out);
                    }
                    None => calls.waiting.push(Waiting { due_ns, at_ns, after_reply, visit }),
                }
                return None;
            }
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
        if let Some(replied) = work.replied {
            self.replied(replied, parent, topology, out);
        }
        for &turn in &work.turns {
            for child in self.children.remove(&turn).unwrap_or_default() {
                self.link_if_called(child, Some(parent), topology, out);
            }
            self.parents.insert(turn, parent);
            // What is called after the reply departs later than its parent.
            self.parents_due.push_back((now_ns + 10 * DISORDER_NS, turn));
        }
    }

    /// A worker has replied to a request: what it called meanwhile was for that, and what it called
    /// before that was read was for the request before.
    fn replied(
        &mut self,
        replied: Replied,
        parent: Parent,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        let calls = self.workers.entry(replied.worker).or_default();
        let before = calls.last.replace((replied, parent)).map(|(_, parent)| parent);
        let done: Vec<_> = calls.waiting.extract_if(.., |it| it.at_ns <= replied.at_ns).collect();
        for it in done {
            let is_inside = replied.read_ns - SLACK_NS <= it.at_ns;
            let of = if is_inside { Some(parent) } else { before };
            self.link_if_called(it.visit, of, topology, out);
        }
    }

    fn link_if_called(
        &mut self,
        child: Visit,
        parent: Option<Parent>,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        match parent.filter(|it| topology.calls(it.server, child.server)) {
            Some(parent) => self.link(child, parent, out),
            None => out.push((child, None)),
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
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        while self.parents_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, turn)) = self.parents_due.pop_front() else { break };
            self.parents.remove(&turn);
        }
        while self.children_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, turn)) = self.children_due.pop_front() else { break };
            let children = self.children.remove(&turn).unwrap_or_default();
            out.extend(children.into_iter().map(|child| (child, None)));
        }
        let mut due = Vec::new();
        self.workers.retain(|_, calls| {
            let parent = calls.last.map(|(_, parent)| parent);
            let is_due = |it: &mut Waiting| it.due_ns <= now_ns;
            // No other reply came: what a worker called after its reply was for that.
            let of = |it: Waiting| (it.visit, parent.filter(|_| it.after_reply));
            due.extend(calls.waiting.extract_if(.., is_due).map(of));
            let last_ns = calls.last.map_or(i64::MIN, |(replied, _)| replied.at_ns);
            !calls.waiting.is_empty() || last_ns.saturating_add(self.window_ns) > now_ns
        });
        for (child, parent) in due {
            self.link_if_called(child, parent, topology, out);
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
        let work = Work { caller: Some(Caller::Turn(turn)), ..Work::default() };
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
        it.advance(2_000, &topology(), &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].1, None);
    }

    const WORKER: Worker = (1, 5);
    const MS: i64 = 1_000_000;
    /// Calls of this number and more are sent after a reply.
    const AFTER: i64 = 100;

    fn replied(number: i64, (read_ms, at_ms): (i64, i64)) -> Visit {
        let replied = Replied { worker: WORKER, read_ns: read_ms * MS, at_ns: at_ms * MS };
        let work = Work { turns: vec![number], replied: Some(replied), ..Work::default() };
        let span = (read_ms * MS, at_ms * MS);
        Visit { work: Some(Box::new(work)), ..visit(number).at(APP).during(span.0, span.1).build() }
    }

    fn sent(number: i64, at_ms: i64) -> Visit {
        let after_reply = number >= AFTER;
        let caller = Some(Caller::Worker { worker: WORKER, at_ns: at_ms * MS, after_reply });
        let span = (at_ms * MS, (at_ms + 1) * MS);
        let work = Work { caller, ..Work::default() };
        Visit { work: Some(Box::new(work)), ..visit(number).at(DB).during(span.0, span.1).build() }
    }

    #[test]
    fn what_a_worker_called_is_its_next_replys_and_before_the_read_its_last_ones() {
        let (mut it, mut out, topology) = (ByThread::new(1_000 * MS), Vec::new(), topology());
        for visit in [sent(1, 12), replied(10, (10, 20)), sent(2, 25), sent(3, 35)] {
            it.parent(&visit, 0, &topology, &mut out);
            it.child(visit, 0, &topology, &mut out);
        }
        it.parent(&replied(11, (30, 40)), 0, &topology, &mut out);
        it.child(sent(4, 39), 0, &topology, &mut out);
        it.child(sent(5, 45), 0, &topology, &mut out);
        it.child(sent(AFTER, 46), 0, &topology, &mut out);
        it.advance(2_000 * MS, &topology, &mut out);
        let parents: Vec<_> =
            out.iter().map(|(v, link)| (v.visit, link.map(|it| it.parent))).collect();
        let expected = [
            (1, Some(10)),
            (2, Some(10)),
            (3, Some(11)),
            (4, Some(11)),
            (5, None),
            (AFTER, Some(11)),
        ];
        assert_eq!(parents, expected);
    }

    #[test]
    fn a_visit_without_a_known_caller_is_given_back() {
        let (mut it, mut out) = (ByThread::new(1_000), Vec::new());
        let alone = visit(1).at(DB).during(1, 2).build();
        assert_eq!(it.child(alone.clone(), 2, &topology(), &mut out), Some(alone));
    }
}
