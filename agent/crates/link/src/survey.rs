//! A look at a capture before it is linked: which way each tier's visits find their parents, what
//! inference has to know, and how right it would be.

use crate::event_loop::EventLoop;
use crate::infer::{Inference, Sequences};
use crate::joint::Joint;
use crate::linker::{Linker, LoopPairs, Way};
use crate::summary::SelfCheck;
use crate::topology::Topology;
use crate::visit::Visit;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part of a capture: its beginning, where few requests are under way, and a stretch from its
/// middle. Both in the order of departure.
#[derive(Default)]
pub struct Survey {
    /// The capture's first visits.
    pub beginning: Vec<Visit>,
    /// Visits from its middle; empty for a capture that is all beginning.
    pub middle: Vec<Visit>,
}

/// What tells the visits of a tier their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Connection,
    Id,
    None,
}

impl Survey {
    /// How the visits of each pair find their parents. Ids do not count when they are hidden.
    pub fn ways(&self, topology: &Topology, hide_ids: bool) -> Vec<Way> {
        let mut in_loops: Vec<usize> = topology.event_loops().concat();
        in_loops.extend(self.joint_pairs(topology, hide_ids).concat());
        let way = |pair| match self.mark(pair, topology) {
            Mark::Connection => Way::ByIds,
            Mark::Id if !hide_ids => Way::ByIds,
            _ if in_loops.contains(&pair) => Way::InLoop,
            _ => self.inferred(pair, topology),
        };
        (0..topology.pairs().len()).map(way).collect()
    }

    /// The callers that have calls whose parents must be inferred together: event loops, and others
    /// that call several tiers.
    pub fn loops(&self, topology: &Topology, hide_ids: bool) -> Vec<LoopPairs> {
        let mut loops = Vec::new();
        for mut pairs in topology.event_loops() {
            pairs.retain(|&pair| self.mark(pair, topology) != Mark::Connection);
            let is_marked = |&pair: &usize| !hide_ids && self.mark(pair, topology) == Mark::Id;
            let by_id: Vec<usize> = pairs.iter().copied().filter(is_marked).collect();
            if by_id.len() == pairs.len() {
                continue;
            }
            let (parents, children) = self.sides(&pairs, topology);
            let event_loop = EventLoop::learn(&parents, &children, &by_id, topology);
            loops.push(LoopPairs { pairs, event_loop: Joint::EventLoop(Box::new(event_loop)) });
        }
        for pairs in self.joint_pairs(topology, hide_ids) {
            let (parents, children) = self.sides(&pairs, topology);
            let sequences = Sequences::learn(&parents, &children, topology);
            loops.push(LoopPairs { pairs, event_loop: Joint::Sequences(Box::new(sequences)) });
        }
        loops
    }

    /// The visits at those that call in some pairs, and at those that are called.
    fn sides(&self, pairs: &[usize], topology: &Topology) -> (Vec<&Visit>, Vec<&Visit>) {
        let calls = |visit: &&Visit| {
            topology.pairs_below(visit.server).iter().any(|pair| pairs.contains(pair))
        };
        let is_called = |visit: &&Visit| {
            topology.pair_above(visit.server).is_some_and(|pair| pairs.contains(&pair))
        };
        (self.visits().filter(calls).collect(), self.visits().filter(is_called).collect())
    }

    /// The pairs whose parents must be inferred, but for event loops', in groups of several that have
    /// callers in common.
    fn joint_pairs(&self, topology: &Topology, hide_ids: bool) -> Vec<Vec<usize>> {
        let in_loops: Vec<usize> = topology.event_loops().concat();
        let is_inferred = |&pair: &usize| match self.mark(pair, topology) {
            Mark::Connection => false,
            Mark::Id => hide_ids && !in_loops.contains(&pair),
            Mark::None => !in_loops.contains(&pair),
        };
        let pairs: Vec<usize> = (0..topology.pairs().len()).filter(is_inferred).collect();
        let mut groups = topology.with_common_callers(&pairs);
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Compares inference with the ids, by pair; none where there are no ids to compare with.
    pub fn check(&self, topology: &Topology, window_ns: i64) -> Vec<Option<SelfCheck>> {
        let stretch = if self.middle.is_empty() { &self.beginning } else { &self.middle };
        let marks: Vec<Mark> =
            (0..topology.pairs().len()).map(|pair| self.mark(pair, topology)).collect();
        if !marks.contains(&Mark::Id) {
            return vec![None; marks.len()];
        }
        let by_ids = marks.iter().map(|_| Way::ByIds).collect();
        let link = |ways| Linker::new(topology.clone(), ways, window_ns);
        let truth = parents_of(stretch, link(by_ids));
        let guessing = link(self.ways(topology, true)).with_loops(self.loops(topology, true));
        let guess = parents_of(stretch, guessing);
        let mut checks = vec![SelfCheck::default(); marks.len()];
        for visit in stretch {
            let above = topology.pair_above(visit.server);
            if let (Some(above), Some(Some(truth))) = (above, truth.get(&visit.visit)) {
                checks[above].count(*truth, guess.get(&visit.visit).copied().flatten());
            }
        }
        let compared = |(mark, check): (Mark, SelfCheck)| {
            (mark == Mark::Id && check.visits > 0).then(|| check.shares())
        };
        marks.into_iter().zip(checks).map(compared).collect()
    }

    fn visits(&self) -> impl Iterator<Item = &Visit> {
        self.beginning.iter().chain(&self.middle)
    }

    /// A pair's visits at the tier that is called.
    fn children(&self, pair: usize, topology: &Topology) -> Vec<&Visit> {
        self.visits().filter(|visit| topology.pair_above(visit.server) == Some(pair)).collect()
    }

    /// A pair's visits at those that call.
    fn parents(&self, pair: usize, topology: &Topology) -> Vec<&Visit> {
        let calls = |visit: &&Visit| topology.pairs_below(visit.server).contains(&pair);
        self.visits().filter(calls).collect()
    }

    fn mark(&self, pair: usize, topology: &Topology) -> Mark {
        let visits = self.children(pair, topology);
        let share = |has: fn(&Visit) -> bool| {
            2 * visits.iter().filter(|visit| has(visit)).count() >= visits.len().max(1)
        };
        if share(|visit| visit.upstream.is_some()) {
            Mark::Connection
        } else if (share(|visit| visit.id.is_some()) || lends_ids(&visits))
            && self.callers_know(pair, &visits, topology)
        {
            Mark::Id
        } else {
            Mark::None
        }
    }

    /// False if hardly one of the ids is a caller's: they come from elsewhere, as from an application
    /// that begins a trace of its own.
    fn callers_know(&self, pair: usize, visits: &[&Visit], topology: &Topology) -> bool {
        let known: FxHashSet<u64> =
            self.parents(pair, topology).iter().filter_map(|it| it.id).collect();
        let ids: FxHashSet<u64> = visits.iter().filter_map(|it| it.id).collect();
        10 * ids.intersection(&known).count() >= ids.len()
    }

    fn inferred(&self, pair: usize, topology: &Topology) -> Way {
        let (parents, children) = (self.parents(pair, topology), self.children(pair, topology));
        Way::Inferred(Box::new(Inference::learn(&parents, &children, topology)))
    }
}

/// True if most visits are on lent connections on which ids came too: where a statement takes several
/// messages, few carry one, and the others borrow it.
fn lends_ids(visits: &[&Visit]) -> bool {
    let connection = |visit: &Visit| (visit.server, visit.connection);
    let with_ids: FxHashSet<_> =
        visits.iter().filter(|it| it.lent && it.id.is_some()).map(|it| connection(it)).collect();
    let lent = visits.iter().filter(|it| with_ids.contains(&connection(it))).count();
    lent > 0 && 2 * lent >= visits.len()
}

/// Links a stretch by itself.
fn parents_of(stretch: &[Visit], mut linker: Linker) -> FxHashMap<i64, Option<i64>> {
    stretch.iter().for_each(|visit| linker.push(visit.clone()));
    linker.finish();
    let decided = linker.decided();
    decided.into_iter().map(|(visit, link)| (visit.visit, link.map(|link| link.parent))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use std::collections::BTreeMap;

    const APP: u16 = 0;
    const DB: u16 = 1;

    fn ways(beginning: Vec<Visit>) -> Vec<Way> {
        let calls = BTreeMap::from([("app".to_owned(), vec!["db".to_owned()])]);
        let topology = Topology::new(&calls).unwrap();
        Survey { beginning, middle: Vec::new() }.ways(&topology, false)
    }

    #[test]
    fn one_message_with_an_id_in_four_is_enough_on_lent_connections() {
        let statement = |first: i64, connection| {
            (0..4).map(move |at| {
                let it = visit(first + at).at(DB).on(connection).during(first + at, first + at + 1);
                if at == 0 { it.lent().id(0xa).build() } else { it.lent().build() }
            })
        };
        let request = visit(100).at(APP).during(0, 50).id(0xa).build();
        let visits = [request].into_iter().chain(statement(1, 7)).chain(statement(11, 8));
        assert!(matches!(ways(visits.collect())[..], [Way::ByIds]));
    }

    #[test]
    fn connections_without_ids_are_inferred() {
        let statement = |at: i64| visit(at).at(DB).on(at).during(at, at + 1).lent().build();
        let with_id = visit(9).at(DB).on(9).during(9, 10).lent().id(0xa).build();
        let visits = (1..8).map(statement).chain([with_id]);
        assert!(matches!(ways(visits.collect())[..], [Way::Inferred(_)]));
    }
}
