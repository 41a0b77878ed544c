//! What travelled between the servers: captured packets in, messages and visits out.
//!
//! Design constraints:
//!
//! * **Sans-IO.** No socket, clock or file is touched. Time comes with every packet, results leave
//!   through a [`Sink`], so that a live ring, a capture file and a test are the same to this crate.
//! * **No copy where the stream is in order.** A parser reads the packet where it lies and carries
//!   over only what a packet boundary cuts. Nothing is allocated per packet in the steady state.
//! * **Nothing invented.** Where bytes were lost, a parser goes on by the lengths it knows or waits
//!   for the next certain start of a message; what it did not see stays `None`.
//! * **No payload leaves.** Labels have no literals; ids and literals leave as salted hashes only.
//! * **Any bytes are legal input.** No packet makes it panic. Its memory is under one stated budget
//!   ([`MEMORY_BYTES`]); where that is short, the connections that have been silent longest go.

#![forbid(unsafe_code)]

mod ajp13;
mod clock;
mod closed;
mod connection;
mod context;
mod copies;
mod decimal;
mod dissector;
mod exchange;
mod fastcgi;
pub mod filter;
mod flow;
mod frame;
mod framed;
mod http1;
mod http2;
mod key;
mod keyed;
mod label;
mod left_out;
mod line;
mod link;
mod literal;
mod memcached;
mod memory;
mod mysql;
mod order;
mod pairing;
mod parser;
mod path;
mod path_value;
mod percent;
mod pipeline;
mod postgresql;
mod preamble;
mod protocol;
mod query;
mod redis;
mod salt;
mod server;
mod sink;
mod spoken;
mod sql;
mod surmised;
mod tcp;
mod tls;
mod trace_context;
mod tunnel;
mod turns;

pub use clock::Clock;
pub use dissector::Dissector;
pub use flow::{connection_hash, flow_hash};
pub use frame::{CapturedFrame, Parsed, Segment};
pub use left_out::LeftOut;
pub use link::{LinkType, Unread};
pub use memory::MEMORY_BYTES;
pub use pairing::{Clue, Pairing};
pub use protocol::Protocol;
pub use salt::Salt;
pub use server::Server;
pub use sink::{Event, EventKind, Message, Peer, Side, Sink, Visit};
pub use spoken::{Spoken, spoken};
