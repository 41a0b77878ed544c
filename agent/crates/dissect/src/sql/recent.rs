//! Statements seen a moment ago. Behind a pass-through server every statement is seen twice, word
//! for word; the second time its digest is known.

use super::Statement;
use super::digest::Digest;
use crate::label::Label;
use crate::memory::of_vec;
use foldhash::fast::RandomState;
use std::hash::BuildHasher;

/// As many as may be under way between two servers at once.
const SLOTS: usize = 512;

/// What came of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Recent {
    pub label: Label,
    pub digest: Digest,
}

/// The last statement for each slot, by its hash. The hash is seeded at random and has 64 bits, so
/// that two statements among 512 do not share one in the lifetime of a capture.
pub(crate) struct Recents {
    hasher: RandomState,
    slots: Vec<Option<(u64, Recent)>>,
}

impl Recents {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::default(), slots: vec![None; SLOTS] }
    }

    pub(crate) fn held_bytes(&self) -> usize {
        of_vec(&self.slots)
    }

    /// A statement's key.
    pub(crate) fn key(&self, statement: Statement<'_>) -> u64 {
        self.hasher.hash_one(statement)
    }

    pub(crate) fn get(&self, key: u64) -> Option<Recent> {
        self.slots[key as usize % SLOTS].filter(|it| it.0 == key).map(|it| it.1)
    }

    pub(crate) fn put(&mut self, key: u64, recent: Recent) {
        self.slots[key as usize % SLOTS] = Some((key, recent));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dialect;
    use super::*;

    #[test]
    fn a_statement_is_known_until_another_takes_its_slot() {
        let mut recents = Recents::new();
        let recent = Recent { label: Label::default(), digest: Digest::default() };
        let statement = Statement { text: b"SELECT 1", dialect: Dialect::Mysql, goes_on: false };
        let key = recents.key(statement);
        assert_ne!(key, recents.key(Statement { goes_on: true, ..statement }));
        assert!(recents.get(key).is_none());
        recents.put(key, recent);
        assert!(recents.get(key).is_some());
        assert!(recents.get(key.wrapping_add(SLOTS as u64)).is_none());
        recents.put(key.wrapping_add(SLOTS as u64), recent);
        assert!(recents.get(key).is_none());
    }
}
