//! Each user's own stream of random numbers, so that what a user does depends on the seed, the
//! user's number and the pages, and not on timing.

use rand_core::Rng;
use rand_pcg::Pcg32;

/// A stream of random numbers in 16 bytes.
pub struct Stream(Pcg32);

impl Stream {
    /// The stream of the user `number` under `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(Pcg32::new(mix(seed ^ mix(number)), number))
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..bound; 0 when `bound` is 0. The bias of the multiplication is below 2^-32.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32) as u32
    }

    /// Uniform in low..=high.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.unit() * (f64::from(high - low) + 1.0)) as u32
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// SplitMix64's finaliser (Steele, Lea and Flood, OOPSLA 2014): a bijection that scatters.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_user_and_seed() {
        let draws = |seed, user| {
            let mut stream = Stream::new(seed, user);
            (0..8).map(|_| stream.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1, 7), draws(1, 7));
        assert_ne!(draws(1, 7), draws(1, 8));
        assert_ne!(draws(1, 7), draws(2, 7));
    }

    #[test]
    fn first_draws_of_neighbouring_users_are_uniform() {
        let mean = (0..10_000).map(|user| Stream::new(1, user).unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 5.0 * (1.0f64 / 12.0 / 10_000.0).sqrt(), "mean {mean}");
    }

    #[test]
    fn bounds_are_reached_and_kept() {
        let mut stream = Stream::new(3, 0);
        let drawn: Vec<u32> = (0..1000).map(|_| stream.between(3, 5)).collect();
        assert!([3, 4, 5].iter().all(|n| drawn.contains(n)) && drawn.iter().all(|n| *n <= 5));
        assert_eq!(stream.below(0), 0);
    }
}
