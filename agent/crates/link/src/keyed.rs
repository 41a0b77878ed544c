//! Links by an explicit key that a visit and its parent share: the request id, or the connection
//! that a pass-through tier continues.

use crate::held::{Held, Inside, is_beside};
use crate::topology::{Server, Topology};
use crate::visit::{Link, Linked, Means, Span, Visit};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// Rows come in the order of departure, but a capture sees a parent's last byte up to this much
/// before its child's (the front server need not wait for the end mark of its back connection).
pub(crate) const DISORDER_NS: i64 = 1_000_000_000;

/// Clocks of one capture point agree; two threads' packets may still swap within this.
pub(crate) const SLACK_NS: i64 = 50_000;

/// Where so many parents in turn had no other with their key beside them, keys are those of single
/// calls, and no child waits for another parent.
const ALONE: u32 = 10_000;

/// Share of links that are right when key and span agree, and when the spans only overlap.
const CONTAINED: f64 = 1.0;
const OVERLAPPING: f64 = 0.99;

/// A visit that waits for its parent.
pub(crate) struct Child {
    pub visit: Visit,
    pub means: Means,
    pub certainty: f64,
    pub due_ns: i64,
}

#[derive(Clone, Copy)]
pub(crate) struct Parent {
    pub visit: i64,
    pub server: Server,
    pub span: Span,
}

/// A parent, and which of the children that are held are inside of it and of none before it.
struct Known {
    parent: Parent,
    children: Range<u64>,
}

#[derive(Default)]
struct Meeting {
    children: Vec<Child>,
    parents: VecDeque<Known>,
    /// Which are held that came after their parent.
    late: Vec<u64>,
}

/// Where children and parents of one pair of tiers meet by key.
pub struct Keyed {
    meetings: FxHashMap<u64, Meeting>,
    /// Children that are inside of a parent, but may be another's.
    held: Held,
    /// When to look again at which key: children and parents each in the order of their time.
    children_due: VecDeque<(i64, u64)>,
    parents_due: VecDeque<(i64, u64)>,
    window_ns: i64,
    /// So many parents in turn had no other beside them; none where none can have.
    alone: Option<u32>,
}

impl Keyed {
    /// Keys of calls one after the other. Children wait for `window_ns` after their departure.
    pub fn in_turn(window_ns: i64) -> Self {
        Self {
            meetings: FxHashMap::default(),
            held: Held::default(),
            children_due: VecDeque::new(),
            parents_due: VecDeque::new(),
            window_ns,
            alone: None,
        }
    }

    /// The same, where calls with one key may be under way side by side.
    pub fn side_by_side(window_ns: i64) -> Self {
        Self { alone: Some(0), ..Self::in_turn(window_ns) }
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
        let holds = holds(self.alone);
        let meeting = self.meetings.entry(key).or_default();
        let around: Vec<Parent> = (meeting.parents.iter().rev().map(|it| it.parent))
            .take_while(|parent| parent.span.departure_ns >= child.visit.span.arrival_ns)
            .filter(|parent| fits(parent, &child, topology))
            .collect();
        let Some(&parent) = around.iter().max_by_key(|it| it.span.arrival_ns) else {
            self.children_due.push_back((child.due_ns, key));
            return meeting.children.push(child);
        };
        if !holds {
            return out.push(decided(child, Some((parent, CONTAINED))));
        }
        let mut inside = Inside::new(child, parent, now_ns);
        let others = around.iter().filter(|it| it.visit != parent.visit);
        others.for_each(|it| inside.meet(it, topology));
        meeting.late.push(self.held.next_number());
        self.held.push(inside);
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
        if let Some(alone) = &mut self.alone {
            let beside = meeting.meet(&parent, &mut self.held, topology);
            *alone = if beside { 0 } else { alone.saturating_add(1) };
        }
        let holds = holds(self.alone);
        let first = self.held.next_number();
        for child in std::mem::take(&mut meeting.children) {
            if !fits(&parent, &child, topology) {
                meeting.children.push(child);
            } else if holds {
                self.held.push(Inside::new(child, parent, now_ns));
            } else {
                out.push(decided(child, Some((parent, CONTAINED))));
            }
        }
        let children = first..self.held.next_number();
        meeting.parents.push_back(Known { parent, children });
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
        while let Some(Inside { child, parent, of }) = self.held.next_due(now_ns) {
            out.push(decided(child, Some((parent, CONTAINED / f64::from(of)))));
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

impl Meeting {
    /// A parent comes: what is held may be inside of it, too. True if another is beside it.
    fn meet(&mut self, parent: &Parent, held: &mut Held, topology: &Topology) -> bool {
        self.late.retain(|&number| held.has(number));
        // The children of those that were over before are, too.
        let since_ns = parent.span.arrival_ns.saturating_sub(SLACK_NS);
        let mut beside = false;
        for other in self.parents.iter().rev() {
            if other.parent.span.departure_ns < since_ns {
                break;
            }
            beside |= is_beside(&other.parent, parent, topology);
            other.children.clone().for_each(|number| held.meet(number, parent, topology));
        }
        self.late.iter().for_each(|&number| held.meet(number, parent, topology));
        beside
    }
}

/// True if a child waits for other parents that it may be inside of.
fn holds(alone: Option<u32>) -> bool {
    alone.is_some_and(|it| it < ALONE)
}

fn fits(parent: &Parent, child: &Child, topology: &Topology) -> bool {
    topology.calls(parent.server, child.visit.server)
        && parent.span.contains(child.visit.span, SLACK_NS)
}

fn overlapping(parents: &VecDeque<Known>, child: &Child, topology: &Topology) -> Option<Parent> {
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
    fn linker() -> Linker {
        let calls = [("w", vec!["a", "d"]), ("a", vec!["d"])];
        let calls: BTreeMap<_, _> = calls
            .map(|(upper, lower)| (upper.to_owned(), lower.iter().map(|&it| it.into()).collect()))
            .into();
        let topology = Topology::new(&calls).unwrap();
        let ways = topology.pairs().iter().map(|_| Way::ByIds).collect();
        Linker::new(topology, ways, 60_000_000_000)
    }

    fn parents(visits: Vec<Visit>) -> BTreeMap<i64, (i64, f64)> {
        let mut linker = linker();
        visits.into_iter().for_each(|visit| linker.push(visit));
        linker.finish();
        let linked = linker.decided().into_iter().filter_map(|(visit, link)| Some((visit, link?)));
        linked.map(|(visit, link)| (visit.visit, (link.parent, link.confidence))).collect()
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

    #[test]
    fn ids_of_single_requests_keep_no_call_waiting() {
        let mut linker = linker();
        let request = |server, number: u64| {
            let from_ns = 10_000 * number as i64;
            visit(0).at(server).during(from_ns, from_ns + 5_000).id(number).build()
        };
        let mut decided_at_once = |servers: &[u16], number| {
            servers.iter().for_each(|&server| linker.push(request(server, number)));
            linker.decided().iter().filter(|(visit, _)| visit.server == D).count()
        };
        let decided: usize = (0..20_000).map(|number| decided_at_once(&[D, A], number)).sum();
        assert_eq!(decided, 10_001);
        assert_eq!(decided_at_once(&[D, A, A], 20_000), 1);
        assert_eq!(decided_at_once(&[D, A], 20_001), 0);
    }
}
