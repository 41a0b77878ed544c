//! Rows that were cut off. Where a packet begins is not known any more, but no time is missing:
//! every byte of the reply is accounted for, and its end is told by the capture's filter, by the
//! last bytes of a packet that was kept, or by the next command. (A client waits for its rows before
//! it asks again; only commands without rows are sent in advance.)

use super::bulk::{self, END};
use super::server::answered;
use super::{Asked, Mysql};
use crate::context::Context;
use crate::exchange::Exchanges;

impl Mysql {
    /// Takes more of the reply, of which it is not known whether it was the end unless `ends`. The
    /// reply stays the one it was if what was cut off can only be rows, and of one reply.
    pub(super) fn drift_or_lose(
        &mut self,
        at_ns: i64,
        bytes: u64,
        ends: bool,
        cx: &mut Context<'_>,
    ) {
        if self.reply.is_in_result() && self.exchanges.len() == 1 {
            self.drift(at_ns, bytes, ends, cx);
        } else {
            self.lose_replies(at_ns);
        }
    }

    /// True if the reply that was cut ends with these bytes. An EOF packet ends definitions too.
    pub(super) fn ends_rows(&self, bytes: &[u8]) -> bool {
        let ends_definitions = matches!(
            *bytes,
            [.., 5, 0, 0, sequence, END, _, _, _, _] if Some(sequence) == self.definitions_eof
        );
        bulk::ends_reply(bytes) && !ends_definitions
    }

    /// Takes more of the reply; it ends with these bytes if `ends`.
    pub(super) fn drift(&mut self, at_ns: i64, bytes: u64, ends: bool, cx: &mut Context<'_>) {
        if let Some(exchange) = self.exchanges.first() {
            exchange.reply_grew(at_ns, bytes);
        }
        if self.adrift_ns.is_none() {
            self.definitions_eof = self.reply.definitions_eof();
        }
        self.reply.restart();
        if ends {
            self.adrift_ns = None;
            self.replies.resume();
            land(at_ns, Some(0), &mut self.exchanges, cx);
        } else {
            self.adrift_ns = Some(at_ns);
            self.replies.frames.lose();
        }
    }
}

/// Ends the first exchange: with its reply's last byte, which was seen.
pub(super) fn land(
    end_ns: i64,
    status: Option<i32>,
    exchanges: &mut Exchanges<Asked>,
    cx: &mut Context<'_>,
) {
    if let Some(exchange) = exchanges.first() {
        exchange.status = status;
        answered(exchange, end_ns, cx);
    }
    exchanges.replied(Some(end_ns), cx);
}
