//! The one rule for clocks: a point in time that is recorded is CLOCK_REALTIME in nanoseconds since
//! the epoch (UTC); lengths and waits are CLOCK_MONOTONIC, so that a clock that is set meanwhile
//! stretches or cuts none of them.

use std::sync::OnceLock;

fn now(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec; both clock ids exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Nanoseconds since the epoch (UTC).
pub fn realtime_ns() -> i64 {
    now(libc::CLOCK_REALTIME)
}

/// Nanoseconds of the monotonic clock.
pub fn monotonic_ns() -> i64 {
    now(libc::CLOCK_MONOTONIC)
}

/// What the monotonic clock shows in so long: the end of time if it never shows it.
pub fn monotonic_in(duration_ns: i64) -> i64 {
    monotonic_ns().saturating_add(duration_ns)
}

/// Both clocks at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the epoch, for the table.
    pub t_ns: i64,
    /// Nanoseconds of the monotonic clock, for lengths.
    pub monotonic_ns: i64,
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self { t_ns: realtime_ns(), monotonic_ns: monotonic_ns() }
    }

    /// Now, a short while after `earlier`, in which the two clocks have gone alike.
    pub fn after(earlier: Self) -> Self {
        let monotonic_ns = monotonic_ns();
        Self { t_ns: earlier.t_ns + monotonic_ns - earlier.monotonic_ns, monotonic_ns }
    }

    /// Nanoseconds since `earlier`, at least 1 so that it can be divided by.
    pub fn since(self, earlier: Self) -> i64 {
        (self.monotonic_ns - earlier.monotonic_ns).max(1)
    }
}

/// Nanoseconds since the epoch by a clock that nobody sets: CLOCK_REALTIME when this process first
/// asked, moved on by CLOCK_MONOTONIC. For waiting for a time that was agreed upon beforehand.
pub fn steady_ns() -> i64 {
    monotonic_ns() + steady_offset_ns()
}

/// What the monotonic clock shows when the steady one shows `steady_ns`.
pub fn monotonic_at(steady_ns: i64) -> i64 {
    steady_ns - steady_offset_ns()
}

fn steady_offset_ns() -> i64 {
    static OFFSET_NS: OnceLock<i64> = OnceLock::new();
    *OFFSET_NS.get_or_init(|| realtime_ns() - monotonic_ns())
}

/// CPU time that this process has used, in nanoseconds.
pub fn process_cpu_ns() -> i64 {
    now(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    now(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_agrees_with_the_standard_library() {
        let theirs = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970")
            .as_nanos() as i64;
        assert!((realtime_ns() - theirs).abs() < 50_000_000);
    }

    #[test]
    fn the_steady_clock_tells_the_time_of_day_and_runs_with_the_monotonic_one() {
        let steady = steady_ns();
        assert!((steady - realtime_ns()).abs() < 50_000_000);
        let before = monotonic_ns();
        let at = monotonic_at(steady_ns());
        assert!(before <= at && at <= monotonic_ns());
    }

    #[test]
    fn a_duration_that_is_longer_than_time_goes_on_does_not_end_in_the_past() {
        assert_eq!(monotonic_in(i64::MAX), i64::MAX);
        let now = monotonic_ns();
        assert!((now + 5..now + 1_000_000_005).contains(&monotonic_in(5)));
    }

    #[test]
    fn monotonic_never_goes_back() {
        let ticks: Vec<i64> = (0..10_000).map(|_| monotonic_ns()).collect();
        assert!(ticks.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
