//! HTTP/1.0 and HTTP/1.1 (RFC 9112).

mod body;
mod bulk;
mod fields;
mod head;
mod reader;
mod replies;
mod requests;

use crate::context::Context;
use crate::exchange::Exchanges;
use crate::memory::{of_box, of_vec};
use crate::parser::{Gap, Parser};
use crate::sink::{EventKind, Side};
pub(crate) use bulk::BULK;
use reader::Reader;

/// What the reply's framing depends on (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Head,
    Connect,
    Other,
}

/// Whether the client holds its request's content back (RFC 9110 section 10.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Waits {
    /// It does not.
    #[default]
    No,
    /// Until the server asks for it, or for as long as it likes.
    Yes,
    /// The server has replied instead: the client may send it all the same, or go on with its next
    /// request.
    Refused,
}

/// What was taken for a request where another's content may go on that looks like one. It is none if
/// the client goes on before the server answers, or if it never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Surmised {
    #[default]
    Nothing,
    /// The head in progress.
    Head,
    /// The last request.
    Request,
}

/// The head of a reply whose request was not seen. That may have been a HEAD: then nothing follows.
#[derive(Clone, Copy)]
struct Unasked {
    end_ns: i64,
    bytes: u64,
}

/// A connection that speaks HTTP/1.
pub(crate) struct Http1 {
    requests: Reader,
    replies: Reader,
    /// The form that the current request carries, as far as it is worth hashing.
    form: Option<Vec<u8>>,
    waits: Waits,
    surmised: Surmised,
    exchanges: Exchanges<Method>,
    /// The current reply's request was not seen.
    unasked: Option<Unasked>,
    /// The bytes are another protocol's: from the start, or after an upgrade.
    opaque: bool,
    /// Why they cannot be read, where they are in turns all the same.
    other: Option<&'static str>,
}

impl Http1 {
    fn become_opaque(&mut self, at_ns: i64, reason: &'static str, cx: &mut Context<'_>) {
        self.opaque = true;
        self.exchanges.abandon(cx);
        cx.event(at_ns, EventKind::Opaque { reason });
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    head::may_be_request(client) && (server.is_empty() || head::looks_like_reply(server))
}

impl Parser for Http1 {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Reader::new(from_start),
            replies: Reader::new(from_start),
            form: None,
            waits: Waits::No,
            surmised: Surmised::Nothing,
            exchanges: Exchanges::default(),
            unasked: None,
            opaque: false,
            other: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        if self.opaque {
            return;
        }
        match from {
            Side::Client => self.request_bytes(at_ns, bytes, cx),
            Side::Server => {
                self.surmised = Surmised::Nothing;
                self.reply_bytes(at_ns, bytes, cx);
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        if self.opaque {
            return;
        }
        match from {
            Side::Client => self.request_lost(gap, cx),
            Side::Server => {
                self.surmised = Surmised::Nothing;
                self.reply_lost(gap, cx);
            }
        }
    }

    fn ended(&mut self, from: Side, last_ns: i64, cx: &mut Context<'_>) {
        if from == Side::Server && !self.opaque {
            self.replies_ended(last_ns, cx);
        }
    }

    fn finish(&mut self, cx: &mut Context<'_>) {
        // Nobody answered it: it may have been content.
        if self.surmised == Surmised::Request {
            self.exchanges.pop_last();
        }
        self.exchanges.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.other
    }

    fn held_bytes(&self) -> usize {
        let heads = self.requests.held_bytes() + self.replies.held_bytes();
        let form = self.form.as_ref().map_or(0, of_vec);
        of_box::<Self>() + heads + form + self.exchanges.held_bytes()
    }
}
