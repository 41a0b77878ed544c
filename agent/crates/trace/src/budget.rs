//! How much of each subject is traced. Where more events come than the budget allows, so many steps
//! are taken at once as should do, each of which halves the threads that are traced; where that leaves
//! none, or does not help, all are left out. Where there are few events again, a step is taken back.

use serde::Serialize;

/// Seven steps leave a thread in 128; the eighth leaves none.
const LAST: u32 = 8;

/// How long a step stays before it is taken back on trial.
const PATIENCE_NS: i64 = 10_000_000_000;

/// Of one subject.
#[derive(Clone, Debug)]
pub struct Budget {
    most_per_s: u64,
    step: u32,
    events: u64,
    since_ns: i64,
    stepped_ns: i64,
    /// The last step left threads out.
    is_down: bool,
}

/// What is traced of a subject's threads from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// One thread in so many.
    OneIn(u32),
    /// None.
    Nothing,
}

impl Budget {
    /// A budget of so many events a second, from now on.
    pub fn new(most_per_s: u64, now_ns: i64) -> Self {
        Self {
            most_per_s,
            step: 0,
            events: 0,
            since_ns: now_ns,
            stepped_ns: now_ns,
            is_down: false,
        }
    }

    /// So many events came until now. Gives what is to be traced from now on where that changes.
    pub fn look(&mut self, events: u64, now_ns: i64) -> Option<Sample> {
        let length_ns = (now_ns - self.since_ns).max(1) as u64;
        let per_s = events.saturating_sub(self.events) * 1_000_000_000 / length_ns;
        (self.events, self.since_ns) = (events, now_ns);
        let step = if per_s > self.most_per_s && self.step < LAST {
            let halvings = u64::BITS - (per_s / self.most_per_s).leading_zeros();
            (self.step + halvings.max(1)).min(LAST)
        } else if self.is_down && per_s == 0 && self.step < LAST {
            // None of the few threads is left: looking them up costs, too.
            LAST
        } else if self.step > 0
            && 2 * per_s < self.most_per_s
            && now_ns - self.stepped_ns >= PATIENCE_NS
        {
            self.step - 1
        } else {
            return None;
        };
        (self.is_down, self.step, self.stepped_ns) = (step > self.step, step, now_ns);
        Some(self.sample())
    }

    /// What is traced now.
    pub fn sample(&self) -> Sample {
        if self.step == LAST { Sample::Nothing } else { Sample::OneIn(1 << self.step) }
    }
}

impl Sample {
    /// The bits that a thread's hashed number must not have to be traced.
    pub fn left_out(self) -> u32 {
        match self {
            Self::OneIn(of) => of - 1,
            Self::Nothing => u32::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000_000;

    #[test]
    fn more_events_than_allowed_leave_threads_out_step_by_step() {
        let mut budget = Budget::new(1_000, 0);
        assert_eq!(budget.look(900, S), None);
        assert_eq!(budget.look(2_400, 2 * S), Some(Sample::OneIn(2)));
        assert_eq!(budget.look(10_400, 3 * S), Some(Sample::OneIn(32)), "four steps at once");
        for second in 4..=6 {
            assert!(budget.look(10_400 + (second - 3) as u64 * 1_500, second * S).is_some());
        }
        assert_eq!(budget.sample(), Sample::Nothing);
        assert_eq!(budget.look(1_000_000, 10 * S), None, "no step is left");
    }

    #[test]
    fn a_single_thread_that_is_left_out_is_not_looked_up_any_more() {
        let mut budget = Budget::new(1_000, 0);
        budget.look(8_000, S);
        assert_eq!(budget.look(8_000, 2 * S), Some(Sample::Nothing));
        assert_eq!(budget.look(8_000, 12 * S), Some(Sample::OneIn(128)), "tried again");
        assert_eq!(budget.look(8_000, 13 * S), None);
    }

    #[test]
    fn few_events_for_a_while_take_a_step_back() {
        let mut budget = Budget::new(1_000, 0);
        budget.look(1_500, S);
        assert_eq!(budget.look(1_600, 2 * S), None, "too soon");
        assert_eq!(budget.look(1_700, 12 * S), Some(Sample::OneIn(1)));
    }
}
