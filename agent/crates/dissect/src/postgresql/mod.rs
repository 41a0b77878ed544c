//! PostgreSQL's frontend/backend protocol, version 3
//! (<https://www.postgresql.org/docs/current/protocol.html>).
//!
//! A visit is a Query, a FunctionCall, a login, or an Execute with the Parse, Bind, Describe and Close
//! before it and the Close behind it. An Execute is one visit with those before it that lie before the same
//! Sync or Flush, if they began its transaction, set something for it or ran the same statement. Where a
//! Flush or a Sync ends what comes before an Execute without one, that is a visit of its own: a
//! `PREPARE` if a Parse is among them. A reply ends with the ReadyForQuery if the request has the Sync,
//! otherwise with what completes it. What the server skipped after an error ends with the
//! ReadyForQuery behind it, and has the error's status. A CancelRequest has no reply and is no visit.

mod joined;
mod message;
mod replies;
mod requests;
mod session;
mod sqlstate;
mod startup;
mod statements;
mod values;

use crate::context::Context;
use crate::exchange::Exchange;
use crate::framed::{self, Frames};
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::{EventKind, Side};
use crate::tls;
use message::{COPY_BOTH, COPY_DATA, HEADER};
use session::{Asked, Kind, Session};
use startup::{Encryption, Startup};

type Message<'a> = framed::Frame<'a, HEADER>;

/// Statements are read up to this length.
const LONGEST_STATEMENT: usize = 64 << 10;
/// Of a server's message no more is read: an error's code.
const LONGEST_PREFIX: usize = 512;

/// How far the connection got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The client has yet to say what it wants.
    Startup,
    /// The server has yet to say whether what follows is encrypted.
    Encryption(Encryption),
    /// Messages have a type.
    Messages,
    /// Both sides copy at once: the server sends its log, for ever.
    Replication,
}

/// A connection that speaks PostgreSQL's protocol.
pub(crate) struct Postgresql {
    phase: Phase,
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    session: Session,
    /// The client's last message was a part of a copy.
    client_copies: bool,
    /// Why the bytes cannot be read.
    other: Option<&'static str>,
}

impl Parser for Postgresql {
    fn new(from_start: bool) -> Self {
        let (phase, measure): (_, framed::Measure<HEADER>) = if from_start {
            (Phase::Startup, startup::measure)
        } else {
            (Phase::Messages, message::measure_request)
        };
        Self {
            phase,
            requests: Frames::new(measure, LONGEST_STATEMENT, from_start),
            replies: Frames::new(message::measure_reply, LONGEST_PREFIX, from_start),
            session: Session::default(),
            client_copies: false,
            other: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            _ if self.phase == Phase::Replication => {}
            Side::Client => self.client_bytes(at_ns, bytes, cx),
            Side::Server => self.server_bytes(at_ns, bytes, cx),
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            _ if self.phase == Phase::Replication => {}
            Side::Client => self.client_lost(gap, cx),
            Side::Server => self.server_lost(gap, cx),
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.session.exchanges.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.other
    }

    fn held_bytes(&self) -> usize {
        let messages = self.requests.held_bytes() + self.replies.held_bytes();
        let session = self.session.exchanges.held_bytes() + self.session.statements.held_bytes();
        of_box::<Self>() + messages + session
    }
}

impl Postgresql {
    fn client_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        if self.requests.is_lost() {
            if message::looks_like_requests(bytes) {
                self.requests.resume();
            } else if startup::is_tls(bytes) {
                self.other = Some(tls::NAME);
            }
        }
        let begun = bytes;
        while let Some(message) = self.requests.next(at_ns, &mut bytes) {
            if self.phase == Phase::Messages {
                self.client_copies = message.header[0] == COPY_DATA;
                self.session.request(&message, cx);
                continue;
            }
            match startup::read(&message) {
                None => return self.other = Some("unknown"),
                Some(wish) => {
                    started(wish, &message, &mut self.session, cx);
                    self.after(wish);
                }
            }
        }
        if !self.requests.is_lost() {
            return;
        }
        self.session.lost_requests(cx);
        if self.phase != Phase::Messages {
            self.other = Some(if startup::is_tls(begun) { tls::NAME } else { "unknown" });
        }
    }

    fn after(&mut self, wish: Startup) {
        match wish {
            Startup::Encryption(it) => self.phase = Phase::Encryption(it),
            Startup::Cancel | Startup::Login => {
                self.phase = Phase::Messages;
                self.requests.measure = message::measure_request;
            }
        }
    }

    fn server_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        if let (Phase::Encryption(asked), Some(&answer)) = (self.phase, bytes.first()) {
            self.phase = Phase::Startup;
            if answer == asked.agreed() {
                return self.other = Some(asked.name());
            }
            if answer == b'N' {
                cx.message(Side::Server, (at_ns, at_ns), 1, "refusal");
                bytes = &bytes[1..];
            }
        }
        if self.replies.is_lost() {
            if !message::looks_like_replies(bytes) {
                return;
            }
            self.replies.resume();
            if self.requests.is_lost() {
                // The reply to a request that was lost too, or to one of those that wait.
                self.session.exchanges.abandon_uncertain(cx);
            }
        }
        while let Some(message) = self.replies.next(at_ns, &mut bytes) {
            self.session.reply(&message, cx);
            // In a copy of one direction the other is silent.
            let (kind, end_ns) = (message.header[0], message.end_ns);
            if kind == COPY_BOTH || (kind == COPY_DATA && self.client_copies) {
                return self.replicate(end_ns, cx);
            }
        }
        if self.replies.is_lost() {
            self.session.lost_replies(at_ns);
        }
    }

    /// START_REPLICATION was answered: what follows are no requests and replies.
    fn replicate(&mut self, end_ns: i64, cx: &mut Context<'_>) {
        self.phase = Phase::Replication;
        if let Some(exchange) = self.session.exchanges.first() {
            exchange.status = Some(0);
            self.session.exchanges.replied(Some(end_ns), cx);
        }
        self.session.exchanges.abandon(cx);
        cx.event(end_ns, EventKind::Opaque { reason: "replication" });
    }

    fn client_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        self.client_copies = false;
        if self.phase != Phase::Messages {
            self.after(Startup::Login);
            return self.requests.lose();
        }
        match self.requests.skip_of_request(gap) {
            Some(at_ns) => self.client_bytes(at_ns, &[], cx),
            None => self.session.lost_requests(cx),
        }
    }

    fn server_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        if let Phase::Encryption(_) = self.phase {
            self.phase = Phase::Startup;
        }
        match (self.replies.skip(gap.at_ns, gap.bytes), gap.at_ns) {
            (true, Some(at_ns)) => self.server_bytes(at_ns, &[], cx),
            (true, None) => {}
            (false, _) => self.session.lost_replies(gap.seen_ns),
        }
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    match startup::begun(client) {
        Some(Startup::Encryption(_)) => !server.is_empty(),
        Some(_) => true,
        None => message::looks_like_requests(client) && message::looks_like_replies(server),
    }
}

/// Whether the client asks for TLS, and the server agrees.
pub(crate) fn asks_for_tls(client: &[u8], server: &[u8]) -> bool {
    let agreed = Encryption::Tls.agreed();
    startup::begun(client) == Some(Startup::Encryption(Encryption::Tls))
        && server.first() == Some(&agreed)
}

/// Takes what a client sends first.
fn started(wish: Startup, message: &Message<'_>, session: &mut Session, cx: &mut Context<'_>) {
    let times = (message.start_ns, message.end_ns);
    let name = match wish {
        Startup::Encryption(Encryption::Tls) => "SSLRequest",
        Startup::Encryption(Encryption::Gssapi) => "GSSENCRequest",
        Startup::Cancel => "CancelRequest",
        Startup::Login => "StartupMessage",
    };
    cx.message(Side::Client, times, message.size(), name);
    if wish == Startup::Login {
        let label = cx.shared.labels.number("LOGIN");
        let asked = Asked { syncs: true, ..Asked::of(Kind::Login) };
        session.exchanges.push(Exchange::new(times.0, times.1, message.size(), label, asked), cx);
    }
}
