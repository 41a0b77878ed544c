//! Which links are given: as many as keep the expected share of wrong ones low.
//!
//! Links are taken in the order of their probability until the mean of what is left to one exceeds the
//! rate: the false discovery rate by posterior probabilities (Newton and others, "Detecting
//! differential gene expression with a semiparametric hierarchical mixture method", Biostatistics
//! 5(2), 2004).

use super::problem::{Call, Problem};
use crate::visit::{Link, Means};

/// The expected share of wrong links.
const WRONG: f64 = 0.01;
/// No link is given that is less sure. Of links with a confidence from 0.7 to 0.8 only 0.66 were right.
const LEAST: f64 = 0.8;
/// No link is surer than this: the model itself may be wrong.
const SUREST: f64 = 0.999;

/// The odds that a link is right are those drawn to this power, times e to this power: chains that
/// settled on different assignments are too seldom of one mind where little is uncertain. Platt
/// scaling ("Probabilistic Outputs for Support Vector Machines", 1999), fitted to 36 applications of
/// the simulation in `tests/random`, with even seeds.
const SCALE: f64 = 0.8;
const SHIFT: f64 = 0.8;

/// The probability that a link is right which was drawn with this share.
fn confidence(share: f64) -> f64 {
    let share = share.clamp(1.0 - SUREST, SUREST);
    let log_odds = SHIFT + SCALE * (share / (1.0 - share)).ln();
    (1.0 / (1.0 + (-log_odds).exp())).min(SUREST)
}

/// How often each candidate of each call was drawn, over several chains.
pub struct Beliefs {
    sums: Vec<Vec<f64>>,
    drawn: f64,
}

impl Beliefs {
    /// Nothing drawn yet.
    pub fn new(problem: &Problem) -> Self {
        let sums = problem.calls.iter().map(|call| vec![0.0; call.candidates.len()]).collect();
        Self { sums, drawn: 0.0 }
    }

    /// Adds a chain's sums over so many sweeps.
    pub fn add(&mut self, sums: &[Vec<f64>], drawn: f64) {
        self.drawn += drawn;
        for (own, other) in self.sums.iter_mut().flatten().zip(sums.iter().flatten()) {
            *own += other;
        }
    }

    /// The share of calls that have a candidate with at least this probability.
    pub fn promising(&self, least: f64) -> f64 {
        let is_promising = |sums: &&Vec<f64>| sums.iter().any(|&sum| sum >= least * self.drawn);
        let count = self.sums.iter().filter(is_promising).count();
        count as f64 / self.sums.len().max(1) as f64
    }

    /// By call: the likeliest request and the confidence in it, if it is likelier than none.
    pub fn likeliest(&self, problem: &Problem) -> Vec<Option<(u32, f64)>> {
        let of = |(sums, call): (&Vec<f64>, &Call)| {
            let nobody = 1.0 - sums.iter().sum::<f64>() / self.drawn;
            let (at, sum) = sums.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
            let best = sum / self.drawn;
            (best > nobody).then(|| (call.candidates[at], confidence(best)))
        };
        self.sums.iter().zip(&problem.calls).map(of).collect()
    }
}

/// The links of a stretch, by call, from each call's likeliest request and the confidence in it.
pub fn decide(found: &[Option<(u32, f64)>], problem: &Problem) -> Vec<Option<Link>> {
    let mut order: Vec<usize> = (0..found.len())
        .filter(|&at| found[at].is_some_and(|it| it.1 >= LEAST) && !problem.calls[at].is_decided)
        .collect();
    let doubt = |at: usize| found[at].map_or(1.0, |it| 1.0 - it.1);
    order.sort_by(|&a, &b| doubt(a).total_cmp(&doubt(b)));
    let mut links = vec![None; found.len()];
    let (mut wrong, mut given) = (0.0, 0.0);
    for at in order {
        wrong += doubt(at);
        given += 1.0;
        if wrong > WRONG * given {
            break;
        }
        links[at] = found[at].map(|(caller, confidence)| Link {
            parent: problem.callers[caller as usize].visit,
            means: Means::Inferred,
            confidence,
        });
    }
    links
}
