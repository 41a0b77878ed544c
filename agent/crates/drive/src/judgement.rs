//! Whether the driver limited what it measured, judged as the report judges it: by what was sent,
//! and by the CPU of the seconds that lie, in the runtime.

use crate::plan::Phase;
use anyhow::Result;
use hdrhistogram::Histogram;
use std::ops::Range;

/// A lag at the 99th percentile above this makes the driver a bottleneck.
const LARGEST_LAG_NS: u64 = 5_000_000;
/// A share of one core above this makes the thread that uses it a bottleneck.
const LARGEST_CPU_SHARE: f64 = 0.85;
/// The phase that is judged; of a plan without it, all phases are.
const JUDGED_PHASE: &str = "runtime";

/// Times in nanoseconds at three digits.
pub type Times = Histogram<u64>;

/// Times longer than an hour count as one.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// No times yet.
pub fn times() -> Result<Times> {
    Ok(Histogram::new_with_bounds(1, LONGEST_NS, 3)?)
}

/// A quantile in nanoseconds; `None` of no times.
pub fn at(times: &Times, quantile: f64) -> Option<u64> {
    (!times.is_empty()).then(|| times.value_at_quantile(quantile))
}

/// What the driver, or one of its threads, is judged by. Times are nanoseconds since the epoch.
pub struct Judgement {
    span: Range<i64>,
    lag: Times,
    largest_lag_ns: u64,
    /// Failures at a limit of the driver's own: how many, and the first one's name.
    unopened: u64,
    own_limit: Option<String>,
    /// Of the busiest thread.
    cpu: CpuUse,
}

/// CPU time, in the judged span and in all.
pub struct CpuUse {
    span: Range<i64>,
    in_span: Spent,
    whole: Spent,
}

#[derive(Default)]
struct Spent {
    cpu_ns: i64,
    of_ns: i64,
}

impl Spent {
    fn add(&mut self, cpu_ns: i64, of_ns: i64) {
        self.cpu_ns += cpu_ns;
        self.of_ns += of_ns;
    }

    fn share(&self) -> Option<f64> {
        (self.of_ns > 0).then(|| self.cpu_ns as f64 / self.of_ns as f64)
    }
}

impl CpuUse {
    /// None yet, of a span.
    pub fn new(span: Range<i64>) -> Self {
        Self { span, in_span: Spent::default(), whole: Spent::default() }
    }

    /// Notes the CPU time of a second.
    pub fn second(&mut self, second: Range<i64>, cpu_ns: i64) {
        let of_ns = second.end - second.start;
        self.whole.add(cpu_ns, of_ns);
        if second.start >= self.span.start && second.end <= self.span.end {
            self.in_span.add(cpu_ns, of_ns);
        }
    }

    /// As a share of one core in the span; `None` when no whole second of it was noted.
    pub fn share(&self) -> Option<f64> {
        self.in_span.share()
    }

    /// The same; of all seconds when none of the span was noted.
    pub fn share_or_whole(&self) -> f64 {
        self.share().or_else(|| self.whole.share()).unwrap_or(0.0)
    }
}

/// The part of a run that begins at `start_ns` by which the driver is judged.
pub fn judged_span(phases: &[Phase], start_ns: i64) -> Range<i64> {
    let mut from_ns = start_ns;
    for phase in phases {
        let to_ns = from_ns + phase.duration_ns;
        if phase.name == JUDGED_PHASE {
            return from_ns..to_ns;
        }
        from_ns = to_ns;
    }
    i64::MIN..i64::MAX
}

impl Judgement {
    /// Judges what happens at any time, until [`Judgement::narrow`] says when.
    pub fn new() -> Result<Self> {
        Ok(Self {
            span: i64::MIN..i64::MAX,
            lag: times()?,
            largest_lag_ns: 0,
            unopened: 0,
            own_limit: None,
            cpu: CpuUse::new(i64::MIN..i64::MAX),
        })
    }

    /// Judges what happens in `span` only.
    pub fn narrow(&mut self, span: Range<i64>) {
        self.cpu.span = span.clone();
        self.span = span;
    }

    /// Notes an interaction that should have started at `intended_ns` and did at `start_ns`, and
    /// the name of its error.
    pub fn interaction(&mut self, intended_ns: i64, start_ns: i64, error: Option<&str>) {
        if !self.span.contains(&start_ns) {
            return;
        }
        let lag = (start_ns - intended_ns).max(0) as u64;
        self.lag.saturating_record(lag);
        self.largest_lag_ns = self.largest_lag_ns.max(lag);
        if let Some(error) = error.filter(|error| is_own_limit(error)) {
            self.unopened += 1;
            self.own_limit.get_or_insert_with(|| error.to_owned());
        }
    }

    /// Adds what another thread is judged by.
    pub fn add(&mut self, other: Self) -> Result<()> {
        self.lag.add(&other.lag)?;
        self.largest_lag_ns = self.largest_lag_ns.max(other.largest_lag_ns);
        self.unopened += other.unopened;
        self.own_limit = self.own_limit.take().or(other.own_limit);
        if other.cpu.share_or_whole() > self.cpu.share_or_whole() {
            self.cpu = other.cpu;
        }
        Ok(())
    }

    /// Notes the CPU time of a second of the thread's.
    pub fn second(&mut self, second: Range<i64>, cpu_ns: i64) {
        self.cpu.second(second, cpu_ns);
    }

    /// How late interactions started; `None` when none did.
    pub fn lag(&self, quantile: f64) -> Option<u64> {
        at(&self.lag, quantile)
    }

    /// How late the latest one started.
    pub fn largest_lag_ns(&self) -> Option<u64> {
        (!self.lag.is_empty()).then_some(self.largest_lag_ns)
    }

    /// The busiest thread's CPU time as a share of one core; `None` when no whole second was noted.
    pub fn busiest_thread_share(&self) -> Option<f64> {
        self.cpu.share()
    }

    /// Why the driver limited what it measured, if it did.
    pub fn bottleneck(&self) -> Option<String> {
        if let Some(lag) = self.lag(0.99).filter(|lag| *lag > LARGEST_LAG_NS) {
            return Some(format!(
                "one in a hundred requests started {:.1} ms late or more (limit 5 ms)",
                lag as f64 / 1e6
            ));
        }
        let cpu_share = self.cpu.share_or_whole();
        if cpu_share > LARGEST_CPU_SHARE {
            let percent = cpu_share * 100.0;
            return Some(format!(
                "a thread of the driver's used {percent:.0} % of a core (limit 85 %)"
            ));
        }
        let name = self.own_limit.as_ref()?;
        let count = self.unopened;
        Some(format!("{count} connections could not be opened on the driver's side ({name})"))
    }
}

fn is_own_limit(error: &str) -> bool {
    let of_part = error.strip_prefix("image_").or(error.strip_prefix("static_"));
    matches!(of_part.unwrap_or(error), "no_descriptors" | "no_address")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: i64 = 20_000_000;

    fn phases(names: &[&str]) -> Vec<Phase> {
        names.iter().map(|name| Phase { name: (*name).into(), duration_ns: 1_000 }).collect()
    }

    #[test]
    fn without_a_runtime_all_phases_are_judged() {
        let span = judged_span(&phases(&["warm", "hot"]), 0);
        assert!([0, 1_999].iter().all(|time| span.contains(time)));
    }

    #[test]
    fn only_the_runtime_is_judged() {
        let mut judgement = Judgement::new().expect("bounds of the histogram");
        judgement.narrow(judged_span(&phases(&["ramp_up", "runtime", "ramp_down"]), 0));
        judgement.interaction(999 - LATE, 999, Some("no_address"));
        judgement.interaction(2_000 - LATE, 2_000, None);
        judgement.second(0..1_000, 1_000);
        judgement.second(1_500..2_500, 1_000);
        assert_eq!((judgement.lag(0.99), judgement.largest_lag_ns()), (None, None));
        assert_eq!(judgement.busiest_thread_share(), None);
        assert!(judgement.bottleneck().is_some_and(|why| why.contains("100 % of a core")), "whole");
        judgement.interaction(990, 1_000, None);
        judgement.second(1_000..2_000, 800);
        assert_eq!(judgement.largest_lag_ns(), Some(10));
        assert_eq!((judgement.busiest_thread_share(), judgement.bottleneck()), (Some(0.8), None));
        judgement.interaction(1_000 - LATE, 1_000, None);
        assert!(judgement.bottleneck().is_some_and(|why| why.contains("late")));
    }

    #[test]
    fn the_busiest_thread_is_judged_and_the_requests_of_all() {
        let mut all = Judgement::new().expect("bounds of the histogram");
        for (cpu_ns, lag_ns) in [(500, 1), (900, 7), (600, 3)] {
            let mut thread = Judgement::new().expect("bounds of the histogram");
            thread.second(0..1_000, cpu_ns);
            thread.interaction(0, lag_ns, None);
            all.add(thread).expect("the same bounds");
        }
        assert_eq!((all.busiest_thread_share(), all.largest_lag_ns()), (Some(0.9), Some(7)));
        assert!(all.bottleneck().is_some_and(|why| why.contains("90 % of a core")));
    }

    #[test]
    fn a_limit_of_the_drivers_own_is_a_bottleneck() {
        let mut judgement = Judgement::new().expect("bounds of the histogram");
        judgement.interaction(1, 1, Some("refused"));
        assert_eq!(judgement.bottleneck(), None);
        judgement.interaction(1, 1, Some("image_no_descriptors"));
        assert!(judgement.bottleneck().is_some_and(|why| why.starts_with("1 connections")));
    }
}
