//! How long after an operation the next one comes, where the workload says so: think times and cycle
//! times as the Faban driver framework draws them (A. Sucharitakul, Sun Microsystems, 2005-2009,
//! classes `NegativeExponential`, `Uniform` and `FixedTime`).

use crate::random::Stream;
use serde::Deserialize;

/// The delay after an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// From when on it counts.
    pub from: From,
    /// How it is drawn.
    #[serde(default)]
    pub distribution: Distribution,
    /// Its mean. A uniform one's is halfway between minimum and maximum.
    pub mean_ns: i64,
    /// No delay is shorter. The exponential curve begins there: it is shifted, not cut, and the mean
    /// stays what it is.
    #[serde(default)]
    pub min_ns: i64,
    /// A longer one becomes this; five times the mean when null.
    pub max_ns: Option<i64>,
}

/// From when on a delay counts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// From the start of the operation to the start of the next: a cycle time. Where the operation
    /// takes longer, the next one starts at its end, late, and nothing is made up for.
    Start,
    /// From its end: a think time.
    End,
}

/// How a delay is drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Exponentially above the minimum, with the mean.
    #[default]
    NegativeExponential,
    /// Evenly from the minimum to the maximum.
    Uniform,
    /// Always the mean.
    Fixed,
}

impl Delay {
    /// The longest one.
    pub fn longest_ns(&self) -> i64 {
        self.max_ns.unwrap_or_else(|| self.mean_ns.saturating_mul(5))
    }

    /// Draws one.
    pub fn draw(&self, random: &mut Stream) -> i64 {
        match self.distribution {
            Distribution::Fixed => self.mean_ns,
            Distribution::Uniform => {
                let width = (self.longest_ns() - self.min_ns) as f64;
                self.min_ns + (random.unit() * width) as i64
            }
            Distribution::NegativeExponential => {
                let above = random.exponential((self.mean_ns - self.min_ns) as f64);
                self.min_ns.saturating_add(above as i64).min(self.longest_ns())
            }
        }
    }

    /// What is wrong with it, if anything; `longest_ns` is the longest time there may be.
    pub fn problem(&self, longest_ns: i64) -> Option<&'static str> {
        let ordered = 0 <= self.min_ns
            && self.min_ns <= self.mean_ns
            && self.mean_ns <= self.longest_ns()
            && self.longest_ns() <= longest_ns;
        (!ordered).then_some("`delay` needs 0 <= `min_ns` <= `mean_ns` <= `max_ns` <= ten years")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn drawn(min_ns: i64) -> Vec<i64> {
        let delay = Delay {
            from: From::Start,
            distribution: Distribution::NegativeExponential,
            mean_ns: 5_000_000,
            min_ns,
            max_ns: None,
        };
        let mut random = Stream::new(7, 0);
        (0..DRAWS).map(|_| delay.draw(&mut random)).collect()
    }

    /// The mean of `min` plus an exponential of mean `m`, cut at `max`: min + m (1 - exp(-(max - min) / m)).
    fn expected(min_ns: f64) -> f64 {
        let above = 5e6 - min_ns;
        min_ns + above * (1.0 - (-(25e6 - min_ns) / above).exp())
    }

    #[test]
    fn the_curve_is_shifted_to_its_minimum_and_keeps_its_mean() {
        for min_ns in [0, 3_000_000] {
            let drawn = drawn(min_ns);
            let mean = drawn.iter().sum::<i64>() as f64 / DRAWS as f64;
            let spread = 5e6 - min_ns as f64;
            let bound = 5.0 * spread / (DRAWS as f64).sqrt();
            assert!((mean - expected(min_ns as f64)).abs() < bound, "{mean} of {min_ns}");
            // A cut curve would pile up at the minimum: 45 of 100 draws at 3 of 5 seconds.
            let near = drawn.iter().filter(|delay| **delay < min_ns + 20_000).count();
            assert!((near as f64) < 0.02 * DRAWS as f64, "{near} near the minimum");
            assert!(drawn.iter().all(|delay| (min_ns..=25_000_000).contains(delay)));
        }
    }

    #[test]
    fn five_times_the_mean_is_the_most() {
        assert_eq!(drawn(0).into_iter().max(), Some(25_000_000));
    }

    #[test]
    fn what_is_out_of_order_is_refused() {
        let delay = |min_ns, mean_ns, max_ns| Delay {
            from: From::End,
            distribution: Distribution::Fixed,
            mean_ns,
            min_ns,
            max_ns,
        };
        assert_eq!(delay(0, 5, None).problem(100), None);
        for (min_ns, mean_ns, max_ns) in
            [(-1, 5, None), (6, 5, None), (0, 5, Some(4)), (0, 21, None)]
        {
            assert!(delay(min_ns, mean_ns, max_ns).problem(100).is_some());
        }
    }
}
