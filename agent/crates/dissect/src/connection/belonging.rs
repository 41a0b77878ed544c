//! Which segments belong to a connection, and which to another on the same ports.

use super::Connection;
use crate::frame::Segment;
use crate::sink::Side;
use crate::tcp::Placed;

/// Linux uses a port towards the same server again after a second at the earliest (`tcp_tw_reuse`).
const REUSED_AFTER_NS: i64 = 1_000_000_000;

/// An acknowledgment may be older than what was seen of the other side by this much: what is on its
/// way.
const ON_ITS_WAY: u32 = 64 << 10;

impl Connection {
    /// True if a segment does not belong to this connection but to another on the same ports, one
    /// before it or one after it. Where one direction goes on exactly where it was and the other
    /// jumps, packets were not captured.
    pub(crate) fn is_of_another(&self, from: Side, segment: &Segment<'_>) -> bool {
        let (own, other) = match from {
            Side::Client => (&self.client, &self.server),
            Side::Server => (&self.server, &self.client),
        };
        let acknowledged =
            segment.acknowledgment.map_or(Placed::Unknown, |it| other.stream.place(it));
        if segment.syn {
            let first = segment.sequence.wrapping_add(1);
            let is_known = match own.syn {
                Some(syn) => syn == segment.sequence,
                None => matches!(own.stream.place(first), Placed::Unknown | Placed::Next),
            };
            return !is_known || acknowledged == Placed::Far;
        }
        match (own.stream.place(segment.sequence), acknowledged) {
            (Placed::Next, _) => false,
            (_, Placed::Far) | (Placed::Far, Placed::Unknown | Placed::Near) => true,
            _ => segment.length > 0 && own.stream.is_behind_end(segment.sequence),
        }
    }

    /// True if a segment that [`Connection::is_of_another`] may be this connection's all the same,
    /// after more was lost than is ever under way: both sides have gone on, and sooner than another
    /// connection can begin on the same ports.
    pub(crate) fn may_go_on_with(&self, from: Side, at_ns: i64, segment: &Segment<'_>) -> bool {
        let (own, other) = match from {
            Side::Client => (&self.client, &self.server),
            Side::Server => (&self.server, &self.client),
        };
        let says_something = segment.length > 0 || segment.fin || segment.rst;
        let is_acknowledging =
            |it: u32| other.stream.is_ahead(it.wrapping_add(ON_ITS_WAY)).unwrap_or(true);
        says_something
            && !segment.syn
            && at_ns.saturating_sub(self.last_seen_ns) < REUSED_AFTER_NS
            && own.stream.is_ahead(segment.sequence) == Some(true)
            && !own.stream.is_behind_end(segment.sequence)
            && segment.acknowledgment.is_some_and(is_acknowledging)
    }
}
