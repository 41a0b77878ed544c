//! What came before its predecessor, and waits for it.

use super::stream::Data;
use crate::memory::{ALLOCATION, of_queue};
use std::collections::VecDeque;

/// No more than this many bytes or segments wait behind a hole.
const MOST_BYTES: usize = 4 << 20;
const MOST: usize = 1024;

/// A segment that came early.
pub(super) struct Early {
    pub sequence: u32,
    pub at_ns: i64,
    pub length: u32,
    bytes: Vec<u8>,
    ends: bool,
}

impl Early {
    pub(super) fn data(&self) -> Data<'_> {
        let Self { at_ns, length, ends, .. } = *self;
        Data { at_ns, bytes: &self.bytes, length, ends }
    }
}

/// Early segments of one stream.
#[derive(Default)]
pub(super) struct Waiting {
    /// Sorted by distance from the byte that is wanted next.
    segments: VecDeque<Early>,
    bytes: usize,
}

impl Waiting {
    /// A segment came that is not yet wanted; `next` is.
    pub(super) fn add(&mut self, next: u32, sequence: u32, data: Data<'_>) {
        let Data { at_ns, length, ends, .. } = data;
        let distance = sequence.wrapping_sub(next);
        let place = self.segments.partition_point(|it| it.sequence.wrapping_sub(next) <= distance);
        let known = place > 0
            && self.segments[place - 1].sequence == sequence
            && self.segments[place - 1].length >= length;
        if !known {
            let bytes = data.bytes.to_vec();
            self.bytes += bytes.len();
            self.segments.insert(place, Early { sequence, at_ns, bytes, length, ends });
        }
    }

    /// The one that is wanted first.
    pub(super) fn first(&self) -> Option<&Early> {
        self.segments.front()
    }

    pub(super) fn take_first(&mut self) -> Option<Early> {
        let first = self.segments.pop_front()?;
        self.bytes -= first.bytes.len();
        Some(first)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// True if the hole must be given up: where there is room for this many bytes, or at all.
    pub(super) fn is_too_much(&self, room: usize) -> bool {
        self.segments.len() > MOST || self.bytes > room.min(MOST_BYTES)
    }

    /// What is remembered, beside this itself.
    pub(super) fn held_bytes(&self) -> usize {
        if self.segments.capacity() == 0 {
            return 0;
        }
        of_queue(&self.segments) + self.bytes + ALLOCATION * self.segments.len()
    }
}
