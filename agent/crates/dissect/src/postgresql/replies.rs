//! What the server answers.

use super::message::reply_name;
use super::session::{Asked, Kind, Session, Skipped};
use super::{Message, sqlstate};
use crate::context::{Context, Place};
use crate::exchange::Exchange;
use crate::pairing::Clue;
use crate::sink::Side;

/// AuthenticationOk; all others are questions of a login.
const LOGGED_IN: [u8; 4] = [0; 4];

impl Session {
    /// Takes a server's message.
    pub(super) fn reply(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let kind = message.header[0];
        let name = reply_name(kind).unwrap_or("unknown");
        cx.message(Side::Server, (message.start_ns, message.end_ns), message.size(), name);
        self.is_ready = kind == b'Z' && self.waits();
        if kind == b'K' {
            greeted(message, cx);
        }
        if self.adrift {
            return;
        }
        // What is said at any time tells nothing of what follows an Execute.
        if self.exchanges.len() > 1 && !matches!(kind, b'A' | b'N' | b'S') {
            self.complete(cx);
        }
        match kind {
            b'Z' => return self.ready(message, cx),
            b'E' => return self.failed(message, cx),
            _ => {}
        }
        let may_be_joined = self.may_be_joined();
        let is_certain = self.exchanges.uncertain() == 0;
        let Some(exchange) = self.exchanges.first() else { return };
        let size = message.size();
        match kind {
            // What is said at any time, or asks for more of the request, is not the reply's beginning.
            b'A' | b'S' | b'v' | b'G' => exchange.bytes_out += size,
            b'R' if !message.prefix.starts_with(&LOGGED_IN) => exchange.bytes_out += size,
            _ => exchange.reply_grew(message.start_ns, size),
        }
        let asked = &mut exchange.detail;
        match (kind, asked.kind) {
            (b'1' | b'2' | b'3' | b'n' | b'T', Kind::Steps(_) | Kind::Ended | Kind::Execute) => {
                asked.due = asked.due.saturating_sub(1);
            }
            (b'C' | b'I' | b's', Kind::Execute) => {
                asked.executes = asked.executes.saturating_sub(1);
            }
            (b'G', Kind::Execute) => return asked.syncs_again = asked.syncs,
            _ => return,
        }
        if !asked.is_answered() || asked.syncs || !is_certain {
            return;
        }
        exchange.status = Some(0);
        let may_go_on = exchange.detail.kind == Kind::Execute && !exchange.detail.is_flushed;
        if may_be_joined && may_go_on {
            exchange.detail.completed_ns = Some(message.end_ns);
        } else {
            self.exchanges.replied(Some(message.end_ns), cx);
        }
    }

    /// The server waits for the next request.
    fn ready(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let syncing = self.syncing(2);
        let is_certain = self.exchanges.settle() == 0;
        if !is_certain && syncing > 1 {
            // Whose this is cannot be told.
            self.exchanges.abandon(cx);
            self.adrift = true;
        }
        let skipped = self.skipped.take();
        let lacks_sync = |it: &mut Exchange<Asked>| it.detail.completed_ns.is_some();
        if self.exchanges.first().is_some_and(lacks_sync) {
            // It was lost, or it would not have been answered yet.
            return self.ended(message, cx);
        }
        if syncing == 0 {
            return;
        }
        while let Some(exchange) = self.exchanges.first() {
            let has_replied = exchange.detail.ends_with_ready(skipped);
            if has_replied {
                exchange.reply_grew(message.start_ns, message.size());
            }
            if let Some(Skipped { status }) = skipped {
                exchange.status = exchange.status.or(status);
            } else if has_replied && is_certain {
                exchange.status.get_or_insert(0);
            }
            let is_seen = has_replied || skipped.is_some();
            self.exchanges.replied(is_seen.then_some(message.end_ns), cx);
            if has_replied {
                return;
            }
        }
    }

    /// The first exchange's reply ends with this message.
    fn ended(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        if let Some(exchange) = self.exchanges.first() {
            exchange.reply_grew(message.start_ns, message.size());
        }
        self.exchanges.replied(Some(message.end_ns), cx);
    }

    fn failed(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let failure = sqlstate::read(message.prefix);
        let is_certain = self.exchanges.uncertain() == 0;
        let Some(exchange) = self.exchanges.first() else { return };
        exchange.reply_grew(message.start_ns, message.size());
        exchange.status = failure.status;
        let is_extended = !matches!(exchange.detail.kind, Kind::Query | Kind::Login);
        let is_over = !exchange.detail.syncs && is_certain;
        if is_extended && is_over {
            self.skipped = Some(Skipped { status: failure.status });
        }
        if failure.is_last || exchange.detail.kind == Kind::Login || is_over {
            self.exchanges.replied(Some(message.end_ns), cx);
        }
    }
}

impl Asked {
    /// True if every message was answered that is known to belong to it.
    fn is_answered(&self) -> bool {
        matches!(self.kind, Kind::Ended | Kind::Execute) && self.due == 0 && self.executes == 0
    }

    /// True if the next ReadyForQuery is this request's. A Query is skipped after an error, too.
    fn ends_with_ready(&self, skipped: Option<Skipped>) -> bool {
        self.syncs && !(skipped.is_some() && self.kind == Kind::Query)
    }
}

/// The key that cancels the connection's statements is drawn at random: a server that hands
/// connections on hands it on, too.
fn greeted(message: &Message<'_>, cx: &mut Context<'_>) {
    cx.clue(|shared, Place { server, connection, .. }| {
        let scramble = shared.salt.hash(message.prefix);
        Clue::Greeted { server, connection, scramble }
    });
}
