//! Learns the grammar of an application from a sample without any id.
//!
//! Every connection is a hidden Markov chain: the state is the parent whose statement is on it, one
//! of those whose span contains the statement; the chain stays with a parent by the page's own
//! sequence or jumps to any other. This is the alignment model of Vogel, Ney and Tillmann
//! ("HMM-Based Word Alignment in Statistical Translation", COLING 1996) with parents for words,
//! fitted by expectation-maximisation. Moments of low concurrency, in which few parents come into
//! question, and rare literals teach it the rest.

use crate::infer::delay::Delays;
use crate::infer::grammar::Grammar;
use crate::infer::model::Model;
use crate::infer::sample::Parent;
use crate::infer::steps::{NEW, Pages, Step, chains};
use crate::names::Name;
use crate::topology::Topology;
use crate::visit::Visit;
use rustc_hash::FxHashMap;

const ROUNDS: usize = 12;
/// Counts below this are not worth keeping.
const MINUTE: f64 = 1e-9;
/// Keeps a sum of weights from being zero.
const TINIEST: f64 = 1e-300;

/// Learns from parents and from the connections' children, each connection in order.
pub fn learn(parents: &[Parent], connections: &[Vec<&Visit>], topology: &Topology) -> Model {
    let pages = Pages::of(parents);
    let chains = chains(parents, connections, topology);
    let mut model = blank(parents, &chains);
    for _round in 0..ROUNDS {
        let mut next = blank(parents, &chains);
        let mut pass = Pass { pages: &pages, model: &model, tables: Tables::default() };
        for chain in &chains {
            pass.chain(chain, &mut next);
        }
        model = next;
    }
    model
}

fn blank(parents: &[Parent], chains: &[Vec<Step>]) -> Model {
    let mut grammar = Grammar::default();
    parents.iter().for_each(|parent| grammar.see_parent(parent.page));
    chains.iter().flatten().for_each(|step| grammar.see_child(step.label));
    Model { grammar, within: Delays::new(), between: Delays::new() }
}

/// The grammar's probabilities by page, for the labels met so far.
#[derive(Default)]
struct Tables {
    start: FxHashMap<Name, Vec<f64>>,
    next: FxHashMap<(Name, Name), Vec<f64>>,
    end: FxHashMap<Name, Vec<f64>>,
    fertility: Vec<f64>,
}

impl Tables {
    fn prepare(&mut self, chain: &[Step], pages: &Pages, grammar: &Grammar) {
        let names = &pages.names;
        if self.fertility.is_empty() {
            self.fertility = names.iter().map(|&page| grammar.fertility(page)).collect();
        }
        for step in chain {
            self.start.entry(step.label).or_insert_with(|| {
                names.iter().map(|&page| grammar.start(page, step.label)).collect()
            });
            self.end.entry(step.label).or_insert_with(|| {
                names.iter().map(|&page| grammar.end(page, step.label)).collect()
            });
        }
        for pair in chain.windows(2) {
            let key = (pair[0].label, pair[1].label);
            self.next.entry(key).or_insert_with(|| {
                names.iter().map(|&page| grammar.next(page, key.0, key.1)).collect()
            });
        }
    }
}

/// One pass over the sample: expectation under `model`, counted into the next one.
struct Pass<'a> {
    pages: &'a Pages,
    model: &'a Model,
    tables: Tables,
}

/// The weights of the ways into and out of one step.
struct Ways {
    /// By candidate: beginning a lease here.
    begin: Vec<f64>,
    /// By candidate: going on with the lease of the step before.
    go_on: Vec<f64>,
    /// By candidate of the step before: ending there.
    leave: Vec<f64>,
}

impl Pass<'_> {
    fn chain(&mut self, chain: &[Step], next: &mut Model) {
        self.tables.prepare(chain, self.pages, &self.model.grammar);
        let ways: Vec<Ways> = (0..chain.len()).map(|at| self.ways(chain, at)).collect();
        let forward = forward(chain, &ways);
        let last = &chain[chain.len() - 1];
        let mut after: Vec<f64> =
            last.candidates.iter().map(|&p| self.tables.end[&last.label][self.page(p)]).collect();
        self.count_last(last, &forward[chain.len() - 1], &after, next);
        for at in (0..chain.len()).rev() {
            let before = at.checked_sub(1).map(|before| (&chain[before], &forward[before]));
            after = self.count(&chain[at], &ways[at], before, &after, next);
        }
    }

    fn page(&self, parent: u32) -> usize {
        self.pages.of[parent as usize] as usize
    }

    fn ways(&self, chain: &[Step], at: usize) -> Ways {
        let step = &chain[at];
        let prior: Vec<f64> = (step.candidates.iter())
            .map(|&p| self.tables.fertility[self.page(p)] * self.pages.haste[p as usize])
            .collect();
        let scale = 1.0 / prior.iter().sum::<f64>();
        let start = &self.tables.start[&step.label];
        let begin = (step.candidates.iter().zip(&prior).zip(&step.evidence))
            .map(|((&p, prior), &evidence)| {
                prior * scale * start[self.page(p)] * f64::from(evidence)
            })
            .collect();
        let Some(before) = at.checked_sub(1).map(|before| &chain[before]) else {
            return Ways { begin, go_on: Vec::new(), leave: Vec::new() };
        };
        let (same, parted) = self.model.pauses(step.pause_ns);
        let next = &self.tables.next[&(before.label, step.label)];
        let end = &self.tables.end[&before.label];
        let go_on = (step.candidates.iter().zip(&step.evidence))
            .map(|(&p, &evidence)| same * next[self.page(p)] * f64::from(evidence))
            .collect();
        let leave = before.candidates.iter().map(|&p| parted * end[self.page(p)]).collect();
        Ways { begin, go_on, leave }
    }

    fn count_last(&self, step: &Step, forward: &[f64], after: &[f64], next: &mut Model) {
        let mut ends = self.by_page(step, forward.iter().zip(after).map(|(f, a)| f * a));
        scale_to_one(&mut ends);
        for (&page, &end) in self.pages.names.iter().zip(&ends).filter(|&(_, &end)| end > MINUTE) {
            next.grammar.see_end(page, step.label, end);
        }
    }

    /// Counts the ways into `step` by their posterior probability; returns the weights of all that
    /// follows the step before, by its candidates.
    fn count(
        &self,
        step: &Step,
        ways: &Ways,
        before: Option<(&Step, &Vec<f64>)>,
        after: &[f64],
        next: &mut Model,
    ) -> Vec<f64> {
        let mut starts =
            self.by_page(step, ways.begin.iter().zip(after).map(|(begin, after)| begin * after));
        let begins = scale_to_one(&mut starts);
        let Some((last, forward)) = before else {
            self.count_starts(step, &starts, 1.0, next);
            return Vec::new();
        };
        let ends: Vec<f64> = ways.leave.iter().map(|leave| leave * begins).collect();
        let mut stays = vec![0.0; ends.len()];
        for ((go_on, &there), after) in ways.go_on.iter().zip(&step.before).zip(after) {
            if there != NEW {
                stays[there as usize] += go_on * after;
            }
        }
        let weighted = |ways: &[f64]| -> Vec<f64> {
            self.by_page(last, forward.iter().zip(ways).map(|(forward, way)| forward * way))
        };
        let (ending, staying) = (weighted(&ends), weighted(&stays));
        let (parted, kept) = (ending.iter().sum::<f64>(), staying.iter().sum::<f64>());
        let scale = 1.0 / (parted + kept).max(TINIEST);
        for ((&page, end), stay) in self.pages.names.iter().zip(ending).zip(staying) {
            if end * scale > MINUTE {
                next.grammar.see_end(page, last.label, end * scale);
            }
            if stay * scale > MINUTE {
                next.grammar.see_next(page, (last.label, step.label), stay * scale);
            }
        }
        self.count_starts(step, &starts, parted * scale, next);
        next.grammar.see_neighbours((last.label, step.label), kept * scale);
        next.within.see(step.pause_ns, kept * scale);
        next.between.see(step.pause_ns, parted * scale);
        let mut earlier: Vec<f64> = ends.iter().zip(&stays).map(|(end, stay)| end + stay).collect();
        scale_to_one(&mut earlier);
        earlier
    }

    fn count_starts(&self, step: &Step, starts: &[f64], weight: f64, next: &mut Model) {
        for (&page, start) in self.pages.names.iter().zip(starts) {
            if start * weight > MINUTE {
                next.grammar.see_start(page, step.label, start * weight);
            }
        }
    }

    /// The candidates' weights, added up by page.
    fn by_page(&self, step: &Step, weights: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.pages.names.len()];
        for (&parent, weight) in step.candidates.iter().zip(weights) {
            sums[self.page(parent)] += weight;
        }
        sums
    }
}

/// Makes the weights add up to 1; returns what they added up to.
fn scale_to_one(weights: &mut [f64]) -> f64 {
    let whole = weights.iter().sum::<f64>().max(TINIEST);
    weights.iter_mut().for_each(|weight| *weight /= whole);
    whole
}

/// The forward probabilities of each step's candidates, each step's adding up to 1.
fn forward(chain: &[Step], ways: &[Ways]) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(ways.len());
    for (step, it) in chain.iter().zip(ways) {
        let mut here = match all.last() {
            None => it.begin.clone(),
            Some(before) => {
                let left: f64 = before.iter().zip(&it.leave).map(|(b, l)| b * l).sum();
                (it.begin.iter().zip(&it.go_on).zip(&step.before))
                    .map(|((begin, go_on), &there)| {
                        left * begin + before.get(there as usize).map_or(0.0, |b| b * go_on)
                    })
                    .collect()
            }
        };
        scale_to_one(&mut here);
        all.push(here);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use std::collections::BTreeMap;

    const UPPER: u16 = 0;
    const LOWER: u16 = 1;

    fn topology() -> Topology {
        Topology::new(&BTreeMap::from([("a".to_owned(), vec!["b".to_owned()])])).unwrap()
    }

    /// Page 10 says 1, 2; page 20 says 3; page 30 says nothing. Each page overlaps the one before
    /// and the one after it, and all take turns on one connection.
    fn sample() -> (Vec<Visit>, Vec<Visit>) {
        let (mut parents, mut children) = (Vec::new(), Vec::new());
        let said: BTreeMap<u32, &[u32]> = [(10, &[1, 2][..]), (20, &[3]), (30, &[])].into();
        // Every order of two pages occurs, so that no page is always beside the same other.
        for (turn, page) in
            [10, 20, 30, 30, 20, 10, 10, 30, 20, 20, 10, 30].repeat(20).iter().enumerate()
        {
            let start = turn as i64 * 10_000_000;
            let parent = visit(turn as i64).at(UPPER).label(*page);
            parents.push(parent.during(start - 3_000_000, start + 13_000_000).build());
            for (at, &label) in said[page].iter().enumerate() {
                let from = start + 2_000_000 + at as i64 * 3_000_000;
                let child = visit(0).at(LOWER).on(7).lent().label(label);
                children.push(child.during(from, from + 1_000_000).build());
            }
        }
        (parents, children)
    }

    #[test]
    fn pages_are_learned_from_overlapping_requests() {
        let (parents, children) = sample();
        let parents: Vec<Parent> = parents.iter().map(Parent::of).collect();
        let model = learn(&parents, &[children.iter().collect()], &topology());
        let grammar = &model.grammar;
        assert!(grammar.start(10, 1) > 0.95, "{}", grammar.start(10, 1));
        assert!(grammar.next(10, 1, 2) > 0.95);
        assert!(grammar.end(10, 2) > 0.95);
        assert!(grammar.start(20, 3) > 0.95);
        assert!(grammar.fertility(10) > 0.9 && grammar.fertility(20) > 0.9);
        assert!(grammar.fertility(30) < 0.1, "{}", grammar.fertility(30));
        assert!(grammar.odds_of_same((1, 2)) > 20.0);
        assert!(grammar.odds_of_same((2, 3)) < 0.05);
    }
}
