//! What the client asks.

use super::Message;
use super::message::{Fields, request_name};
use super::session::{Asked, First, Kind, Session};
use crate::context::{Context, Place};
use crate::exchange::Exchange;
use crate::label::Label;
use crate::pairing::Clue;
use crate::sink::Side;
use crate::sql::{Dialect, Digest, Recent, Statement};

impl Session {
    /// Takes a client's message.
    pub(super) fn request(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let kind = message.header[0];
        let name = request_name(kind).filter(|_| message.whole).unwrap_or("cut");
        cx.message(Side::Client, (message.start_ns, message.end_ns), message.size(), name);
        match kind {
            b'd' | b'c' | b'f' | b'p' => {
                if let Some(exchange) = self.exchanges.first() {
                    exchange.request_grew(message.end_ns, message.size() as usize);
                }
                return;
            }
            b'X' => return,
            _ => self.settle(cx),
        }
        match kind {
            b'Q' => {
                let text = message.prefix.strip_suffix(&[0]).unwrap_or(message.prefix);
                let recent = statement(text, is_longer(message), message.whole, cx);
                self.query(message, recent, cx);
            }
            b'F' => {
                let label = cx.shared.labels.number("FUNCTION CALL");
                self.query(message, Recent { label, digest: Digest::default() }, cx);
            }
            b'P' => self.parse(message, cx),
            b'B' => {
                let shared = &mut *cx.shared;
                self.statements.bound(message.prefix, &shared.salt, &mut shared.scratch);
                self.step(First::Bind, message, cx);
            }
            b'D' => self.step(First::Describe, message, cx),
            b'C' => {
                self.statements.closed(message.prefix);
                self.close(message, cx);
            }
            b'E' => self.execute(message, cx),
            b'H' => self.flush(message, cx),
            b'S' => self.sync(message, cx),
            _ => {}
        }
    }

    /// A request came: what was uncertain before it has been answered unseen.
    fn settle(&mut self, cx: &mut Context<'_>) {
        if self.is_ready && (self.adrift || self.in_doubt) {
            self.exchanges.abandon(cx);
            (self.adrift, self.in_doubt) = (false, false);
        }
        if self.exchanges.uncertain() > 0 {
            // If several were asked at once, replies of them may still come.
            self.adrift = self.syncing(2) > 1;
            self.exchanges.abandon_uncertain(cx);
        }
    }

    /// A Query or a FunctionCall.
    fn query(&mut self, message: &Message<'_>, asked: Recent, cx: &mut Context<'_>) {
        self.end_steps(cx);
        self.push(Asked { syncs: true, ..Asked::of(Kind::Query) }, message, cx);
        if let Some(exchange) = self.exchanges.last() {
            said(exchange, asked.label, asked.digest);
            pair(exchange, cx);
        }
    }

    fn parse(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let mut fields = Fields(message.prefix);
        let name = fields.text().unwrap_or(&[]);
        // One that is longer than what is read of it has no end here, one that was cut neither.
        let text = fields.text();
        let goes_on = text.is_none() && is_longer(message);
        let recent = statement(text.unwrap_or(fields.0), goes_on, message.whole, cx);
        self.statements.parsed(name, recent);
        self.step(First::Parse(recent.label), message, cx);
        if let Some(exchange) = self.exchanges.last() {
            said(exchange, recent.label, recent.digest);
        }
    }

    /// One of the messages before an Execute.
    pub(super) fn step(&mut self, first: First, message: &Message<'_>, cx: &mut Context<'_>) {
        self.extend(first, message, cx);
        if let Some(exchange) = self.exchanges.last() {
            exchange.detail.due += 1;
        }
    }

    fn execute(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        let portal = Fields(message.prefix).text().and_then(|name| self.statements.portal(name));
        self.extend(First::Bind, message, cx);
        let Some(exchange) = self.exchanges.last() else { return };
        exchange.detail.kind = Kind::Execute;
        exchange.detail.executes = 1;
        match portal {
            Some(portal) => said(exchange, portal.label, portal.digest),
            None => exchange.label = cx.shared.labels.number("EXECUTE"),
        }
        pair(exchange, cx);
        self.join(cx);
    }

    fn flush(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        if let Some(exchange) = self.exchanges.last()
            && let Kind::Steps(_) = exchange.detail.kind
        {
            grew(exchange, message, cx);
        }
        self.end_steps(cx);
        match self.exchanges.last() {
            Some(exchange) if !exchange.detail.syncs => exchange.detail.is_flushed = true,
            _ => {}
        }
        self.complete(cx);
    }

    fn sync(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        self.end_steps(cx);
        if let Some(exchange) = self.exchanges.last()
            && exchange.detail.may_sync()
        {
            exchange.detail.syncs = true;
            exchange.detail.syncs_again = false;
            exchange.detail.completed_ns = None;
            exchange.request_grew(message.end_ns, message.size() as usize);
            return self.syncs();
        }
        self.push(Asked { syncs: true, ..Asked::of(Kind::Ended) }, message, cx);
        if let Some(exchange) = self.exchanges.last() {
            exchange.label = cx.shared.labels.number("SYNC");
            pair(exchange, cx);
        }
    }

    /// The extended query goes on with this message, or begins with it.
    fn extend(&mut self, first: First, message: &Message<'_>, cx: &mut Context<'_>) {
        match self.exchanges.last() {
            Some(exchange) if matches!(exchange.detail.kind, Kind::Steps(_)) => {
                grew(exchange, message, cx);
                if let First::Parse(_) = first {
                    exchange.detail.kind = Kind::Steps(first);
                }
            }
            _ => self.push(Asked::of(Kind::Steps(first)), message, cx),
        }
    }

    /// No Execute follows what came before one.
    fn end_steps(&mut self, cx: &mut Context<'_>) {
        let Some(exchange) = self.exchanges.last() else { return };
        let Kind::Steps(first) = exchange.detail.kind else { return };
        exchange.detail.kind = Kind::Ended;
        let shared = &mut *cx.shared;
        exchange.label = match first {
            First::Parse(label) => {
                shared.text.clear();
                shared.text.push_str("PREPARE ");
                shared.text.push_str(shared.labels.text(label));
                shared.labels.number(&shared.text)
            }
            First::Bind => shared.labels.number("BIND"),
            First::Describe => shared.labels.number("DESCRIBE"),
            First::Close => shared.labels.number("CLOSE"),
        };
        pair(exchange, cx);
        self.complete(cx);
    }

    fn push(&mut self, asked: Asked, message: &Message<'_>, cx: &mut Context<'_>) {
        // What comes before an Execute may join the one before, with it.
        if !matches!(asked.kind, Kind::Steps(_)) {
            self.complete(cx);
        }
        self.make_room(cx);
        if asked.syncs {
            self.syncs();
        }
        let content = if cx.shared.passes { cx.shared.salt.hash(message.prefix) } else { 0 };
        let (start_ns, end_ns) = (message.start_ns, message.end_ns);
        let asked = Asked { content, ..asked };
        let exchange = Exchange::new(start_ns, end_ns, message.size(), Label::default(), asked);
        self.exchanges.push(exchange, cx);
    }

    /// How many ReadyForQuery are due, up to `most`: of many that wait no more are looked at.
    pub(super) fn syncing(&self, most: usize) -> usize {
        self.exchanges.iter().filter(|it| it.detail.syncs).take(most).count()
    }
}

impl Asked {
    /// True if a Sync belongs to this request.
    fn may_sync(&self) -> bool {
        let has_none = matches!(self.kind, Kind::Execute | Kind::Ended) && !self.syncs;
        has_none || self.syncs_again
    }
}

/// True if more was said than is read of it.
fn is_longer(message: &Message<'_>) -> bool {
    message.prefix.len() < message.length
}

/// A statement's label and what it carried.
fn statement(text: &[u8], goes_on: bool, whole: bool, cx: &mut Context<'_>) -> Recent {
    let statement = Statement { text, dialect: Dialect::Postgresql, goes_on };
    if whole {
        return cx.shared.statement(statement);
    }
    cx.shared.digest("", statement, false)
}

fn said(exchange: &mut Exchange<Asked>, label: Label, digest: Digest) {
    exchange.label = label;
    (exchange.id_hash, exchange.literals) = (digest.id_hash, digest.literals);
}

/// A request goes on with this message.
pub(super) fn grew(exchange: &mut Exchange<Asked>, message: &Message<'_>, cx: &mut Context<'_>) {
    exchange.request_grew(message.end_ns, message.size() as usize);
    if cx.shared.passes {
        let before = exchange.detail.content.rotate_left(1);
        exchange.detail.content = before ^ cx.shared.salt.hash(message.prefix);
    }
}

/// Everything of the request is there that a connection behind this one is asked, too.
fn pair(exchange: &Exchange<Asked>, cx: &mut Context<'_>) {
    let content = exchange.detail.content;
    cx.clue(|_, Place { server, connection, .. }| Clue::Requested { server, connection, content });
}
