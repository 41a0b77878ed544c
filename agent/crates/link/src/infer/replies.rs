//! The sizes of replies: a page that got the same from below as another has nearly the same size.

use crate::names::Name;
use rustc_hash::FxHashMap;

/// Sizes that differ by no more than this many bytes are the same (a time of day, a counter).
const SAME: i64 = 2;
/// Weight of the page's usual sizes.
const USUAL: f64 = 1.0;
/// What weighs less than this is forgotten.
const LEAST: f64 = 0.05;

/// For every page and size of what it got from below, the sizes that it then had.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    seen: FxHashMap<(Name, i64), Vec<(i64, f64)>>,
}

impl Replies {
    /// Sees a page of `size` that got `below` bytes, with the probability that it did.
    pub fn see(&mut self, page: Name, below: i64, size: i64, weight: f64) {
        let sizes = self.seen.entry((page, below)).or_default();
        match sizes.iter_mut().find(|(known, _)| *known == size) {
            Some((_, seen)) => *seen += weight,
            None => sizes.push((size, weight)),
        }
    }

    /// Forgets: what was seen weighs `factor` as much from now on.
    pub fn fade(&mut self, factor: f64) {
        self.seen.retain(|_, sizes| {
            sizes.iter_mut().for_each(|(_, weight)| *weight *= factor);
            sizes.retain(|&(_, weight)| weight >= LEAST);
            !sizes.is_empty()
        });
    }

    /// The sizes that a page had when it got `below` bytes; none when that was never seen.
    pub fn after(&self, page: Name, below: i64) -> Option<Known<'_>> {
        let sizes = self.seen.get(&(page, below))?;
        Some(Known { sizes, all: sizes.iter().map(|&(_, weight)| weight).sum() })
    }
}

/// The sizes that are known of one page and size below.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    sizes: &'a [(i64, f64)],
    all: f64,
}

impl Known<'_> {
    /// How much likelier this is with a page of `size`, `usual` of all being of that size, than by
    /// chance, as a logarithm. `own` is what a lease itself has taught: the weight of this size,
    /// and of all.
    pub fn evidence(&self, size: i64, usual: f64, own: (f64, f64)) -> f64 {
        let same: f64 = (self.sizes.iter())
            .filter(|&&(known, _)| (known - size).abs() <= SAME)
            .map(|&(_, weight)| weight)
            .sum();
        let (same, all) = ((same - own.0).max(0.0), (self.all - own.1).max(0.0));
        ((same + USUAL * usual) / (all + USUAL) / usual).ln()
    }
}

/// How many of a page's visits have which size.
#[derive(Default)]
pub struct Sizes {
    counts: FxHashMap<(Name, i64), f64>,
    visits: FxHashMap<Name, f64>,
}

impl Sizes {
    /// Counts visits, each with its page and size.
    pub fn of(visits: impl Iterator<Item = (Name, i64)>) -> Self {
        let mut it = Self::default();
        for (page, size) in visits {
            *it.visits.entry(page).or_default() += 1.0;
            for near in size - SAME..=size + SAME {
                *it.counts.entry((page, near)).or_default() += 1.0;
            }
        }
        it
    }

    /// The share of a page's visits that are of a size.
    pub fn share(&self, page: Name, size: i64) -> f64 {
        let visits = self.visits.get(&page).copied().unwrap_or(0.0);
        (self.counts.get(&(page, size)).copied().unwrap_or(0.0) + 0.1) / (visits + 0.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_that_followed_before_is_likelier() {
        let mut it = Replies::default();
        (0..5).for_each(|_| it.see(7, 4_000, 6_001, 1.0));
        let known = it.after(7, 4_000).unwrap();
        assert!(known.evidence(6_002, 0.1, (0.0, 0.0)) > 1.5);
        assert!(known.evidence(7_000, 0.1, (0.0, 0.0)) < -1.5);
        assert!(it.after(7, 5_000).is_none(), "nothing is known of that size below");
    }

    #[test]
    fn nobody_is_their_own_witness() {
        let mut it = Replies::default();
        it.see(7, 4_000, 6_001, 0.3);
        it.see(7, 4_000, 9_000, 0.7);
        assert!(it.after(7, 4_000).unwrap().evidence(9_000, 0.1, (0.7, 1.0)).abs() < 1e-9);
    }
}
