//! The MySQL and MariaDB client/server protocol
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>,
//! <https://mariadb.com/kb/en/clientserver-protocol/>).

mod adrift;
mod bulk;
mod client;
mod command;
mod compressed;
mod fields;
mod login;
mod packets;
mod reply;
mod server;
mod statements;
mod values;

use crate::context::Context;
use crate::exchange::Exchanges;
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::{EventKind, Side};
pub(crate) use bulk::BULK;
use command::Expected;
use packets::Packets;
use reply::Reply;
use statements::Statements;

/// Statements are read up to this length.
const LONGEST_STATEMENT: usize = 64 << 10;
/// Of a server's packet no more is read: a greeting, or the flags of an OK.
const LONGEST_PREFIX: usize = 512;

/// How far the connection got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The server has yet to greet.
    Greeting,
    /// The client has yet to be let in.
    Login,
    /// The client commands.
    Commands,
    /// The server sends its log, for ever.
    Replication,
}

/// What the protocol must know to read a reply.
struct Asked {
    expected: Expected,
    /// The sequence number of the reply's first packet.
    sequence: u8,
}

/// A connection that speaks MySQL's protocol.
pub(crate) struct Mysql {
    phase: Phase,
    requests: Packets,
    replies: Packets,
    reply: Reply,
    exchanges: Exchanges<Asked>,
    /// Rows of the only reply that is due were cut off; the last byte of it so far was sent then.
    adrift_ns: Option<i64>,
    /// The sequence number of the EOF packet in it that ends no rows.
    definitions_eof: Option<u8>,
    statements: Statements,
    /// The client sends a file that the server asked for.
    sends_file: bool,
    /// What the server can do, then what the client chose of it. All, if it was not seen.
    capabilities: u64,
    /// Why the bytes cannot be read.
    other: Option<&'static str>,
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    // The client's answer to a greeting may be that it wants TLS.
    (is_greeting(server) && client.len() > 4)
        || (command::looks_like_command(client) && matches!(server, [_, _, _, 1, ..]))
}

/// Whether the client asks for TLS instead of logging in.
pub(crate) fn asks_for_tls(client: &[u8], server: &[u8]) -> bool {
    let answer = client.get(4..36);
    is_greeting(server) && answer.is_some_and(login::asks_for_tls)
}

/// The server's first packet is the first of a connection that is not refused.
fn is_greeting(server: &[u8]) -> bool {
    matches!(server, [_, _, _, 0, payload @ ..] if login::greeting(payload).is_some())
}

impl Mysql {
    fn replicate(&mut self, at_ns: i64, cx: &mut Context<'_>) {
        self.phase = Phase::Replication;
        self.exchanges.abandon(cx);
        cx.event(at_ns, EventKind::Opaque { reason: "replication" });
    }

    /// Nothing more of the connection is read here.
    fn is_over(&self) -> bool {
        self.phase == Phase::Replication || self.other.is_some()
    }
}

impl Parser for Mysql {
    fn new(from_start: bool) -> Self {
        Self {
            phase: if from_start { Phase::Greeting } else { Phase::Commands },
            requests: Packets::new(LONGEST_STATEMENT, from_start),
            replies: Packets::new(LONGEST_PREFIX, from_start),
            reply: Reply::default(),
            exchanges: Exchanges::default(),
            adrift_ns: None,
            definitions_eof: None,
            statements: Statements::default(),
            sends_file: false,
            capabilities: u64::MAX,
            other: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            _ if self.is_over() => {}
            Side::Client => self.client_bytes(at_ns, bytes, cx),
            Side::Server => self.server_bytes(at_ns, bytes, cx),
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            _ if self.is_over() => {}
            Side::Client => self.client_lost(gap, cx),
            Side::Server => self.server_lost(gap, cx),
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.exchanges.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.other
    }

    fn held_bytes(&self) -> usize {
        let packets = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + packets + self.exchanges.held_bytes() + self.statements.held_bytes()
    }
}
