//! Inference over a sliding window: the leases that ended long enough ago for their parents to
//! have departed are matched, jointly with all that overlap them, and decided.

use crate::infer::chain::learn;
use crate::infer::lease::{Lease, Leases};
use crate::infer::matching::{Candidate, Matching, Seeker};
use crate::infer::model::Model;
use crate::infer::page_models::PageModels;
use crate::infer::sample::Parent;
use crate::topology::Topology;
use crate::visit::{Link, Linked, Means, Visit};
use rustc_hash::FxHashMap;

/// A parent departs at most this long after its last child.
const LAG_NS: i64 = 4_000_000_000;
/// How much is decided at once.
const STEP_NS: i64 = 2_000_000_000;
/// Beliefs and models are worked out from each other this many times.
const ROUNDS: usize = 2;
/// The delays of one moment share its queues, so that together they say less than each by itself
/// would. Beliefs are flattened by this power; on captures of real tiers the confidence is then
/// what it says.
const TEMPER: f64 = 0.7;

/// Finds the parents of one tier's visits, each of which has one lease of one connection at most.
pub struct LeaseMatching {
    pub(crate) model: Model,
    page_models: PageModels,
    leases: Leases,
    /// Leases that ended and parents that departed, until they are decided.
    ended: Vec<Lease>,
    parents: Vec<Parent>,
    next_ns: i64,
}

impl LeaseMatching {
    /// Learns from a sample of parents and children, each in the order of departure.
    pub fn learn(parents: &[&Visit], children: &[&Visit], topology: &Topology) -> Self {
        let mut candidates: Vec<Parent> = parents.iter().map(|visit| Parent::of(visit)).collect();
        candidates.sort_by_key(|parent| parent.span.arrival_ns);
        let mut inference = Self {
            model: learn(&candidates, &connections(children), topology),
            page_models: PageModels::new(),
            leases: Leases::default(),
            ended: Vec::new(),
            parents: Vec::new(),
            next_ns: 0,
        };
        inference.rehearse(parents, children, topology);
        inference
    }

    /// Links the sample itself, twice, so that the delays are known when the first visit comes.
    fn rehearse(&mut self, parents: &[&Visit], children: &[&Visit], topology: &Topology) {
        let mut forgotten = Vec::new();
        for _round in 0..2 {
            let mut children = children.iter().peekable();
            for parent in parents {
                let until_ns = parent.ended_ns;
                while let Some(child) = children.next_if(|it| it.ended_ns <= until_ns) {
                    self.child((*child).clone());
                }
                self.parent(parent);
                self.advance(until_ns, topology, &mut forgotten);
                forgotten.clear();
            }
            self.advance(i64::MAX, topology, &mut forgotten);
            self.next_ns = 0;
        }
    }

    /// A visit that looks for its parent.
    pub fn child(&mut self, visit: Visit) {
        self.ended.extend(self.leases.push(visit, &self.model));
    }

    /// A visit that may be a parent.
    pub fn parent(&mut self, visit: &Visit) {
        self.parents.push(Parent::of(visit));
    }

    /// Decides what can be decided at `now_ns`; everything at `i64::MAX`.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        if now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns.saturating_add(STEP_NS);
        self.ended.extend(self.leases.silent(now_ns));
        self.ended.sort_by_key(|lease| lease.span().departure_ns);
        self.parents.sort_by_key(|parent| parent.span.arrival_ns);
        let decided_ns = if now_ns == i64::MAX { now_ns } else { now_ns - LAG_NS };
        let due = self.ended.partition_point(|lease| lease.span().departure_ns <= decided_ns);
        let grammar = &self.model.grammar;
        let mut matching = Matching::new(&self.ended, &self.parents, grammar, topology, now_ns);
        let mut earlier = self.page_models.clone();
        earlier.fade();
        for _round in 0..ROUNDS {
            matching.solve(&self.page_models);
            matching.refer();
            self.page_models.clone_from(&earlier);
            matching.teach(due, decided_ns, &mut self.page_models);
        }
        matching.solve(&self.page_models);
        let seekers = matching.seekers;
        self.decide(due, &seekers, out);
        self.parents.retain(|parent| parent.span.departure_ns > decided_ns);
    }

    /// Gives each of the first `due` leases its likeliest parent, if that is likelier than none.
    fn decide(&mut self, due: usize, seekers: &[Seeker], out: &mut Vec<Linked>) {
        for (lease, seeker) in self.ended.drain(..due).zip(seekers) {
            for it in &seeker.candidates {
                self.parents[it.parent as usize].taken += it.belief;
            }
            let link = choose(&seeker.candidates).map(|(parent, confidence)| Link {
                parent: self.parents[parent].visit,
                means: Means::Inferred,
                confidence,
            });
            out.extend(lease.children.into_iter().map(|child| (child, link)));
        }
    }
}

/// The likeliest parent, if it is likelier than none, and the confidence in it.
fn choose(candidates: &[Candidate]) -> Option<(usize, f64)> {
    let found: f64 = candidates.iter().map(|it| it.belief).sum();
    let none = (1.0 - found).max(0.0);
    let best = candidates.iter().max_by(|a, b| a.belief.total_cmp(&b.belief))?;
    let whole: f64 = candidates.iter().map(|it| it.belief.powf(TEMPER)).sum();
    let confidence = best.belief.powf(TEMPER) / (whole + none.powf(TEMPER));
    (best.belief > none).then_some((best.parent as usize, confidence.min(1.0)))
}

/// The children of each lent connection in order; each other child by itself.
fn connections<'a>(children: &[&'a Visit]) -> Vec<Vec<&'a Visit>> {
    let mut lent: FxHashMap<_, Vec<&Visit>> = FxHashMap::default();
    let mut chains = Vec::new();
    for child in children {
        if child.lent {
            lent.entry((child.server, child.connection)).or_default().push(child);
        } else {
            chains.push(vec![*child]);
        }
    }
    chains.extend(lent.into_values());
    chains
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use std::collections::BTreeMap;

    const MS: i64 = 1_000_000;

    fn inference() -> (LeaseMatching, Topology) {
        let calls = BTreeMap::from([("a".to_owned(), vec!["b".to_owned()])]);
        let topology = Topology::new(&calls).unwrap();
        (LeaseMatching::learn(&[], &[], &topology), topology)
    }

    #[test]
    fn a_request_that_was_never_answered_is_forgotten() {
        let (mut it, topology) = inference();
        it.parent(&visit(1).at(0).during(0, 0).given_up(5 * MS).build());
        it.parent(&visit(2).at(0).during(0, 20 * MS).build());
        it.advance(10_000 * MS, &topology, &mut Vec::new());
        assert!(it.parents.is_empty(), "{} parents held", it.parents.len());
    }

    #[test]
    fn a_visit_without_an_end_is_decided_with_its_window() {
        let (mut it, topology) = inference();
        it.child(visit(3).at(1).during(4 * MS, 0).given_up(9 * MS).build());
        it.parent(&visit(2).at(0).during(0, 20 * MS).build());
        let mut out = Vec::new();
        it.advance(10_000 * MS, &topology, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(out[0].0.span.departure_ns, i64::MAX, "its end is still unknown");
    }
}
