//! Children that are inside of a parent and not decided yet: calls side by side in one trace have one
//! id, so that another may be their parent, which may still come.

use crate::keyed::{Child, DISORDER_NS, Parent, SLACK_NS};
use crate::topology::Topology;
use std::collections::VecDeque;

/// A child inside of a parent.
pub(crate) struct Inside {
    pub child: Child,
    pub parent: Parent,
    /// So many may be its parent.
    pub of: u32,
}

impl Inside {
    pub(crate) fn new(child: Child, parent: Parent, now_ns: i64) -> Self {
        let due_ns = now_ns.saturating_add(DISORDER_NS);
        Self { child: Child { due_ns, ..child }, parent, of: 1 }
    }

    /// Another parent comes, or is known. Of two the one that arrived last is likelier. No choice is one
    /// that the child is inside of only with the slack, nor one that waited for the other.
    pub(crate) fn meet(&mut self, other: &Parent, topology: &Topology) {
        let child = &self.child.visit;
        if !topology.calls(other.server, child.server) || !other.span.contains(child.span, 0) {
            return;
        }
        let is_near = !self.parent.span.contains(child.span, 0);
        if is_near || waited(&self.parent, other, topology) {
            self.parent = *other;
        } else if !waited(other, &self.parent, topology) {
            self.of += 1;
            if other.span.arrival_ns > self.parent.span.arrival_ns {
                self.parent = *other;
            }
        }
    }
}

/// They, in the order of their time. Each has a number: the first one's is how many are gone.
#[derive(Default)]
pub(crate) struct Held {
    children: VecDeque<Inside>,
    gone: u64,
}

impl Held {
    pub(crate) fn push(&mut self, inside: Inside) {
        self.children.push_back(inside);
    }

    /// The number of the one that comes next.
    pub(crate) fn next_number(&self) -> u64 {
        self.gone + self.children.len() as u64
    }

    /// True if the one of this number is not gone.
    pub(crate) fn has(&self, number: u64) -> bool {
        number >= self.gone
    }

    /// A parent comes that the one of this number may be inside of.
    pub(crate) fn meet(&mut self, number: u64, parent: &Parent, topology: &Topology) {
        let at = number.checked_sub(self.gone).map(|it| it as usize);
        if let Some(inside) = at.and_then(|at| self.children.get_mut(at)) {
            inside.meet(parent, topology);
        }
    }

    /// Takes out the next one whose time is over.
    pub(crate) fn next_due(&mut self, now_ns: i64) -> Option<Inside> {
        let is_due = self.children.front().is_some_and(|it| it.child.due_ns <= now_ns);
        self.gone += u64::from(is_due);
        if is_due { self.children.pop_front() } else { None }
    }
}

/// True if two are there at once, and neither waits for the other.
pub(crate) fn is_beside(one: &Parent, other: &Parent, topology: &Topology) -> bool {
    let at_once = one.span.overlap_ns(other.span) > 0;
    at_once && !waited(one, other, topology) && !waited(other, one, topology)
}

/// True if one called the other, directly or through others.
fn waited(upper: &Parent, lower: &Parent, topology: &Topology) -> bool {
    upper.span.contains(lower.span, SLACK_NS) && topology.is_above(upper.server, lower.server)
}
