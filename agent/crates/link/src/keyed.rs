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

/// A child inside of a parent. It is not decided yet: calls side by side in one trace have one id, so
/// that another may be its parent, which may still come.
struct Inside {
    child: Child,
    parent: Parent,
    /// So many may be its parent.
    of: u32,
}

/// A parent, with children that are inside of it. It knows them until it is forgotten.
struct Holder {
    parent: Parent,
    children: Vec<Inside>,
}

#[derive(Default)]
struct Meeting {
    children: Vec<Child>,
    parents: VecDeque<Holder>,
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
    ) {
        let child =
            Child { visit, means, certainty, due_ns: now_ns.saturating_add(self.window_ns) };
        let meeting = self.meetings.entry(key).or_default();
        let after = |it: &Holder| it.parent.span.departure_ns >= child.visit.span.arrival_ns;
        let parents = &mut meeting.parents;
        let around: Vec<usize> = (0..parents.len())
            .rev()
            .take_while(|&at| after(&parents[at]))
            .filter(|&at| fits(&parents[at].parent, &child, topology))
            .collect();
        let Some((&last, others)) = around.split_first() else {
            self.children_due.push_back((child.due_ns, key));
            return meeting.children.push(child);
        };
        let mut inside = Inside { child, parent: parents[last].parent, of: 1 };
        others.iter().for_each(|&at| inside.meet(&parents[at].parent, topology));
        parents[last].children.push(inside);
    }

    /// A visit that carries `key` and may be the parent of others.
    pub fn parent(&mut self, key: u64, visit: &Visit, now_ns: i64, topology: &Topology) {
        let parent = Parent { visit: visit.visit, server: visit.server, span: visit.span };
        let meeting = self.meetings.entry(key).or_default();
        // The children of those that were over before are, too.
        let since_ns = parent.span.arrival_ns.saturating_sub(SLACK_NS);
        let others = meeting.parents.iter_mut().rev();
        let at_once = others.take_while(|it| it.parent.span.departure_ns >= since_ns);
        at_once.flat_map(|it| &mut it.children).for_each(|it| it.meet(&parent, topology));
        let found = meeting.children.extract_if(.., |child| fits(&parent, child, topology));
        let children = found.map(|child| Inside { child, parent, of: 1 }).collect();
        meeting.parents.push_back(Holder { parent, children });
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
            let over = meeting.parents.pop_front();
            out.extend(over.into_iter().flat_map(|it| it.children).map(Inside::decided));
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

impl Inside {
    /// Another parent comes, or is known. Of two the one that arrived last is likelier. No choice is one
    /// that the child is inside of only with the slack, nor one that waited for the other.
    fn meet(&mut self, other: &Parent, topology: &Topology) {
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

    fn decided(self) -> Linked {
        decided(self.child, Some((self.parent, CONTAINED / f64::from(self.of))))
    }
}

/// True if one called the other, directly or through others.
fn waited(upper: &Parent, lower: &Parent, topology: &Topology) -> bool {
    upper.span.contains(lower.span, SLACK_NS) && topology.is_above(upper.server, lower.server)
}

fn fits(parent: &Parent, child: &Child, topology: &Topology) -> bool {
    topology.calls(parent.server, child.visit.server)
        && parent.span.contains(child.visit.span, SLACK_NS)
}

fn overlapping(parents: &VecDeque<Holder>, child: &Child, topology: &Topology) -> Option<Parent> {
    (parents.iter().map(|it| it.parent))
        .filter(|parent| topology.calls(parent.server, child.visit.server))
        .map(|parent| (parent.span.overlap_ns(child.visit.span), parent))
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

#[cfg(test)]
mod tests {
    use crate::fixture::visit;
    use crate::linker::{Linker, Way};
    use crate::topology::Topology;
    use crate::visit::Visit;
    use std::collections::BTreeMap;

    /// Servers are numbered by the order of their names.
    const A: u16 = 0;
    const D: u16 = 1;
    const W: u16 = 2;

    /// W calls A and D, and A calls D.
    fn parents(visits: Vec<Visit>) -> BTreeMap<i64, (i64, f64)> {
        let calls = [("w", vec!["a", "d"]), ("a", vec!["d"])];
        let calls: BTreeMap<_, _> = calls
            .map(|(upper, lower)| (upper.to_owned(), lower.iter().map(|&it| it.into()).collect()))
            .into();
        let topology = Topology::new(&calls).unwrap();
        let ways = topology.pairs().iter().map(|_| Way::ByIds).collect();
        let mut linker = Linker::new(topology, ways, 60_000_000_000);
        visits.into_iter().for_each(|visit| linker.push(visit));
        linker.finish();
        let decided = linker.decided();
        decided
            .iter()
            .filter_map(|(v, link)| {
                Some((v.visit, (link.as_ref()?.parent, link.as_ref()?.confidence)))
            })
            .collect()
    }

    fn at(number: i64, server: u16, from_us: i64, to_us: i64) -> Visit {
        visit(number).at(server).during(1_000 * from_us, 1_000 * to_us).id(0xa).build()
    }

    #[test]
    fn a_call_inside_of_two_is_one_ones_as_likely_as_the_others() {
        let found = parents(vec![
            at(1, D, 2_000, 4_000),
            at(2, A, 0, 10_000),
            at(3, D, 10_500, 11_000),
            at(4, A, 1_000, 12_000),
            at(5, D, 2_000, 12_010),
        ]);
        assert_eq!(found[&1], (4, 0.5), "the one that arrived last");
        assert_eq!((found[&3], found[&5]), ((4, 1.0), (4, 1.0)));
        let late = parents(vec![
            at(2, A, 0, 10_000),
            at(4, A, 1_000, 12_000),
            at(1, D, 2_000, 4_000),
            at(6, A, 1_500, 13_000),
        ]);
        assert_eq!(late[&1], (6, 1.0 / 3.0));
    }

    #[test]
    fn who_waits_for_a_caller_is_no_choice() {
        for order in [[2, 3], [3, 2]] {
            let callers =
                order.map(|it| if it == 2 { at(2, A, 1_000, 5_000) } else { at(3, W, 0, 6_000) });
            let found = parents([vec![at(1, D, 2_000, 4_000)], callers.to_vec()].concat());
            assert_eq!(found[&1], (2, 1.0), "{order:?}");
        }
    }

    /// Less lies between them than two threads' packets may be apart.
    #[test]
    fn short_calls_one_after_the_other_have_each_its_own() {
        let found = parents(vec![
            at(1, D, 10, 30),
            at(2, A, 0, 40),
            at(3, D, 55, 75),
            at(4, A, 45, 85),
            at(5, D, 89, 129),
            at(6, A, 90, 130),
            at(7, A, 300, 340),
            at(8, D, 339, 375),
            at(9, A, 338, 385),
        ]);
        assert_eq!([found[&1], found[&3]], [(2, 1.0), (4, 1.0)]);
        assert_eq!([found[&5], found[&8]], [(6, 1.0), (9, 1.0)]);
    }
}
