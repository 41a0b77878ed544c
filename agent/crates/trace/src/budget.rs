//! How much of each subject is traced. Where more events come than the budget allows, half of the
//! threads are left out, then three quarters and so on, at last all; where there are few again, the
//! last step is taken back.

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
        Self { most_per_s, step: 0, events: 0, since_ns: now_ns, stepped_ns: now_ns }
    }

    /// So many events came until now. Gives what is to be traced from now on where that changes.
    pub fn look(&mut self, events: u64, now_ns: i64) -> Option<Sample> {
        let length_ns = (now_ns - self.since_ns).max(1) as u64;
        let per_s = events.saturating_sub(self.events) * 1_000_000_000 / length_ns;
        (self.events, self.since_ns) = (events, now_ns);
        let step = if per_s > self.most_per_s && self.step < LAST {
            self.step + 1
        } else if self.step > 0
            && 2 * per_s < self.most_per_s
            && now_ns - self.stepped_ns >= PATIENCE_NS
        {
            self.step - 1
        } else {
            return None;
        };
        (self.step, self.stepped_ns) = (step, now_ns);
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
        assert_eq!(budget.look(2_900, 2 * S), Some(Sample::OneIn(2)));
        assert_eq!(budget.look(4_900, 3 * S), Some(Sample::OneIn(4)));
        for second in 4..=9 {
            assert!(budget.look(4_900 + (second - 3) as u64 * 2_000, second * S).is_some());
        }
        assert_eq!(budget.sample(), Sample::Nothing);
        assert_eq!(budget.look(1_000_000, 10 * S), None, "no step is left");
    }

    #[test]
    fn few_events_for_a_while_take_a_step_back() {
        let mut budget = Budget::new(1_000, 0);
        budget.look(5_000, S);
        assert_eq!(budget.look(5_100, 2 * S), None, "too soon");
        assert_eq!(budget.look(5_200, 12 * S), Some(Sample::OneIn(1)));
    }
}
