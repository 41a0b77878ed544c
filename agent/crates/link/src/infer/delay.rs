//! Distributions of delays, kept as histograms on a logarithmic axis.

/// Buckets to a factor of two.
const STEPS: f64 = 4.0;
/// Buckets on each side of zero: up to 2^36 µs, which is 19 hours.
const SIDE: usize = 144;
/// How many buckets there are.
pub const BUCKETS: usize = 2 * SIDE;
/// Delays are told apart down to this.
const UNIT_NS: f64 = 1_000.0;
/// Weight of what is not known: a delay as likely in one bucket as in another.
const PRIOR: f64 = 1.0;

/// A delay, ready to be looked up.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// Its [`bucket`].
    pub bucket: u16,
    /// The natural logarithm of its seconds; none when it is not positive.
    pub log: Option<f64>,
}

impl Delay {
    /// A delay in nanoseconds.
    pub fn new(delay_ns: i64) -> Self {
        let log = (delay_ns > 0).then(|| (delay_ns as f64 * 1e-9).ln());
        Self { bucket: bucket(delay_ns) as u16, log }
    }
}

/// How often which delay was seen; a negative one is the second moment before the first.
#[derive(Clone, Debug)]
pub struct Delays {
    counts: Box<[f64; BUCKETS]>,
    total: f64,
}

impl Delays {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self { counts: Box::new([0.0; BUCKETS]), total: 0.0 }
    }

    /// Sees a delay, with a weight.
    pub fn see(&mut self, delay_ns: i64, weight: f64) {
        self.see_at(bucket(delay_ns), weight);
    }

    /// Sees a delay by its [`bucket`], with a weight.
    pub fn see_at(&mut self, bucket: usize, weight: f64) {
        self.counts[bucket] += weight;
        self.total += weight;
    }

    /// Forgets: what was seen weighs `factor` as much from now on.
    pub fn fade(&mut self, factor: f64) {
        self.counts.iter_mut().for_each(|count| *count *= factor);
        self.total *= factor;
    }

    /// The weight of all that was seen.
    pub fn weight(&self) -> f64 {
        self.total
    }

    /// The probability density at a delay, per second.
    pub fn density(&self, delay_ns: i64) -> f64 {
        self.density_at(bucket(delay_ns))
    }

    /// The probability density in a [`bucket`], per second.
    pub fn density_at(&self, at: usize) -> f64 {
        let share = (self.smoothed(at) + PRIOR / BUCKETS as f64) / (self.total + PRIOR);
        share / width_s(at)
    }

    /// The probability that a delay is longer than this one.
    pub fn survival(&self, delay_ns: i64) -> f64 {
        let longer: f64 = self.counts[bucket(delay_ns) + 1..].iter().sum();
        (longer + PRIOR / 2.0) / (self.total + PRIOR)
    }

    /// The count of a bucket, smoothed by a triangle that is five buckets wide.
    fn smoothed(&self, at: usize) -> f64 {
        let count = |step: isize| {
            at.checked_add_signed(step).and_then(|at| self.counts.get(at)).copied().unwrap_or(0.0)
        };
        (count(-2) + 2.0 * count(-1) + 3.0 * count(0) + 2.0 * count(1) + count(2)) / 9.0
    }
}

/// The bucket of a delay, below [`BUCKETS`].
pub fn bucket(delay_ns: i64) -> usize {
    let size = delay_ns.unsigned_abs() as f64 / UNIT_NS;
    let step = (((1.0 + size).log2() * STEPS) as usize).min(SIDE - 1);
    if delay_ns >= 0 { SIDE + step } else { SIDE - 1 - step }
}

fn width_s(bucket: usize) -> f64 {
    let step = if bucket >= SIDE { bucket - SIDE } else { SIDE - 1 - bucket } as f64;
    let edge = |step: f64| (step / STEPS).exp2();
    (edge(step + 1.0) - edge(step)) * UNIT_NS * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_integrates_to_one() {
        let mut it = Delays::new();
        for n in 0..1_000 {
            it.see(n * 10_000 - 50_000, 1.0);
        }
        let mass: f64 = (0..BUCKETS)
            .map(|at| (it.smoothed(at) + PRIOR / BUCKETS as f64) / (it.total + PRIOR))
            .sum();
        assert!((mass - 1.0).abs() < 1e-3, "{mass}");
        let step_ns = 1_000;
        let area: f64 = (-100_000..20_000_000_i64)
            .step_by(step_ns)
            .map(|delay| it.density(delay) * step_ns as f64 * 1e-9)
            .sum();
        assert!((0.97..1.01).contains(&area), "{area}");
    }

    #[test]
    fn what_was_seen_is_denser_than_what_was_not() {
        let mut it = Delays::new();
        (0..100).for_each(|n| it.see(1_000_000 + n, 1.0));
        assert!(it.density(1_000_000) > 50.0 * it.density(20_000_000));
        assert!(it.survival(10_000) > 0.98 && it.survival(10_000_000) < 0.02);
        it.fade(0.5);
        assert!((it.weight() - 50.0).abs() < 1e-9);
    }
}
