//! What a dissector remembers is under one budget, and is counted here: the connections with their
//! early segments, heads, statements and exchanges, and the tables that find them.

use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The budget unless another is stated. A connection that waits for its handshake takes some 500
/// bytes of it, one that speaks a few kilobytes.
pub const MEMORY_BYTES: usize = 256 << 20;

/// What an allocation takes beside its content.
pub(crate) const ALLOCATION: usize = 16;

/// The budget, and how much of it the connections take.
pub(crate) struct Memory {
    budget: usize,
    connections: usize,
}

impl Memory {
    pub(crate) fn new(budget: usize) -> Self {
        Self { budget, connections: 0 }
    }

    /// A part of the budget, as a bound for one of those who share it.
    pub(crate) fn part(&self, of: usize) -> usize {
        self.budget / of
    }

    /// A connection took as much as the first number says, now as much as the second.
    pub(crate) fn changed(&mut self, before: usize, now: usize) {
        self.connections = self.connections - before + now;
    }

    /// True if too little is left beside tables of this size. An eighth is for what one packet may
    /// add, and for closing everything at the end.
    pub(crate) fn is_short(&self, tables: usize) -> bool {
        self.connections + tables > self.budget - self.budget / 8
    }

    #[cfg(test)]
    pub(crate) fn of_connections(&self) -> usize {
        self.connections
    }
}

/// A buffer that is larger than this is not kept for what may come next.
const SPARE: usize = 4 << 10;

/// Empties a buffer, and gives a large one back.
pub(crate) fn empty(buffer: &mut Vec<u8>) {
    if buffer.capacity() > SPARE {
        *buffer = Vec::new();
    } else {
        buffer.clear();
    }
}

/// What a boxed value takes.
pub(crate) const fn of_box<T>() -> usize {
    size_of::<T>() + ALLOCATION
}

/// What a vector takes beside what its elements point to.
pub(crate) fn of_vec<T>(vector: &Vec<T>) -> usize {
    of_room::<T>(vector.capacity())
}

/// What a queue takes beside what its elements point to.
pub(crate) fn of_queue<T>(queue: &VecDeque<T>) -> usize {
    of_room::<T>(queue.capacity())
}

/// What a heap takes beside what its elements point to. While it grows, the old one is there too.
pub(crate) fn of_heap<T>(heap: &BinaryHeap<T>) -> usize {
    of_room::<T>(heap.capacity()) * 3 / 2
}

/// What a map takes beside what its entries point to: one byte more for each entry, and an eighth
/// of them stays free. While it grows, the old one is there too.
pub(crate) fn of_map<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    of_room::<(K, V)>(map.capacity() * 8 / 7) * 3 / 2 + map.capacity() * 2
}

fn of_room<T>(capacity: usize) -> usize {
    if capacity == 0 { 0 } else { capacity * size_of::<T>() + ALLOCATION }
}
