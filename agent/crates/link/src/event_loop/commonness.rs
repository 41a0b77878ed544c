//! How common which literal is among calls.

use rustc_hash::FxHashMap;

/// So many calls are remembered, and at most as many before them.
const GENERATION: u32 = 50_000;

/// Counts of the latest calls.
#[derive(Clone, Debug, Default)]
pub struct Commonness {
    young: FxHashMap<u64, u32>,
    old: FxHashMap<u64, u32>,
    calls: u32,
    old_calls: u32,
}

impl Commonness {
    /// Sees a call's literals.
    pub fn see(&mut self, literals: &[u64]) {
        if self.calls == GENERATION {
            self.old = std::mem::take(&mut self.young);
            (self.old_calls, self.calls) = (self.calls, 0);
        }
        self.calls += 1;
        for &literal in literals {
            *self.young.entry(literal).or_default() += 1;
        }
    }

    /// How many calls there are for each that has the rarest literal that is among both; 0 if none is.
    pub fn rarity(&self, literals: &[u64], others: &[u64]) -> f64 {
        let count = |it: &u64| {
            let of = |counts: &FxHashMap<u64, u32>| counts.get(it).copied().unwrap_or(0);
            of(&self.young) + of(&self.old)
        };
        let fewest = literals.iter().filter(|it| others.contains(it)).map(count).min();
        let calls = f64::from(self.calls + self.old_calls) + 1.0;
        fewest.map_or(0.0, |fewest| calls / f64::from(fewest.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_literal_that_both_have_counts() {
        let mut it = Commonness::default();
        (0..99).for_each(|n| it.see(&[7, 1_000 + n % 10]));
        assert_eq!(it.rarity(&[7], &[8]), 0.0);
        assert_eq!(it.rarity(&[7, 3], &[3, 7]), 100.0);
        assert!((it.rarity(&[7], &[7]) - 1.0).abs() < 0.02);
        assert_eq!(it.rarity(&[7, 1_001], &[7, 1_001]), 10.0);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut it = Commonness::default();
        (0..300_000).for_each(|n| it.see(&[n]));
        assert!(it.young.len() + it.old.len() <= 2 * GENERATION as usize);
    }
}
