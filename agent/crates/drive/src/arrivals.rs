//! When the open loop's interactions start.

use crate::plan::Arrivals;
use crate::random::Stream;
use crate::share::Share;

/// One thread's arrival times, in order: of N threads every N-th arrival of the run. Each thread
/// draws them all, so that they are the same whatever the number of threads.
pub struct ArrivalTimes {
    kind: Arrivals,
    share: Share,
    gap_ns: f64,
    random: Stream,
    /// Since the start of the run; a float, so that gaps do not round.
    next: f64,
    start_ns: i64,
}

impl ArrivalTimes {
    /// The `share` of the arrivals from `start_ns` on at `rate_per_s`.
    pub fn new(kind: Arrivals, rate_per_s: f64, seed: u64, start_ns: i64, share: Share) -> Self {
        // Users have the numbers up to u32::MAX; the arrivals have a stream of their own.
        let random = Stream::new(seed, u64::MAX);
        let mut times = Self { kind, share, gap_ns: 1e9 / rate_per_s, random, next: 0.0, start_ns };
        times.skip(share.first + u32::from(kind == Arrivals::Poisson));
        times
    }

    /// The next arrival.
    pub fn next_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.next as i64)
    }

    /// Goes on to the thread's one after it.
    pub fn advance(&mut self) {
        self.skip(self.share.of);
    }

    /// Goes on by so many arrivals of the run.
    fn skip(&mut self, arrivals: u32) {
        for _ in 0..arrivals {
            self.next += match self.kind {
                Arrivals::Constant => self.gap_ns,
                Arrivals::Poisson => self.random.exponential(self.gap_ns),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Share = Share { first: 0, of: 1, from: 0 };

    fn times(kind: Arrivals, count: usize) -> Vec<i64> {
        times_of(ALONE, kind, count)
    }

    fn times_of(share: Share, kind: Arrivals, count: usize) -> Vec<i64> {
        let mut arrivals = ArrivalTimes::new(kind, 1000.0, 1, 500, share);
        (0..count)
            .map(|_| {
                let at = arrivals.next_ns();
                arrivals.advance();
                at
            })
            .collect()
    }

    #[test]
    fn constant_arrivals_are_even() {
        assert_eq!(times(Arrivals::Constant, 3), [500, 1_000_500, 2_000_500]);
    }

    #[test]
    fn threads_share_the_same_arrivals() {
        for kind in [Arrivals::Constant, Arrivals::Poisson] {
            for threads in 2..4 {
                let shared = Share::each(threads, 0).flat_map(|share| times_of(share, kind, 600));
                let mut shared: Vec<i64> = shared.collect();
                shared.sort_unstable();
                assert_eq!(shared, times(kind, 600 * threads as usize));
            }
        }
    }

    #[test]
    fn what_never_arrives_does_not_overflow() {
        let mut arrivals = ArrivalTimes::new(Arrivals::Constant, 1e-300, 1, 500, ALONE);
        arrivals.advance();
        assert_eq!(arrivals.next_ns(), i64::MAX);
    }

    #[test]
    fn poisson_counts_have_the_variance_of_their_mean() {
        let mut counts = vec![0f64; 1000];
        for at in times(Arrivals::Poisson, 20_000) {
            if let Some(count) = counts.get_mut((at / 10_000_000) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 999.0;
        // Standard error of the ratio: sqrt(2 / 999) = 0.045.
        assert!((variance / mean - 1.0).abs() < 5.0 * 0.045, "{variance} / {mean}");
    }
}
