//! PostgreSQL's frontend/backend protocol, version 3
//! (<https://www.postgresql.org/docs/current/protocol.html>).
//!
//! A visit is a Query, a FunctionCall, a login, or an Execute with the Parse, Bind, Describe and Close
//! before it. Where a Flush or a Sync ends these without an Execute they are a visit of their own: a
//! `PREPARE` if a Parse is among them. A reply ends with the ReadyForQuery if the request has the Sync,
//! otherwise with what completes it. What the server skipped after an error ends with the
//! ReadyForQuery behind it, and has the error's status. A CancelRequest has no reply and is no visit.

mod message;
mod replies;
mod requests;
mod sqlstate;
mod startup;
mod statements;
mod values;

use crate::context::Context;
use crate::exchange::{Exchange, Exchanges};
use crate::framed::{self, Frames};
use crate::label::Label;
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use message::HEADER;
use startup::{Encryption, Startup};
use statements::Statements;

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
}

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Login,
    /// Something with a ReadyForQuery of its own: a Query or a FunctionCall.
    Query,
    Execute,
    /// What comes before an Execute; more of it may follow.
    Steps(First),
    /// The same once a Flush or a Sync ended it, or a Sync alone.
    Ended,
}

/// The message that an extended query begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    Parse(Label),
    Bind,
    Describe,
    Close,
}

/// What the protocol must know to read a reply.
struct Asked {
    kind: Kind,
    /// So many of Parse, Bind, Describe and Close are not answered.
    due: u32,
    /// A ReadyForQuery ends the reply.
    syncs: bool,
    /// The client asked for the reply with a Flush.
    is_flushed: bool,
    /// An Execute was completed then, but has neither a Sync yet nor a Flush: its reply may go on.
    completed_ns: Option<i64>,
    /// The server ignores this request's Sync, because it copies in; the client sends another.
    syncs_again: bool,
    /// A hash of everything that was asked.
    content: u64,
}

/// A connection that speaks PostgreSQL's protocol.
pub(crate) struct Postgresql {
    phase: Phase,
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    talk: Talk,
    /// Why the bytes cannot be read.
    other: Option<&'static str>,
}

/// What is asked and answered.
#[derive(Default)]
struct Talk {
    exchanges: Exchanges<Asked>,
    statements: Statements,
    /// How many of the exchanges waited when replies were lost, so that theirs may be among the lost.
    uncertain: usize,
    /// It is not known whose replies come, until the server waits and the client asks.
    adrift: bool,
    /// Requests were lost: some of the exchanges may be parts of one, until then, too.
    in_doubt: bool,
    /// The server's last message said that it waits.
    is_ready: bool,
    /// An error made the server skip what comes before the next Sync; its status.
    skipped: Option<Skipped>,
}

#[derive(Clone, Copy)]
struct Skipped {
    status: Option<i32>,
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
            talk: Talk::default(),
            other: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => self.client_bytes(at_ns, bytes, cx),
            Side::Server => self.server_bytes(at_ns, bytes, cx),
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => self.client_lost(gap, cx),
            Side::Server => self.server_lost(gap, cx),
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.talk.exchanges.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.other
    }

    fn held_bytes(&self) -> usize {
        let messages = self.requests.held_bytes() + self.replies.held_bytes();
        let talk = self.talk.exchanges.held_bytes() + self.talk.statements.held_bytes();
        of_box::<Self>() + messages + talk
    }
}

impl Postgresql {
    fn client_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        if self.requests.is_lost() {
            if message::looks_like_requests(bytes) {
                self.requests.resume();
            } else if startup::is_tls(bytes) {
                self.other = Some("tls");
            }
        }
        let begun = bytes;
        while let Some(message) = self.requests.next(at_ns, &mut bytes) {
            if self.phase == Phase::Messages {
                self.talk.request(&message, cx);
                continue;
            }
            match startup::read(&message) {
                None => return self.other = Some("unknown"),
                Some(wish) => {
                    started(wish, &message, &mut self.talk, cx);
                    self.after(wish);
                }
            }
        }
        if !self.requests.is_lost() {
            return;
        }
        self.talk.lost_requests(cx);
        if self.phase != Phase::Messages {
            self.other = Some(if startup::is_tls(begun) { "tls" } else { "unknown" });
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
                self.talk.abandon_uncertain(cx);
            }
        }
        while let Some(message) = self.replies.next(at_ns, &mut bytes) {
            self.talk.reply(&message, cx);
        }
        if self.replies.is_lost() {
            self.talk.lost_replies();
        }
    }

    /// A request whose end was lost is one all the same: it ends for us where it was seen last.
    fn client_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        if self.phase != Phase::Messages {
            self.after(Startup::Login);
            return self.requests.lose();
        }
        let at_ns = gap.at_ns.unwrap_or(self.requests.last_ns);
        if self.requests.skip(Some(at_ns), gap.bytes) {
            self.client_bytes(at_ns, &[], cx);
        } else {
            self.talk.lost_requests(cx);
        }
    }

    fn server_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        if let Phase::Encryption(_) = self.phase {
            self.phase = Phase::Startup;
        }
        match (self.replies.skip(gap.at_ns, gap.bytes), gap.at_ns) {
            (true, Some(at_ns)) => self.server_bytes(at_ns, &[], cx),
            (true, None) => {}
            (false, _) => self.talk.lost_replies(),
        }
    }
}

/// Takes what a client sends first.
fn started(wish: Startup, message: &Message<'_>, talk: &mut Talk, cx: &mut Context<'_>) {
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
        talk.exchanges.push(Exchange::new(times.0, times.1, message.size(), label, asked), cx);
    }
}

impl Asked {
    fn of(kind: Kind) -> Self {
        Self {
            kind,
            due: 0,
            syncs: false,
            is_flushed: false,
            completed_ns: None,
            syncs_again: false,
            content: 0,
        }
    }
}

impl Talk {
    /// Replies were lost: those of the exchanges that wait may be among them.
    fn lost_replies(&mut self) {
        self.uncertain = self.exchanges.len();
        self.is_ready = false;
        self.skipped = None;
    }

    /// Requests were lost, and with them the end of an extended query and its Sync.
    fn lost_requests(&mut self, cx: &mut Context<'_>) {
        self.in_doubt = true;
        self.statements.lost();
        if let Some(exchange) = self.exchanges.last()
            && let Kind::Steps(_) = exchange.detail.kind
        {
            exchange.detail.kind = Kind::Ended;
            exchange.detail.syncs = true;
            exchange.label = cx.shared.labels.number("(incomplete)");
        }
    }

    /// The replies that may have been lost were lost.
    fn abandon_uncertain(&mut self, cx: &mut Context<'_>) {
        for _ in 0..std::mem::take(&mut self.uncertain) {
            self.exchanges.replied(None, cx);
        }
    }
}
