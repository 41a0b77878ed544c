//! Connections that were closed a moment ago. What comes of them late, sent again or sent before
//! its sender knew, begins no connection.

use crate::frame::Segment;
use crate::memory::{of_map, of_queue};
use crate::sink::Side;
use crate::tcp::{NEAR, Stream};
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// What one of them takes at most.
const ENTRY_BYTES: usize = 256;

/// How far the two sides of a closed connection got.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub client: End,
    pub server: End,
}

/// How far one side got.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// The sequence number after the last one that was seen.
    next: Option<u32>,
    /// It said that this was its last.
    last: bool,
}

impl End {
    /// The end of a stream; its `last` if the side closed or reset the connection.
    pub(crate) fn of(stream: &Stream, last: bool) -> Self {
        Self { next: stream.reached(), last }
    }

    /// True if the side may have sent what comes before this sequence number.
    fn reaches(self, sequence: u32) -> bool {
        let Some(next) = self.next else { return true };
        let (behind, ahead) = (next.wrapping_sub(sequence), sequence.wrapping_sub(next));
        behind <= NEAR || (!self.last && ahead <= NEAR)
    }
}

impl Ends {
    /// True if this segment may be a late one of the closed connection.
    fn may_have_sent(self, from: Side, segment: &Segment<'_>) -> bool {
        let (own, other) = match from {
            Side::Client => (self.client, self.server),
            Side::Server => (self.server, self.client),
        };
        own.reaches(segment.sequence.wrapping_add(segment.length))
            && segment.acknowledgment.is_none_or(|acknowledgment| other.reaches(acknowledgment))
    }
}

/// The last connections that were closed, the oldest first.
pub(crate) struct Closed<K> {
    most: usize,
    ends: HashMap<K, Ends, RandomState>,
    order: VecDeque<K>,
}

impl<K: Copy + Eq + Hash> Closed<K> {
    /// As many as take no more than these bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { most: bytes / ENTRY_BYTES, ends: HashMap::default(), order: VecDeque::new() }
    }

    pub(crate) fn add(&mut self, key: K, ends: Ends) {
        if self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.ends.remove(&oldest);
        }
        if self.most > 0 && self.ends.insert(key, ends).is_none() {
            self.order.push_back(key);
        }
    }

    /// True if this segment may be a late one of a connection that was closed here.
    pub(crate) fn may_have_sent(&self, key: &K, from: Side, segment: &Segment<'_>) -> bool {
        self.ends.get(key).is_some_and(|ends| ends.may_have_sent(from, segment))
    }

    pub(crate) fn held_bytes(&self) -> usize {
        of_map(&self.ends) + of_queue(&self.order)
    }
}
