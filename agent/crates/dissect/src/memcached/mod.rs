//! memcached's text protocol (`doc/protocol.txt` in its sources) and its binary protocol
//! (`doc/protocol-binary.txt`). A connection's first byte tells which one it speaks.
//!
//! A visit is a command, whatever the number of its keys. Its label is the command's name, its status
//! that of the binary protocol: 0 success, a hit among them; 1 a miss; 2 exists; 5 not stored; errors.
//! A command with `noreply` is a visit without a reply. A quiet command to which the server has
//! nothing to say ends with the reply behind it, which tells that.

mod binary;
mod bulk;
mod command;
mod opcode;
mod reply;
mod status;
mod text;
mod text_replies;
mod text_requests;

use crate::context::Context;
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use crate::tls;
use binary::Binary;
pub(crate) use bulk::BULK;
use text::Text;

/// Which of the two protocols it is.
enum Dialect {
    /// Nothing told it yet; everything was seen so far, or not.
    Unknown {
        from_start: bool,
    },
    Text(Text),
    Binary(Binary),
}

/// A connection that speaks one of memcached's protocols.
pub(crate) struct Memcached {
    dialect: Dialect,
    is_tls: bool,
}

impl Parser for Memcached {
    fn new(from_start: bool) -> Self {
        Self { dialect: Dialect::Unknown { from_start }, is_tls: false }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        if let Dialect::Unknown { from_start } = self.dialect {
            self.is_tls = from == Side::Client && bytes.starts_with(&tls::HANDSHAKE);
            self.dialect = dialect(from, bytes, from_start);
        }
        match &mut self.dialect {
            Dialect::Unknown { .. } => {}
            Dialect::Text(text) => text.bytes(from, at_ns, bytes, cx),
            Dialect::Binary(binary) => binary.bytes(from, at_ns, bytes, cx),
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match &mut self.dialect {
            Dialect::Unknown { from_start } => *from_start = false,
            Dialect::Text(text) => text.lost(from, gap, cx),
            Dialect::Binary(binary) => binary.lost(from, gap, cx),
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        match &mut self.dialect {
            Dialect::Unknown { .. } => {}
            Dialect::Text(text) => text.finish(cx),
            Dialect::Binary(binary) => binary.finish(cx),
        }
    }

    fn other(&self) -> Option<&'static str> {
        match &self.dialect {
            _ if self.is_tls => Some(tls::NAME),
            Dialect::Text(text) if text.is_foreign() => Some("unknown"),
            _ => None,
        }
    }

    fn held_bytes(&self) -> usize {
        of_box::<Self>()
            + match &self.dialect {
                Dialect::Unknown { .. } => 0,
                Dialect::Text(text) => text.held_bytes(),
                Dialect::Binary(binary) => binary.held_bytes(),
            }
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    let is_binary = binary::looks_like(binary::REQUEST, client)
        && (server.is_empty() || binary::looks_like(binary::REPLY, server));
    is_binary || (command::looks_like_command(client) && reply::looks_like_reply(server))
}

/// Which one a connection speaks on which these are the first bytes.
fn dialect(from: Side, bytes: &[u8], from_start: bool) -> Dialect {
    let is_binary = match from {
        Side::Client if from_start => bytes.first() == Some(&binary::REQUEST),
        Side::Client => binary::looks_like(binary::REQUEST, bytes),
        Side::Server => binary::looks_like(binary::REPLY, bytes),
    };
    if is_binary {
        Dialect::Binary(Binary::new(from_start))
    } else if from == Side::Client && (from_start || command::looks_like_command(bytes)) {
        Dialect::Text(Text::new(from_start))
    } else {
        Dialect::Unknown { from_start }
    }
}
