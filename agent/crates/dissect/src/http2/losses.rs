//! When frames of the server's were lost, as far as streams may still wait for replies among them.

use std::collections::VecDeque;

/// A reply of which nothing came for so long after replies were lost was among them.
const PATIENCE_NS: i64 = 10_000_000_000;

/// Losses that are no farther apart count as one.
const TOGETHER_NS: i64 = 1_000_000_000;

/// More than this many apart are not told from each other.
const MOST: usize = 16;

#[derive(Default)]
pub(super) struct Losses {
    count: u64,
    /// When the last ones began, and how many there had been as each ended.
    recent: VecDeque<(i64, u64)>,
}

impl Losses {
    /// How many there were so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn add(&mut self, at_ns: i64) {
        self.count += 1;
        let is_full = self.recent.len() >= MOST;
        match self.recent.back_mut() {
            Some((begun_ns, count)) if is_full || at_ns.saturating_sub(*begun_ns) < TOGETHER_NS => {
                *count = self.count;
            }
            _ => self.recent.push_back((at_ns, self.count)),
        }
    }

    /// If some have become long ago since this was asked last: how many there had been by then.
    /// What was seen last when there had been fewer will not come any more.
    pub(super) fn long_ago(&mut self, now_ns: i64) -> Option<u64> {
        let mut long_ago = None;
        while let Some(&(begun_ns, count)) = self.recent.front()
            && now_ns.saturating_sub(begun_ns) > PATIENCE_NS
        {
            long_ago = Some(count);
            self.recent.pop_front();
        }
        long_ago
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn losses_become_long_ago_once() {
        let mut it = Losses::default();
        [0, SECOND / 2, 3 * SECOND].into_iter().for_each(|at_ns| it.add(at_ns));
        assert_eq!(it.count(), 3);
        let asked = [9, 11, 12, 14, 15].map(|second| it.long_ago(second * SECOND));
        assert_eq!(asked, [None, Some(2), None, Some(3), None]);
    }

    #[test]
    fn losses_for_ever_are_remembered_in_little_room() {
        let mut it = Losses::default();
        for second in 0..10_000 {
            it.add(second * SECOND);
        }
        assert!(it.recent.len() <= MOST);
        assert_eq!(it.long_ago(20_000 * SECOND), Some(10_000));
    }
}
