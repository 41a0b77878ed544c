//! What every protocol's parser does.

use crate::context::Context;
use crate::sink::Side;

/// Reads the two byte streams of one connection.
pub(crate) trait Parser: Send {
    /// For a connection that is seen from its start, or from somewhere.
    fn new(from_start: bool) -> Self
    where
        Self: Sized;

    /// The next bytes of one side.
    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>);

    /// The next bytes of one side were not captured.
    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>);

    /// One side has sent its last byte; that was at `last_ns`.
    fn ended(&mut self, from: Side, last_ns: i64, cx: &mut Context<'_>);

    /// Why the connection's bytes turned out to be none of this protocol's, once they did. The parser
    /// is asked for nothing more then, and the connection is read as one in which two sides take
    /// turns ([`crate::turns`]).
    fn other(&self) -> Option<&'static str> {
        None
    }

    /// The connection is gone, or nothing more of it will be seen.
    fn finish(&mut self, cx: &mut Context<'_>);

    /// What the parser remembers, itself included.
    fn held_bytes(&self) -> usize;
}

/// Bytes that were not captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// When they were sent, which is known if a snap length cut them off.
    pub at_ns: Option<i64>,
    /// When that they are missing was known: bytes of the other side that are handed on later may
    /// have been sent before.
    pub seen_ns: i64,
    pub bytes: u64,
    /// The capture's filter saw that they end a reply (see [`crate::filter`]).
    pub ends: bool,
}
