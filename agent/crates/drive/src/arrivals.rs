//! When the open loop's interactions start.

use crate::curve::Curve;
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
    /// Since the start of the run, at the full rate; a float, so that gaps do not round.
    next: f64,
    /// Of a rate that changes.
    curve: Option<Curve>,
    next_ns: i64,
    start_ns: i64,
}

impl ArrivalTimes {
    /// The `share` of the arrivals from `start_ns` on at `rate_per_s`, or at a `curve`'s levels of
    /// it: those at the full rate, each put off until there has been as much load (inversion of the
    /// cumulative rate; E. Çinlar, "Introduction to Stochastic Processes", 1975). Poisson arrivals
    /// are a Poisson process of that rate then.
    pub fn new(
        kind: Arrivals,
        rate_per_s: f64,
        curve: Option<Curve>,
        seed: u64,
        start_ns: i64,
        share: Share,
    ) -> Self {
        // Users have the numbers up to u32::MAX; the arrivals have a stream of their own.
        let random = Stream::new(seed, u64::MAX);
        let gap_ns = 1e9 / rate_per_s;
        let mut times =
            Self { kind, share, gap_ns, random, next: 0.0, curve, next_ns: start_ns, start_ns };
        times.skip(share.first + u32::from(kind == Arrivals::Poisson));
        times
    }

    /// The next arrival.
    pub fn next_ns(&self) -> i64 {
        self.next_ns
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
        let next = self.curve.as_ref().map_or(self.next, |curve| curve.when(self.next));
        self.next_ns = self.start_ns.saturating_add(next as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::plan::Point;

    const ALONE: Share = Share { first: 0, of: 1, from: 0 };

    fn times(kind: Arrivals, count: usize) -> Vec<i64> {
        times_of(ALONE, kind, count)
    }

    fn times_of(share: Share, kind: Arrivals, count: usize) -> Vec<i64> {
        taken(ArrivalTimes::new(kind, 1000.0, None, 1, 500, share), count)
    }

    /// A day of ten seconds, with a burst and a pause in it, at a rate of 1,000/s at most.
    fn shaped(share: Share, kind: Arrivals, count: usize) -> Vec<i64> {
        let points = DAY.map(|(at, level)| Point { at_ns: at * 1_000_000_000, level });
        taken(ArrivalTimes::new(kind, 1000.0, Curve::new(&points), 1, 0, share), count)
    }

    const DAY: [(i64, f64); 9] =
        [(0, 0.2), (3, 0.8), (4, 0.8), (4, 1.0), (5, 1.0), (5, 0.6), (7, 0.0), (8, 0.0), (10, 0.5)];

    fn taken(mut arrivals: ArrivalTimes, count: usize) -> Vec<i64> {
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
    fn threads_share_the_same_arrivals_of_a_curve() {
        for kind in [Arrivals::Constant, Arrivals::Poisson] {
            for threads in 2..4 {
                let shared = Share::each(threads, 0).flat_map(|share| shaped(share, kind, 600));
                let mut shared: Vec<i64> = shared.collect();
                shared.sort_unstable();
                assert_eq!(shared, shaped(ALONE, kind, 600 * threads as usize));
            }
        }
    }

    /// The integral of a curve's line from 0 to `at` seconds, in closed form.
    fn integral(at: f64) -> f64 {
        DAY.windows(2)
            .map(|pair| {
                let ((from, low), (to, high)) = (pair[0], pair[1]);
                let (from, to) = (from as f64, to as f64);
                let until = at.clamp(from, to) - from;
                let slope = if to > from { (high - low) / (to - from) } else { 0.0 };
                low * until + slope * until * until / 2.0
            })
            .sum()
    }

    #[test]
    fn counts_in_windows_follow_the_integral_of_the_curve() {
        let whole = 1000.0 * integral(10.0);
        let arrivals = shaped(ALONE, Arrivals::Poisson, whole as usize * 2);
        let expected = |window: i64| {
            let from = window as f64 / 4.0;
            1000.0 * (integral(from + 0.25) - integral(from))
        };
        let mut chi2 = 0.0;
        let mut windows = 0;
        for window in 0..40 {
            let (from, to) = (window * 250_000_000, (window + 1) * 250_000_000);
            let count = arrivals.iter().filter(|at| (from..to).contains(*at)).count() as f64;
            let wanted = expected(window);
            if wanted == 0.0 {
                assert_eq!(count, 0.0, "window {window}");
            } else {
                chi2 += (count - wanted).powi(2) / wanted;
                windows += 1;
            }
        }
        // Chi-square with as many degrees of freedom: five standard deviations about its mean.
        let freedom = f64::from(windows);
        assert!((chi2 - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{chi2} of {windows}");
    }

    #[test]
    fn even_arrivals_of_a_curve_are_where_its_integral_is_whole() {
        for (number, at) in shaped(ALONE, Arrivals::Constant, 3000).into_iter().enumerate() {
            let there = 1000.0 * integral(at as f64 / 1e9);
            assert!((there - number as f64).abs() < 1e-3, "arrival {number} at {at}: {there}");
        }
    }

    #[test]
    fn what_never_arrives_does_not_overflow() {
        let mut arrivals = ArrivalTimes::new(Arrivals::Constant, 1e-300, None, 1, 500, ALONE);
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
