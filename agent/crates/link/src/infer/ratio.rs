//! How far a delay is from what its neighbours in time had.
//!
//! Delays in a loaded system differ by orders of magnitude from one moment to the next, but hardly
//! between requests of the same moment: they wait in the same queues. So a delay is judged by its
//! ratio to a reference, the median of the nearest known delays.

/// Natural logarithms of a ratio are told apart down to this, near 1; ever less further away.
const FINEST: f64 = 0.02;
const STEPS: f64 = 3.0;
const SIDE: usize = 24;
const BINS: usize = 2 * SIDE;
/// Weight of what is not known.
const PRIOR: f64 = 5.0;
/// How many known delays on either side make a reference.
const NEAR: usize = 3;

/// How often which logarithm of a ratio was seen.
#[derive(Clone, Debug)]
pub struct Ratios {
    counts: [f64; BINS],
    total: f64,
}

impl Ratios {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self { counts: [0.0; BINS], total: 0.0 }
    }

    /// Sees the logarithm of a ratio, with a weight.
    pub fn see(&mut self, log: f64, weight: f64) {
        self.counts[bin(log)] += weight;
        self.total += weight;
    }

    /// Forgets: what was seen weighs `factor` as much from now on.
    pub fn fade(&mut self, factor: f64) {
        self.counts.iter_mut().for_each(|count| *count *= factor);
        self.total *= factor;
    }

    /// The logarithms of the density, worked out for every logarithm of a ratio.
    pub fn scale(&self) -> RatioScale {
        RatioScale(std::array::from_fn(|at| self.log_density_in(at)))
    }

    fn log_density_in(&self, at: usize) -> f64 {
        let count = |at: usize| self.counts.get(at).copied().unwrap_or(0.0);
        let smooth = (count(at.wrapping_sub(1)) + 2.0 * count(at) + count(at + 1)) / 4.0;
        let share = (smooth + PRIOR / BINS as f64) / (self.total + PRIOR);
        (share / width(at)).ln()
    }
}

/// What [`Ratios`] say, ready to be looked up.
pub struct RatioScale([f64; BINS]);

impl RatioScale {
    /// The logarithm of the density at the logarithm of a ratio.
    pub fn log_density(&self, log: f64) -> f64 {
        self.0[bin(log)]
    }
}

fn bin(log: f64) -> usize {
    let step = (((1.0 + log.abs() / FINEST).ln() * STEPS) as usize).min(SIDE - 1);
    if log >= 0.0 { SIDE + step } else { SIDE - 1 - step }
}

fn width(bin: usize) -> f64 {
    let step = if bin >= SIDE { bin - SIDE } else { SIDE - 1 - bin } as f64;
    let edge = |step: f64| ((step / STEPS).exp() - 1.0) * FINEST;
    edge(step + 1.0) - edge(step)
}

/// Delays that are known well enough to judge others by: when, the delay's logarithm, whose.
#[derive(Default)]
pub struct Anchors {
    known: Vec<(i64, f64, u32)>,
}

impl Anchors {
    /// Collects what is known.
    pub fn new(mut known: Vec<(i64, f64, u32)>) -> Self {
        known.sort_unstable_by_key(|&(at_ns, _, whose)| (at_ns, whose));
        Self { known }
    }

    /// The median of the nearest delays before and after a moment, not counting one's own.
    pub fn reference(&self, at_ns: i64, own: u32) -> Option<f64> {
        let from = self.known.partition_point(|&(known_ns, _, _)| known_ns < at_ns);
        let others = |&&(_, _, whose): &&(i64, f64, u32)| whose != own;
        let before = self.known[..from].iter().rev().filter(others).take(NEAR);
        let after = self.known[from..].iter().filter(others).take(NEAR);
        let mut near: Vec<f64> = before.chain(after).map(|&(_, log, _)| log).collect();
        near.sort_unstable_by(f64::total_cmp);
        near.get(near.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_near_one_are_told_apart_finely() {
        let mut it = Ratios::new();
        (0..1_000).for_each(|n| it.see(f64::from(n % 10) * 0.001, 1.0));
        let it = it.scale();
        assert!(it.log_density(0.005) > it.log_density(0.5) + 3.0);
        let area: f64 = (0..BINS)
            .map(|at| {
                width(at)
                    * (it.log_density(if at >= SIDE {
                        ((at - SIDE) as f64 / STEPS).exp() * FINEST - FINEST + 1e-9
                    } else {
                        FINEST - ((SIDE - 1 - at) as f64 / STEPS).exp() * FINEST - 1e-9
                    }))
                    .exp()
            })
            .sum();
        assert!((area - 1.0).abs() < 0.02, "{area}");
    }

    #[test]
    fn a_reference_is_the_median_of_the_neighbours_without_oneself() {
        let anchors = Anchors::new((0..20).map(|n| (i64::from(n) * 10, f64::from(n), n)).collect());
        assert_eq!(anchors.reference(100, 10), Some(11.0));
        assert_eq!(anchors.reference(-5, 99), Some(1.0));
        assert_eq!(Anchors::new(vec![(1, 1.0, 7)]).reference(1, 7), None);
    }
}
