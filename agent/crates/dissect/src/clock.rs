//! Whose time is believed. A damaged file, or a damaged packet in one, tells any time.

/// No capture is silent for longer than this: a time that is farther from the last is believed once
/// the next packet confirms it. Until then the last one counts.
const FAR_NS: i64 = 86_400_000_000_000;

/// The last time that was believed, and one that was not.
#[derive(Debug, Default)]
pub struct Clock {
    last_ns: Option<i64>,
    doubted_ns: Option<i64>,
}

impl Clock {
    /// The time of a packet that says it was captured at `at_ns`.
    pub fn time(&mut self, at_ns: i64) -> i64 {
        // Their differences must be times too.
        let at_ns = at_ns.clamp(0, i64::MAX / 2);
        let last_ns = *self.last_ns.get_or_insert(at_ns);
        let is_near = |other: i64| (at_ns - other).abs() < FAR_NS;
        if is_near(last_ns) || self.doubted_ns.is_some_and(is_near) {
            self.last_ns = Some(at_ns);
            return at_ns;
        }
        self.doubted_ns = Some(at_ns);
        last_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(times: &[i64]) -> Vec<i64> {
        let mut clock = Clock::default();
        times.iter().map(|&at_ns| clock.time(at_ns)).collect()
    }

    const NOW: i64 = 1_800_000_000_000_000_000;

    #[test]
    fn one_wrong_time_changes_none_but_its_own() {
        for wrong in [i64::MAX, i64::MIN, 0, NOW + 2 * FAR_NS, NOW - 2 * FAR_NS] {
            assert_eq!(told(&[NOW, NOW + 1, wrong, NOW + 3]), [NOW, NOW + 1, NOW + 1, NOW + 3]);
        }
    }

    #[test]
    fn a_time_that_the_next_packet_confirms_is_believed() {
        let later = NOW + 2 * FAR_NS;
        assert_eq!(told(&[NOW, later, later + 1]), [NOW, NOW, later + 1]);
        assert_eq!(told(&[later, NOW, NOW + 1]), [later, later, NOW + 1]);
    }
}
