//! How many events there were on a core, by control group, from what counters say. Where a
//! processor's counters take turns, one that ran little may not have been counted at all.

use crate::perf_event::{Counter, Event, Reader, Reading};

/// An event on a core.
pub struct Cell<C = Counter> {
    /// The event.
    pub event: Event,
    /// The core's number.
    pub core: i32,
    all: Counting<C>,
    /// In the order of the groups; `None` while a group is not there.
    of_groups: Vec<Option<Counting<C>>>,
    /// What groups had and all had not yet: one is read after the other, and of a tick in which all
    /// was not counted only a later one tells.
    ahead: i64,
}

impl<C: Reader> Cell<C> {
    /// One that counts all, and none of so many groups yet.
    pub fn new(event: Event, core: i32, all: C, groups: usize) -> Self {
        let of_groups = (0..groups).map(|_| None).collect();
        Self { event, core, all: Counting::new(all), of_groups, ahead: 0 }
    }

    /// Has the group at this place counted from now on, or no more.
    pub fn count_group(&mut self, at: usize, counter: Option<C>) {
        self.of_groups[at] = counter.map(Counting::new);
    }

    /// Gives `push` how many there were since the last call: of each group by its place, and of
    /// nobody's, which is `None`. Over time they add up to all.
    pub fn grown(&mut self, mut push: impl FnMut(Option<usize>, i64)) {
        let all = self.all.grown();
        for (at, counting) in self.of_groups.iter_mut().enumerate() {
            if let Some(count) = counting.as_mut().and_then(Counting::grown) {
                self.ahead += count;
                push(Some(at), count);
            }
        }
        if let Some(all) = all {
            let rest = all - self.ahead;
            self.ahead = (-rest).max(0);
            push(None, rest.max(0));
        }
    }
}

struct Counting<C> {
    counter: C,
    /// What it said at the end of what is told already.
    before: Option<Reading>,
}

impl<C: Reader> Counting<C> {
    fn new(counter: C) -> Self {
        Self { counter, before: None }
    }

    /// How many there were that no earlier call told; `None` where none of that time was counted,
    /// of which a later call tells then.
    fn grown(&mut self) -> Option<i64> {
        let now = self.counter.read()?;
        let Some(before) = self.before else {
            self.before = Some(now);
            return None;
        };
        let count = now.since(before)?;
        self.before = Some(now);
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_event::reading;
    use std::cell::RefCell;

    /// Says one reading after the other.
    struct Told(RefCell<std::vec::IntoIter<Reading>>);

    impl Reader for Told {
        fn read(&self) -> Option<Reading> {
            self.0.borrow_mut().next()
        }
    }

    fn told(readings: &[(u64, u64, u64)]) -> Told {
        let each = readings.iter().map(|&(count, wanted, counted)| reading(count, wanted, counted));
        Told(RefCell::new(each.collect::<Vec<_>>().into_iter()))
    }

    #[test]
    fn what_ran_uncounted_is_told_with_what_runs_next() {
        let mut counting = Counting::new(told(&[(0, 0, 0), (0, 10, 0), (50, 20, 10)]));
        assert_eq!([(); 3].map(|()| counting.grown()), [None, None, Some(100)]);
    }

    #[test]
    fn domains_add_up_to_all_where_each_is_not_counted_at_times() {
        let event = serde_json::from_value("cycles".into()).unwrap();
        let all = told(&[(0, 0, 0), (0, 10, 0), (200, 20, 10), (300, 30, 20)]);
        let mut cell = Cell::new(event, 0, all, 2);
        cell.count_group(0, Some(told(&[(0, 0, 0), (60, 5, 5), (60, 10, 5), (100, 15, 10)])));
        let mut tick = || {
            let mut rows = Vec::new();
            cell.grown(|group, count| rows.push((group, count)));
            rows
        };
        assert!(tick().is_empty());
        assert_eq!(tick(), [(Some(0), 60)]);
        assert_eq!(tick(), [(None, 400 - 60)]);
        assert_eq!(tick(), [(Some(0), 80), (None, 100 - 80)]);
    }
}
