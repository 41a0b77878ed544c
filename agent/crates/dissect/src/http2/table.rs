//! The table of the fields that a side has said, to which it refers by number, the newest first
//! (RFC 7541 section 2.3).
//!
//! What was said while bytes were lost is not in it. That does no harm: numbers count from the newest
//! entry, so that those from before the loss are beyond what is known, and those from after it are where
//! they should be. For the same reason the table may hold entries that its owner has evicted already:
//! no number leads there. So an entry's size need not be exact, and values that do not matter need not
//! be decoded.

use super::field::Field;
use crate::memory::{ALLOCATION, of_queue};
use std::collections::VecDeque;

/// The size of a table unless another is agreed on (RFC 9113 section 6.5.2).
const USUAL: usize = 4_096;

/// No more is remembered, whatever was agreed on.
const MOST: usize = 64 << 10;

/// What an entry takes beside its name and value (RFC 7541 section 4.1).
const OVERHEAD: usize = 32;

/// A field that was said.
pub(super) struct Entry {
    pub field: Field,
    /// Empty if it does not matter.
    pub value: Box<[u8]>,
    size: usize,
}

impl Entry {
    /// A field, with the lengths of its name and value as far as they are known.
    pub(super) fn new(field: Field, value: &[u8], lengths: usize) -> Self {
        Self { field, value: value.into(), size: OVERHEAD + lengths.max(value.len()) }
    }

    fn value_bytes(&self) -> usize {
        if self.value.is_empty() { 0 } else { self.value.len() + ALLOCATION }
    }
}

/// The entries that are known.
pub(super) struct Table {
    entries: VecDeque<Entry>,
    size: usize,
    limit: usize,
    /// What the entries' values take.
    value_bytes: usize,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { entries: VecDeque::new(), size: 0, limit: USUAL, value_bytes: 0 }
    }

    /// The entry so many before the newest.
    pub(super) fn get(&self, before_newest: usize) -> Option<&Entry> {
        self.entries.get(before_newest)
    }

    /// A field was said.
    pub(super) fn insert(&mut self, entry: Entry) {
        self.size += entry.size;
        self.value_bytes += entry.value_bytes();
        self.entries.push_front(entry);
        self.evict();
    }

    /// The table's owner limits its size.
    pub(super) fn limit(&mut self, limit: usize) {
        self.limit = limit.min(MOST);
        self.evict();
    }

    /// Others may have been said unseen.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        (self.size, self.value_bytes) = (0, 0);
    }

    pub(super) fn held_bytes(&self) -> usize {
        of_queue(&self.entries) + self.value_bytes
    }

    fn evict(&mut self) {
        while self.size > self.limit {
            let Some(oldest) = self.entries.pop_back() else { break };
            self.size -= oldest.size;
            self.value_bytes -= oldest.value_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(value: &[u8]) -> Entry {
        Entry::new(Field::Path, value, 5 + value.len())
    }

    #[test]
    fn the_newest_is_first_and_the_oldest_goes() {
        let mut it = Table::new();
        it.limit(2 * (OVERHEAD + 7));
        for value in [b"/a", b"/b", b"/c"] {
            it.insert(path(value));
        }
        let values: Vec<_> = (0..3).filter_map(|at| it.get(at)).map(|it| &it.value[..]).collect();
        assert_eq!(values, [b"/c", b"/b"]);
        it.limit(0);
        assert!(it.get(0).is_none());
    }

    #[test]
    fn an_entry_that_does_not_fit_empties_it() {
        let mut it = Table::new();
        it.insert(path(b"/a"));
        it.insert(path(&[b'x'; USUAL]));
        assert!(it.get(0).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let mut it = Table::new();
        it.limit(usize::MAX);
        for _ in 0..100_000 {
            it.insert(Entry::new(Field::Other, b"", 0));
            it.insert(path(b"/a"));
        }
        assert!(it.entries.len() <= MOST / OVERHEAD);
        assert!(it.held_bytes() < 6 * MOST, "{}", it.held_bytes());
        let values: usize = it.entries.iter().map(Entry::value_bytes).sum();
        assert_eq!(it.value_bytes, values);
        it.forget();
        assert_eq!(it.value_bytes, 0);
    }
}
