//! The order in which connections are given up when memory is short: the one that has been silent
//! longest first. Age is counted in frames, so that no wrong timestamp makes a connection old.

use crate::memory::of_heap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Entries that turned out to be out of date are dropped when there are this many beyond the rest.
const SLACK: usize = 4_096;

/// Connections by when they were seen last. An entry says when that was as it was made; what has
/// been seen since then is asked for only when the entry's turn comes.
pub(crate) struct Order<K>(BinaryHeap<Reverse<Entry<K>>>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry<K> {
    /// The number of the frame.
    pub last_seen: i64,
    pub connection: i64,
    pub key: K,
}

impl<K: Ord + Copy> Order<K> {
    pub(crate) fn new() -> Self {
        Self(BinaryHeap::new())
    }

    pub(crate) fn add(&mut self, entry: Entry<K>) {
        self.0.push(Reverse(entry));
    }

    /// Takes out the connection that has been silent longest. `last_seen` tells when an entry's
    /// connection was seen last, or that it is not in this order any more.
    pub(crate) fn oldest(&mut self, last_seen: impl Fn(&Entry<K>) -> Option<i64>) -> Option<K> {
        while let Some(Reverse(entry)) = self.0.pop() {
            match last_seen(&entry) {
                Some(latest) if latest > entry.last_seen => {
                    self.add(Entry { last_seen: latest, ..entry });
                }
                Some(_) => return Some(entry.key),
                None => {}
            }
        }
        None
    }

    /// Drops the entries of connections that are gone once they outnumber the `open` ones.
    pub(crate) fn tidy(&mut self, open: usize, last_seen: impl Fn(&Entry<K>) -> Option<i64>) {
        if self.0.len() > 2 * open + SLACK {
            self.0.retain(|Reverse(entry)| last_seen(entry).is_some());
        }
    }

    pub(crate) fn held_bytes(&self) -> usize {
        of_heap(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(last_seen: i64, key: u8) -> Entry<u8> {
        Entry { last_seen, connection: i64::from(key), key }
    }

    #[test]
    fn what_was_seen_since_counts() {
        let mut order = Order::new();
        for key in 0..4 {
            order.add(entry(i64::from(key), key));
        }
        // The first spoke again, the second is gone.
        let last_seen = |entry: &Entry<u8>| match entry.key {
            0 => Some(10),
            1 => None,
            key => Some(i64::from(key)),
        };
        let given_up: Vec<u8> = std::iter::from_fn(|| order.oldest(last_seen)).collect();
        assert_eq!(given_up, [2, 3, 0]);
    }

    #[test]
    fn entries_of_those_who_are_gone_do_not_pile_up() {
        let mut order = Order::new();
        for round in 0..100_000 {
            order.add(entry(round, 0));
            order.tidy(1, |entry| (entry.last_seen == round).then_some(round));
        }
        assert!(order.0.len() <= SLACK + 2);
    }
}
