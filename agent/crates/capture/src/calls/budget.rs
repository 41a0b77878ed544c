//! A bound on the time that searching for owners of sockets takes.

use tierlab_record::clock::{monotonic_ns, thread_cpu_ns};

/// A search may take this part of a core's time.
const PART: i64 = 8;
/// What was not used is kept, but no more than this.
const MOST_NS: i64 = 200_000_000;

/// CPU time that may be spent. It comes with the time that goes by.
pub(super) struct Budget {
    /// Below zero after work that took longer than what was left.
    left_ns: i64,
    refilled_ns: i64,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { left_ns: MOST_NS, refilled_ns: monotonic_ns() }
    }

    /// Whether something may be done now.
    pub(super) fn is_left(&mut self) -> bool {
        self.is_left_at(monotonic_ns())
    }

    fn is_left_at(&mut self, now_ns: i64) -> bool {
        let refill_ns = (now_ns - self.refilled_ns) / PART;
        // What is less than a nanosecond comes with the next refill.
        self.refilled_ns += refill_ns * PART;
        self.left_ns = self.left_ns.saturating_add(refill_ns).min(MOST_NS);
        self.left_ns > 0
    }

    /// Does something and pays for it. It is done whole, so it may take longer than what was left: the
    /// next work then has to wait until that is made up for.
    pub(super) fn pay_for<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began_ns = thread_cpu_ns();
        let done = work();
        self.left_ns -= thread_cpu_ns() - began_ns;
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_spent_than_its_part_of_the_time_however_often_it_is_tried() {
        let mut budget = Budget::new();
        let (began_ns, each_ns) = (budget.refilled_ns, 3_000_000);
        let mut spent_ns = 0;
        for at_ms in 0..10_000 {
            while budget.is_left_at(began_ns + at_ms * 1_000_000) {
                budget.left_ns -= each_ns;
                spent_ns += each_ns;
            }
        }
        let expected_ns = MOST_NS + 10_000_000_000 / PART;
        assert!((spent_ns - expected_ns).abs() <= 2 * each_ns, "{spent_ns} of {expected_ns}");
    }

    #[test]
    fn work_that_took_longer_than_what_was_left_is_made_up_for() {
        let mut budget = Budget::new();
        let began_ns = budget.refilled_ns;
        budget.left_ns -= 3 * MOST_NS;
        assert!(!budget.is_left_at(began_ns + 2 * MOST_NS * PART));
        assert!(budget.is_left_at(began_ns + 2 * MOST_NS * PART + PART));
    }
}
