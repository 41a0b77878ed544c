//! Links by an explicit key that a visit and its parent share: the request id, or the connection
//! that a pass-through tier continues.

use crate::topology::{Server, Topology};
use crate::visit::{Link, Linked, Means, Span, Visit};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Rows come in the order of departure, but a capture sees a parent's last byte up to this much
/// before its child's (the front server need not wait for the end mark of its back connection).
const DISORDER_NS: i64 = 1_000_000_000;

/// Clocks of one capture point agree; two threads' packets may still swap within this.
const SLACK_NS: i64 = 50_000;

/// Share of links that are right when key and span agree, and when the spans only overlap.
const CONTAINED: f64 = 1.0;
const OVERLAPPING: f64 = 0.99;

/// A visit that waits for its parent.
struct Child {
    visit: Visit,
    means: Means,
    certainty: f64,
    due_ns: i64,
}

#[derive(Clone, Copy)]
struct Parent {
    visit: i64,
    server: Server,
    span: Span,
}

#[derive(Default)]
struct Meeting {
    children: Vec<Child>,
    parents: VecDeque<Parent>,
}

/// Where children and parents of one pair of tiers meet by key.
pub struct Keyed {
    meetings: FxHashMap<u64, Meeting>,
    /// When to look again at which key: children and parents each in the order of their time.
    children_due: VecDeque<(i64, u64)>,
    parents_due: VecDeque<(i64, u64)>,
    window_ns: i64,
}

impl Keyed {
    /// Children wait for `window_ns` after their departure.
    pub fn new(window_ns: i64) -> Self {
        Self {
            meetings: FxHashMap::default(),
            children_due: VecDeque::new(),
            parents_due: VecDeque::new(),
            window_ns,
        }
    }

    /// A visit whose parent carries `key`; `certainty` is how sure the key itself is.
    pub fn child(
        &mut self,
        key: u64,
        visit: Visit,
        (means, certainty): (Means, f64),
        now_ns: i64,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        let child =
            Child { visit, means, certainty, due_ns: now_ns.saturating_add(self.window_ns) };
        let meeting = self.meetings.entry(key).or_default();
        let found = (meeting.parents.iter().rev())
            .take_while(|parent| parent.span.departure_ns >= child.visit.span.arrival_ns)
            .filter(|parent| fits(parent, &child, topology))
            .max_by_key(|parent| parent.span.arrival_ns);
        match found {
            Some(&parent) => out.push(decided(child, Some((parent, CONTAINED)))),
            None => {
                self.children_due.push_back((child.due_ns, key));
                meeting.children.push(child);
            }
        }
    }

    /// A visit that carries `key` and may be the parent of others.
    pub fn parent(
        &mut self,
        key: u64,
        visit: &Visit,
        now_ns: i64,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        let parent = Parent { visit: visit.visit, server: visit.server, span: visit.span };
        let meeting = self.meetings.entry(key).or_default();
        let mut waiting = std::mem::take(&mut meeting.children);
        for child in waiting.drain(..) {
            if fits(&parent, &child, topology) {
                out.push(decided(child, Some((parent, CONTAINED))));
            } else {
                meeting.children.push(child);
            }
        }
        meeting.parents.push_back(parent);
        self.parents_due.push_back((now_ns + DISORDER_NS, key));
    }

    /// Gives up on what has waited until `now_ns`: the best overlapping parent, or none.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        while self.parents_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, key)) = self.parents_due.pop_front() else { break };
            let Some(meeting) = self.meetings.get_mut(&key) else { continue };
            // A child that its parent does not contain is linked while the parent is still known.
            for child in std::mem::take(&mut meeting.children) {
                match overlapping(&meeting.parents, &child, topology) {
                    Some(parent) => out.push(decided(child, Some((parent, OVERLAPPING)))),
                    None => meeting.children.push(child),
                }
            }
            meeting.parents.pop_front();
            self.forget_if_empty(key);
        }
        while self.children_due.front().is_some_and(|&(due, _)| due <= now_ns) {
            let Some((_, key)) = self.children_due.pop_front() else { break };
            let Some(meeting) = self.meetings.get_mut(&key) else { continue };
            for child in std::mem::take(&mut meeting.children) {
                if child.due_ns <= now_ns {
                    out.push(decided(child, None));
                } else {
                    meeting.children.push(child);
                }
            }
            self.forget_if_empty(key);
        }
    }

    /// How many keys are waited for or remembered.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.meetings.len()
    }

    fn forget_if_empty(&mut self, key: u64) {
        let empty =
            self.meetings.get(&key).is_some_and(|m| m.children.is_empty() && m.parents.is_empty());
        if empty {
            self.meetings.remove(&key);
        }
    }
}

fn fits(parent: &Parent, child: &Child, topology: &Topology) -> bool {
    topology.calls(parent.server, child.visit.server)
        && parent.span.contains(child.visit.span, SLACK_NS)
}

fn overlapping(parents: &VecDeque<Parent>, child: &Child, topology: &Topology) -> Option<Parent> {
    (parents.iter())
        .filter(|parent| topology.calls(parent.server, child.visit.server))
        .map(|&parent| (parent.span.overlap_ns(child.visit.span), parent))
        .filter(|&(overlap, _)| overlap > 0)
        .max_by_key(|&(overlap, _)| overlap)
        .map(|(_, parent)| parent)
}

fn decided(child: Child, parent: Option<(Parent, f64)>) -> Linked {
    let link = parent.map(|(parent, certainty)| Link {
        parent: parent.visit,
        means: child.means,
        confidence: child.certainty * certainty,
    });
    (child.visit, link)
}
