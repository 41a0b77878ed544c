//! What a sample teaches.

use crate::infer::delay::Delays;
use crate::infer::grammar::Grammar;

/// What a sample taught.
#[derive(Clone, Debug)]
pub struct Model {
    /// The pages.
    pub grammar: Grammar,
    /// Pauses between neighbours of one lease, and of two.
    pub within: Delays,
    /// Pauses between the last child of a lease and the first of the next.
    pub between: Delays,
}

impl Model {
    /// How dense a pause is within a lease and between two; equal as long as little was seen.
    pub fn pauses(&self, pause_ns: i64) -> (f64, f64) {
        let (same, parted) = (self.within.density(pause_ns), self.between.density(pause_ns));
        let ratio = (same / parted).clamp(0.02, 50.0);
        if self.within.weight() < 10.0 || self.between.weight() < 10.0 {
            (1.0, 1.0)
        } else {
            (ratio.sqrt(), 1.0 / ratio.sqrt())
        }
    }
}
