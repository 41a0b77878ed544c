//! What the pages of an application say to the tier below: for every label of a parent, the first
//! child's label, which child follows which, and which is the last. A Markov chain per page, with
//! counts that may be fractions because the assignments behind them are uncertain.

use crate::names::Name;
use rustc_hash::FxHashMap;

/// Weight of what all pages have in common in a page's own distribution.
const COMMON: f64 = 0.3;
/// Share of children that begin or end a lease when nothing is known.
const EVEN: f64 = 0.5;

/// The learned pages.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    parents: FxHashMap<Name, f64>,
    starts: FxHashMap<Name, f64>,
    start: FxHashMap<(Name, Name), f64>,
    next: FxHashMap<(Name, Name, Name), f64>,
    end: FxHashMap<(Name, Name), f64>,
    from: FxHashMap<(Name, Name), f64>,
    /// Pairs of neighbours on a connection: of one lease, and of two.
    within: FxHashMap<(Name, Name), f64>,
    between: FxHashMap<(Name, Name), f64>,
    common: FxHashMap<Name, f64>,
    total: f64,
}

impl Grammar {
    /// Sees a parent.
    pub fn see_parent(&mut self, page: Name) {
        *self.parents.entry(page).or_default() += 1.0;
    }

    /// Sees a child, whosever it is.
    pub fn see_child(&mut self, child: Name) {
        *self.common.entry(child).or_default() += 1.0;
        self.total += 1.0;
    }

    /// A lease of `page` begins with `child`.
    pub fn see_start(&mut self, page: Name, child: Name, weight: f64) {
        *self.starts.entry(page).or_default() += weight;
        *self.start.entry((page, child)).or_default() += weight;
    }

    /// In a lease of `page`, `child` is followed by `next`.
    pub fn see_next(&mut self, page: Name, (child, next): (Name, Name), weight: f64) {
        *self.next.entry((page, child, next)).or_default() += weight;
        *self.from.entry((page, child)).or_default() += weight;
    }

    /// A lease of `page` ends with `child`.
    pub fn see_end(&mut self, page: Name, child: Name, weight: f64) {
        *self.end.entry((page, child)).or_default() += weight;
        *self.from.entry((page, child)).or_default() += weight;
    }

    /// Two neighbours on a connection belong to one lease with the probability `same`.
    pub fn see_neighbours(&mut self, pair: (Name, Name), same: f64) {
        *self.within.entry(pair).or_default() += same;
        *self.between.entry(pair).or_default() += 1.0 - same;
    }

    /// The probability that a lease of `page` begins with `child`.
    pub fn start(&self, page: Name, child: Name) -> f64 {
        let (seen, of) = (self.start.get(&(page, child)), self.starts.get(&page));
        blend(seen, of, self.share(child))
    }

    /// The probability that `child` is followed by `next` in a lease of `page`.
    pub fn next(&self, page: Name, child: Name, next: Name) -> f64 {
        let (seen, of) = (self.next.get(&(page, child, next)), self.from.get(&(page, child)));
        blend(seen, of, (1.0 - EVEN) * self.share(next))
    }

    /// The probability that a lease of `page` that came to `child` ends there.
    pub fn end(&self, page: Name, child: Name) -> f64 {
        blend(self.end.get(&(page, child)), self.from.get(&(page, child)), EVEN)
    }

    /// How many leases a visit of `page` has, on average.
    pub fn fertility(&self, page: Name) -> f64 {
        let leases = self.starts.get(&page).copied().unwrap_or(0.0);
        match self.parents.get(&page) {
            Some(&parents) => (leases + 0.02) / (parents + 0.04),
            None => 0.5,
        }
    }

    /// The logarithm of the probability of a lease's whole sequence on `page`.
    pub fn log_probability(&self, page: Name, children: &[Name]) -> f64 {
        let (Some(&first), Some(&last)) = (children.first(), children.last()) else { return 0.0 };
        let steps: f64 =
            children.windows(2).map(|pair| self.next(page, pair[0], pair[1]).ln()).sum();
        self.start(page, first).ln() + steps + self.end(page, last).ln()
    }

    /// The odds that two neighbours on a connection belong to one lease, by their labels alone.
    pub fn odds_of_same(&self, pair: (Name, Name)) -> f64 {
        let seen = |of: &FxHashMap<(Name, Name), f64>| of.get(&pair).copied().unwrap_or(0.0) + 0.02;
        seen(&self.within) / seen(&self.between)
    }

    /// The pages seen.
    pub fn pages(&self) -> impl Iterator<Item = Name> + '_ {
        self.parents.keys().copied()
    }

    /// How many visits of `page` were seen.
    pub fn parents(&self, page: Name) -> f64 {
        self.parents.get(&page).copied().unwrap_or(0.0)
    }

    fn share(&self, child: Name) -> f64 {
        (self.common.get(&child).copied().unwrap_or(0.0) + 0.1) / (self.total + 1.0)
    }
}

/// The share `seen` of `of`, drawn towards `common` where little was seen.
fn blend(seen: Option<&f64>, of: Option<&f64>, common: f64) -> f64 {
    let (seen, of) = (seen.copied().unwrap_or(0.0), of.copied().unwrap_or(0.0));
    (seen + COMMON * common) / (of + COMMON)
}
