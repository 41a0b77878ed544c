//! The ways on from the accounts that are followed, and which of them are followed in turn.

use crate::event_loop::request::Cause;

/// One way on from one account.
pub struct Branch {
    /// The account's position.
    pub from: usize,
    /// The logarithm of its probability, up to a constant.
    pub weight: f64,
    /// Whose the call is, and upon what.
    pub owner: Option<(usize, Cause)>,
}

/// Thins branches, the likeliest first, out to `most` without a bias: those whose weight is above a
/// threshold stay, and of the others some are drawn, and have its weight (Fearnhead and Clifford,
/// "On-line inference for hidden Markov models via particle filters", J. R. Statist. Soc. B, 2003).
pub fn thin(branches: Vec<Branch>, most: usize, lot: f64, chosen: &mut Vec<Branch>) {
    if branches.len() <= most {
        chosen.extend(branches);
        return;
    }
    let mut rest: f64 = branches.iter().map(|it| it.weight.exp()).sum();
    let mut kept = 0;
    while kept + 1 < most && branches[kept].weight.exp() * (most - kept) as f64 >= rest {
        rest -= branches[kept].weight.exp();
        kept += 1;
    }
    let step = rest.max(f64::MIN_POSITIVE) / (most - kept) as f64;
    let mut next = lot * step;
    let mut sum = 0.0;
    for (at, mut branch) in branches.into_iter().enumerate() {
        if at < kept {
            chosen.push(branch);
            continue;
        }
        sum += branch.weight.exp();
        if sum > next {
            branch.weight = step.ln();
            next += step;
            chosen.push(branch);
        }
    }
}

/// Numbers from 0 to 1 (Marsaglia, "Xorshift RNGs", J. Statistical Software, 2003).
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    /// The next one.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branches(weights: &[f64]) -> Vec<Branch> {
        weights
            .iter()
            .enumerate()
            .map(|(from, it)| Branch { from, weight: it.ln(), owner: None })
            .collect()
    }

    #[test]
    fn what_is_drawn_stands_for_all_and_the_likeliest_always_stay() {
        let weights = [0.5, 0.2, 0.06, 0.06, 0.06, 0.06, 0.06];
        let mut random = Random::default();
        let mut mean = [0.0; 7];
        for _ in 0..10_000 {
            let mut chosen = Vec::new();
            thin(branches(&weights), 4, random.next(), &mut chosen);
            assert_eq!(chosen.len(), 4);
            chosen.iter().for_each(|it| mean[it.from] += it.weight.exp() / 10_000.0);
        }
        for (mean, weight) in mean.into_iter().zip(weights) {
            assert!((mean - weight).abs() < 0.01, "{mean} {weight}");
        }
    }

    #[test]
    fn a_few_branches_stay_as_they_are() {
        let mut chosen = Vec::new();
        thin(branches(&[0.7, 0.3]), 2, 0.5, &mut chosen);
        assert_eq!(chosen.iter().map(|it| it.from).collect::<Vec<_>>(), [0, 1]);
    }
}
