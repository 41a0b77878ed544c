//! Whether the driver limited what it measured, judged as the report judges it: by what was sent,
//! and by the CPU of the seconds that lie, in the runtime.

use crate::plan::Phase;
use anyhow::Result;
use hdrhistogram::Histogram;
use std::ops::Range;

/// A lag at the 99th percentile above this makes the driver a bottleneck.
const LARGEST_LAG_NS: u64 = 5_000_000;
/// A share of one core above this makes the driver a bottleneck.
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

/// What the driver is judged by. Times are nanoseconds since the epoch.
pub struct Judgement {
    span: Range<i64>,
    lag: Times,
    largest_lag_ns: u64,
    /// Failures at a limit of the driver's own: how many, and the first one's name.
    unopened: u64,
    own_limit: Option<String>,
    cpu_ns: i64,
    watched_ns: i64,
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
            cpu_ns: 0,
            watched_ns: 0,
        })
    }

    /// Judges what happens in `span` only.
    pub fn narrow(&mut self, span: Range<i64>) {
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

    /// Notes the CPU time of a second.
    pub fn second(&mut self, second: Range<i64>, cpu_ns: i64) {
        if second.start >= self.span.start && second.end <= self.span.end {
            self.cpu_ns += cpu_ns;
            self.watched_ns += second.end - second.start;
        }
    }

    /// How late interactions started; `None` when none did.
    pub fn lag(&self, quantile: f64) -> Option<u64> {
        at(&self.lag, quantile)
    }

    /// How late the latest one started.
    pub fn largest_lag_ns(&self) -> Option<u64> {
        (!self.lag.is_empty()).then_some(self.largest_lag_ns)
    }

    /// CPU time as a share of one core; `None` when no whole second was watched.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.cpu_ns as f64 / self.watched_ns as f64)
    }

    /// Why the driver limited what it measured, if it did. `whole_cpu_share` stands in for the
    /// runtime's when no whole second of it was watched.
    pub fn bottleneck(&self, whole_cpu_share: f64) -> Option<String> {
        if let Some(lag) = self.lag(0.99).filter(|lag| *lag > LARGEST_LAG_NS) {
            return Some(format!(
                "one in a hundred requests started {:.1} ms late or more (limit 5 ms)",
                lag as f64 / 1e6
            ));
        }
        let cpu_share = self.cpu_share().unwrap_or(whole_cpu_share);
        if cpu_share > LARGEST_CPU_SHARE {
            let percent = cpu_share * 100.0;
            return Some(format!("the driver used {percent:.0} % of a core (limit 85 %)"));
        }
        let name = self.own_limit.as_ref()?;
        let count = self.unopened;
        Some(format!("{count} connections could not be opened on the driver's side ({name})"))
    }
}

fn is_own_limit(error: &str) -> bool {
    matches!(error.strip_prefix("image_").unwrap_or(error), "no_descriptors" | "no_address")
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
        assert_eq!((judgement.cpu_share(), judgement.bottleneck(0.5)), (None, None));
        judgement.interaction(990, 1_000, None);
        judgement.second(1_000..2_000, 900);
        assert_eq!(judgement.largest_lag_ns(), Some(10));
        assert_eq!(judgement.cpu_share(), Some(0.9));
        assert!(judgement.bottleneck(0.0).is_some_and(|why| why.contains("90 % of a core")));
        judgement.interaction(1_000 - LATE, 1_000, None);
        assert!(judgement.bottleneck(0.0).is_some_and(|why| why.contains("late")));
    }

    #[test]
    fn a_limit_of_the_drivers_own_is_a_bottleneck() {
        let mut judgement = Judgement::new().expect("bounds of the histogram");
        judgement.interaction(1, 1, Some("refused"));
        assert_eq!(judgement.bottleneck(0.0), None);
        judgement.interaction(1, 1, Some("image_no_descriptors"));
        assert!(judgement.bottleneck(0.0).is_some_and(|why| why.starts_with("1 connections")));
    }
}
