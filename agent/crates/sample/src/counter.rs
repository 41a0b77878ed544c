//! Counters of the kernel: they only grow, except where they wrap or start anew.

/// By how much a counter grew from `before` to `now`; `None` where it started anew (a device was
/// replaced, an interface made again, a server's statistics reset), since what happened in between
/// is not known. None of 64 bits lives to wrap.
pub fn increase(before: u64, now: u64) -> Option<u64> {
    now.checked_sub(before)
}

/// [`increase`] of a counter that has 32 bits, everywhere or on some kernels: a fall from the upper
/// half of their range to the lower half is a wrap.
pub fn increase_of_32_bits(before: u64, now: u64) -> Option<u64> {
    const RANGE: u64 = 1 << 32;
    let wrapped = (RANGE / 2..RANGE).contains(&before) && now < RANGE / 2;
    increase(before, if wrapped { now + RANGE } else { now })
}

/// [`increase`] of a counter that is not everywhere, as a cell of a table, in units of `unit`.
pub fn grown(before: Option<u64>, now: Option<u64>, unit: i64) -> Option<i64> {
    Some(increase(before?, now?)? as i64 * unit)
}

/// [`increase_of_32_bits`] in the same way.
pub fn grown_of_32_bits(before: Option<u64>, now: Option<u64>) -> Option<i64> {
    Some(increase_of_32_bits(before?, now?)? as i64)
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
    fn a_counter_that_falls_has_started_anew() {
        assert_eq!(increase(5, 9), Some(4));
        for before in [1000, 3_000_000_000, 1 << 40] {
            assert_eq!(increase(before, 500), None, "{before}");
        }
        assert_eq!(grown(Some(3_000_000_000), Some(500), 1), None);
        assert_eq!(grown(Some(1), Some(3), 512), Some(1024));
        assert_eq!(grown(None, Some(3), 512), None);
    }

    #[test]
    fn growth_wrap_and_reset_of_32_bits_are_told_apart() {
        assert_eq!(increase_of_32_bits(5, 9), Some(4));
        assert_eq!(increase_of_32_bits(1 << 31, u64::from(u32::MAX)), Some((1 << 31) - 1));
        assert_eq!(increase_of_32_bits(u64::from(u32::MAX) - 1, 3), Some(5));
        assert_eq!(increase_of_32_bits(1000, 3), None);
        assert_eq!(increase_of_32_bits(1 << 40, 3), None);
        assert_eq!(grown_of_32_bits(Some(u64::from(u32::MAX)), Some(0)), Some(1));
        assert_eq!(grown_of_32_bits(Some(3), None), None);
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
