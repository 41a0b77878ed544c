//! Counters of the kernel: they only grow, except where they wrap or start anew.

/// By how much a counter grew from `before` to `now`; `None` where it started anew (a device was
/// replaced, an interface made again), since what happened in between is not known.
///
/// Some counters have 32 bits (times in diskstats, TCP's on 32-bit kernels): a fall from the upper
/// half of their range to the lower half is a wrap.
pub fn increase(before: u64, now: u64) -> Option<u64> {
    const RANGE: u64 = 1 << 32;
    if now >= before {
        return Some(now - before);
    }
    let wrapped = (RANGE / 2..RANGE).contains(&before) && now < RANGE / 2;
    wrapped.then(|| now + RANGE - before)
}

/// [`increase`] of a counter that is not everywhere, as a cell of a table, in units of `unit`.
pub fn grown(before: Option<u64>, now: Option<u64>, unit: i64) -> Option<i64> {
    Some(increase(before?, now?)? as i64 * unit)
}

/// A share of the interval that never leaves 0..1: the kernel books time late, up to a tick's worth,
/// so that a window may be given more than its length. The excess is booked on the next window, as
/// far as lateness of ticks explains it: a jump of seconds must not fill the windows that follow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    carried_ns: i64,
}

/// Two ticks of 10 ms.
const MOST_CARRIED_NS: i64 = 20_000_000;

impl Share {
    /// The share of `spent_ns` in a window of `dt_ns`.
    pub fn of(&mut self, spent_ns: i64, dt_ns: i64) -> f64 {
        let spent = spent_ns + self.carried_ns;
        let booked = spent.clamp(0, dt_ns);
        self.carried_ns = (spent - booked).clamp(-MOST_CARRIED_NS, MOST_CARRIED_NS);
        booked as f64 / dt_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_wrap_and_reset_are_told_apart() {
        assert_eq!(increase(5, 9), Some(4));
        assert_eq!(increase(u64::from(u32::MAX) - 1, 3), Some(5));
        assert_eq!(increase(1000, 3), None);
        assert_eq!(increase(1 << 40, 3), None);
        assert_eq!(grown(Some(1), Some(3), 512), Some(1024));
        assert_eq!(grown(None, Some(3), 512), None);
    }

    #[test]
    fn a_jump_does_not_fill_the_windows_after_it() {
        let mut share = Share::default();
        let spent = [10_000_000_000, 0, 0, 0];
        let shares = spent.map(|ns| share.of(ns, 50_000_000));
        assert_eq!(shares, [1.0, 0.4, 0.0, 0.0]);
    }

    #[test]
    fn a_share_stays_in_its_range_and_its_sum_is_kept() {
        let mut share = Share::default();
        let spent = [0, 60, 50, 40, 0, 20];
        let shares: Vec<f64> = spent.iter().map(|ns| share.of(*ns, 50)).collect();
        assert_eq!(shares, [0.0, 1.0, 1.0, 1.0, 0.0, 0.4]);
        assert_eq!(shares.iter().sum::<f64>() * 50.0, 170.0);
    }
}
