//! Deadlines of one length: a queue, because what starts later also ends later.

use std::collections::VecDeque;

/// The deadlines of one kind.
pub struct Deadlines {
    length_ns: Option<i64>,
    queue: VecDeque<(i64, usize, u32)>,
}

impl Deadlines {
    /// Deadlines of this length; none when `None`.
    pub fn new(length_ns: Option<i64>) -> Self {
        Self { length_ns, queue: VecDeque::new() }
    }

    /// Sets the deadline of what starts now: `token` tells it from what used `place` before.
    pub fn set(&mut self, now_ns: i64, place: usize, token: u32) {
        if let Some(length) = self.length_ns {
            self.queue.push_back((now_ns + length, place, token));
        }
    }

    /// The first deadline that is due, or over for a reason of its own.
    pub fn due(&mut self, now_ns: i64, alive: impl Fn(usize, u32) -> bool) -> Option<(usize, u32)> {
        while let Some(&(at, place, token)) = self.queue.front() {
            if !alive(place, token) {
                self.queue.pop_front();
            } else if at <= now_ns {
                self.queue.pop_front();
                return Some((place, token));
            } else {
                break;
            }
        }
        None
    }

    /// When to look again.
    pub fn next_ns(&self) -> Option<i64> {
        self.queue.front().map(|(at, _, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_alive_and_late_is_due() {
        let mut deadlines = Deadlines::new(Some(10));
        deadlines.set(0, 1, 100);
        deadlines.set(1, 2, 101);
        deadlines.set(5, 3, 102);
        let alive = |_: usize, token: u32| token != 101;
        assert_eq!(deadlines.due(9, alive), None);
        assert_eq!(deadlines.due(10, alive), Some((1, 100)));
        assert_eq!(deadlines.due(12, alive), None);
        assert_eq!(deadlines.next_ns(), Some(15));
        assert_eq!(deadlines.due(15, alive), Some((3, 102)));
        assert_eq!(deadlines.next_ns(), None);
    }
}
