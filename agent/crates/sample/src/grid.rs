//! Ticks that do not drift: absolute times on a grid of the monotonic clock.

use tierlab_record::clock;

/// The grid `origin + k * interval`.
#[derive(Debug)]
pub struct Grid {
    origin_ns: i64,
    interval_ns: i64,
    next: i64,
}

/// A tick that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// How long after its time on the grid it came.
    pub late_ns: i64,
    /// How many ticks before it were passed over, because their time had gone when the work of the
    /// tick before was done.
    pub missed: i64,
}

impl Grid {
    /// A grid on which whole intervals since the epoch are ticks, so that rows of different
    /// tables, runs and machines line up; `now` and `epoch` are the two clocks at one moment.
    pub fn aligned(interval_ns: i64, monotonic_ns: i64, realtime_ns: i64) -> Self {
        let to_next = interval_ns - realtime_ns.rem_euclid(interval_ns);
        Self { origin_ns: monotonic_ns + to_next, interval_ns, next: 0 }
    }

    /// Sleeps until the next tick. `None` when a signal arrived first.
    pub fn wait(&mut self) -> Option<Tick> {
        let now = clock::monotonic_ns();
        let missed = self.skip_past(now);
        let due = self.due();
        if !sleep_until(due) {
            return None;
        }
        self.next += 1;
        Some(Tick { late_ns: (clock::monotonic_ns() - due).max(0), missed })
    }

    /// Lateness from which a tick is worth an event: a tenth of the interval, 1 ms at least.
    pub fn tolerance_ns(&self) -> i64 {
        (self.interval_ns / 10).max(1_000_000)
    }

    fn due(&self) -> i64 {
        self.origin_ns + self.next * self.interval_ns
    }

    /// Moves on to the first tick that is not before `now`; returns how many were passed over.
    fn skip_past(&mut self, now: i64) -> i64 {
        let behind = now - self.due();
        if behind <= 0 {
            return 0;
        }
        let missed = (behind + self.interval_ns - 1) / self.interval_ns;
        self.next += missed;
        missed
    }
}

/// False when a signal arrived first.
fn sleep_until(monotonic_ns: i64) -> bool {
    let until = libc::timespec {
        tv_sec: monotonic_ns / 1_000_000_000,
        tv_nsec: monotonic_ns % 1_000_000_000,
    };
    // SAFETY: `until` is a valid timespec; the remaining time is not asked for.
    let result = unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &until,
            std::ptr::null_mut(),
        )
    };
    result == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn whole_intervals_since_the_epoch_are_ticks() {
        let grid = Grid::aligned(50 * MS, 1_000 * MS, 7_777 * MS);
        assert_eq!(grid.due(), 1_000 * MS + 23 * MS);
        let (monotonic, realtime) = (clock::monotonic_ns(), clock::realtime_ns());
        let grid = Grid::aligned(10 * MS, monotonic, realtime);
        assert_eq!((grid.due() - monotonic + realtime) % (10 * MS), 0);
        assert!(grid.due() > monotonic);
    }

    #[test]
    fn passed_ticks_are_counted_and_the_grid_is_kept() {
        let mut grid = Grid { origin_ns: 0, interval_ns: 10, next: 5 };
        assert_eq!(grid.skip_past(49), 0);
        assert_eq!(grid.skip_past(50), 0);
        assert_eq!(grid.skip_past(51), 1);
        assert_eq!(grid.due(), 60);
        assert_eq!(grid.skip_past(100), 4);
        assert_eq!(grid.due(), 100);
    }

    #[test]
    fn a_hundred_ticks_of_10_ms_take_a_second() {
        let mut grid = Grid::aligned(10 * MS, clock::monotonic_ns(), clock::realtime_ns());
        grid.wait().unwrap();
        let start = clock::monotonic_ns();
        let mut ticks = 0;
        while ticks < 100 {
            let tick = grid.wait().unwrap();
            ticks += 1 + tick.missed;
        }
        let took = clock::monotonic_ns() - start;
        assert!((took - ticks * 10 * MS).abs() < 50 * MS, "{ticks} ticks took {took} ns");
    }
}
