//! What comes out: visits, messages and events.

use crate::Clue;
use std::net::{IpAddr, SocketAddr};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The end that listened.
    Server,
}

impl Side {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A request's stay at one server. Times are nanoseconds since the epoch, those of the packets that
/// carried the bytes; sizes are bytes of TCP payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit<'a> {
    /// Where: its place in the list of servers.
    pub server: usize,
    /// The number of the frame with which the connection was first seen.
    pub connection: i64,
    /// The client's end of the connection.
    pub client: Peer,
    /// The request's first byte.
    pub arrival_ns: i64,
    /// The request's last byte; the last one seen if the rest was not.
    pub request_end_ns: i64,
    /// The reply's first byte; none if it was not seen.
    pub reply_start_ns: Option<i64>,
    /// The reply's last byte; none if it was not seen.
    pub departure_ns: Option<i64>,
    /// When its connection was over, where that was before the reply's last byte was seen: the server
    /// had said its last, or either side had broken off. None if that was not seen.
    pub closed_ns: Option<i64>,
    /// How long its client lets it wait at the server for something to come, the time included in
    /// which the server looks whether that is over: `i64::MAX` where that has no end. None if it
    /// asks to be answered at once.
    pub may_wait_ns: Option<i64>,
    /// A path template, an SQL digest or a command's name.
    pub label: &'a str,
    /// HTTP's status, or the one that stands for gRPC's; for SQL 0 or the error's code; for a cache's
    /// command how it went. None if it was not seen.
    pub status: Option<i32>,
    /// The request.
    pub bytes_in: i64,
    /// The reply.
    pub bytes_out: i64,
    /// Salted hash of the request id that the request carried.
    pub id_hash: Option<u64>,
    /// Salted hashes of the request's parameters, SQL literals or keys.
    pub literals: &'a [u64],
}

/// One protocol message, whole or as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// As in [`Visit::connection`].
    pub connection: i64,
    /// The server of the connection: its place in the list.
    pub server: usize,
    /// The other end.
    pub client: SocketAddr,
    /// Who sent it.
    pub from: Side,
    /// Its first byte.
    pub start_ns: i64,
    /// Its last byte.
    pub end_ns: i64,
    /// Bytes of TCP payload.
    pub bytes: u64,
    /// The protocol's own name for it, such as `SEND_HEADERS` or `COM_QUERY`.
    pub kind: &'static str,
}

/// Something that happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at_ns: i64,
    /// At which server's port: its place in the list.
    pub server: usize,
    /// The other end.
    pub client: SocketAddr,
    /// As in [`Visit::connection`].
    pub connection: i64,
    /// What.
    pub what: EventKind,
}

/// What can happen on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A connection request was sent again: the server did not take the earlier one.
    SynRetransmission {
        /// When the first was sent.
        first_ns: i64,
        /// 1 for the first retransmission.
        attempt: u32,
    },
    /// Data was sent again.
    Retransmission {
        /// By whom.
        from: Side,
        /// How much.
        bytes: u64,
        /// Whether it had been captured before: lost behind the capture, if it was. Otherwise what
        /// comes after it had been, and it was lost on its way to the capture.
        captured_before: bool,
    },
    /// Bytes reached their receiver (or their sender went on) without being captured.
    Gap {
        /// Whose.
        from: Side,
        /// How many; 0 if that is not known.
        bytes: u64,
    },
    /// The connection is forgotten, because memory is needed for others. If it says more, that is
    /// another connection's.
    Forgotten,
    /// From here on the connection's bytes cannot be told apart.
    Opaque {
        /// Why: `tls`, `gssapi`, `http2`, `compression`, `upgrade`, `replication`, `unknown`.
        reason: &'static str,
    },
}

/// Takes the results.
pub trait Sink {
    /// A visit ended, or will never be seen to end.
    fn visit(&mut self, visit: &Visit<'_>);
    /// Something happened.
    fn event(&mut self, event: &Event);
    /// A message ended.
    fn message(&mut self, message: &Message);
    /// Something was seen that helps to pair connections. Only where a server passes through.
    fn clue(&mut self, _clue: Clue) {}
}

/// An address and a port, kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

impl From<Peer> for SocketAddr {
    fn from(peer: Peer) -> Self {
        Self::new(peer.address, peer.port)
    }
}
