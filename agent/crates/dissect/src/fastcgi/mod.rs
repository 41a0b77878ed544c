//! FastCGI 1.0 (Brown, "FastCGI Specification", Open Market, 1996). Requests of one connection may
//! be under way side by side: each record says whose it is.

mod bulk;
mod header;
mod params;
mod record;

use crate::context::Context;
use crate::exchange::Exchange;
use crate::framed::{self, Frames};
use crate::keyed::KeyedExchanges;
use crate::memory::{of_box, of_vec};
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use crate::trace_context;
use crate::{path, query};
pub(crate) use bulk::BULK;
use header::Header;
use record::*;

type Record<'a> = framed::Frame<'a, HEADER>;

/// Parameters, and forms, are read up to this length.
const LONGEST: usize = 64 << 10;

/// Of an output no more is read: its header is in its first records.
const LONGEST_PREFIX: usize = 4 << 10;

/// What was said of a request so far.
#[derive(Default)]
struct Asked {
    params: Vec<u8>,
    /// More of them came after some that were not captured: they cannot be told apart.
    params_are_cut: bool,
    /// The form that it carries.
    form: Option<Vec<u8>>,
    header: Header,
}

/// A connection that speaks FastCGI.
pub(crate) struct Fastcgi {
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    open: Open,
    /// A record was seen, or the connection's beginning was not.
    has_begun: bool,
}

/// The requests that are not over.
#[derive(Default)]
struct Open {
    exchanges: KeyedExchanges<Asked>,
    /// A buffer for the next request's parameters.
    spare: Vec<u8>,
}

impl Parser for Fastcgi {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Frames::new(measure, LONGEST, from_start),
            replies: Frames::new(measure, LONGEST_PREFIX, from_start),
            open: Open::default(),
            has_begun: !from_start,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        self.resume(from, bytes, cx);
        match from {
            Side::Client => {
                while let Some(record) = self.requests.next(at_ns, &mut bytes) {
                    self.has_begun = true;
                    self.open.request(&record, cx);
                }
            }
            Side::Server => {
                while let Some(record) = self.replies.next(at_ns, &mut bytes) {
                    self.open.reply(&record, cx);
                }
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        let goes_on = match from {
            Side::Client => {
                self.has_begun = true;
                self.requests.skip_of_request(gap)
            }
            Side::Server => self.replies.skip_of_reply(gap),
        };
        if let Some(at_ns) = goes_on {
            self.bytes(from, at_ns, &[], cx);
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.open.exchanges.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        (!self.has_begun && self.requests.is_lost()).then_some("unknown")
    }

    fn held_bytes(&self) -> usize {
        let records = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + records + self.open.held_bytes()
    }
}

impl Fastcgi {
    /// Takes up a lost stream where a packet begins with a record.
    fn resume(&mut self, from: Side, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client if self.requests.is_lost() && begins_request(bytes) => {
                self.requests.resume();
            }
            Side::Server if self.replies.is_lost() && looks_like_replies(bytes) => {
                self.replies.resume();
                // It may be the reply to a request that was lost, too.
                if self.requests.is_lost() {
                    self.open.exchanges.abandon(cx);
                }
            }
            _ => {}
        }
    }
}

impl Open {
    fn request(&mut self, record: &Record<'_>, cx: &mut Context<'_>) {
        let (kind, id) = (record.header[1], request_id(record.header));
        let times = (record.start_ns, record.end_ns);
        let size = record.size();
        cx.message(Side::Client, times, size, if record.whole { name(kind) } else { "cut" });
        match kind {
            BEGIN_REQUEST => {
                let label = cx.shared.labels.number("(incomplete)");
                let params = std::mem::take(&mut self.spare);
                let asked = Asked { params, ..Asked::default() };
                self.exchanges.push(id, Exchange::new(times.0, times.1, size, label, asked), cx);
            }
            GET_VALUES => {
                let label = cx.shared.labels.number("GET_VALUES");
                let exchange = Exchange::new(times.0, times.1, size, label, Asked::default());
                self.exchanges.push(id, exchange, cx);
            }
            PARAMS | STDIN | DATA => {
                let Some(exchange) = self.exchanges.get(id) else { return };
                exchange.request_grew(record.end_ns, size as usize);
                match (kind, ends_stream(record)) {
                    (PARAMS, false) => exchange.detail.grew(record),
                    (PARAMS, true) => self.spare = asked(exchange, cx),
                    (STDIN, false) => exchange.detail.form_grew(record),
                    (STDIN, true) => form_is_over(exchange, cx),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn reply(&mut self, record: &Record<'_>, cx: &mut Context<'_>) {
        let (kind, id) = (record.header[1], request_id(record.header));
        cx.message(Side::Server, (record.start_ns, record.end_ns), record.size(), name(kind));
        let Some(exchange) = self.exchanges.get(id) else { return };
        exchange.reply_grew(record.start_ns, record.size());
        match kind {
            STDOUT => {
                let status = exchange.detail.header.take(content(record), record.whole);
                exchange.status = exchange.status.or(status);
            }
            END_REQUEST | GET_VALUES_RESULT | UNKNOWN_TYPE => {
                self.exchanges.replied(id, Some(record.end_ns), cx);
            }
            _ => {}
        }
    }

    fn held_bytes(&self) -> usize {
        let of_one = |it: &Exchange<Asked>| {
            let form = it.detail.form.as_ref().map_or(0, of_vec);
            of_vec(&it.detail.params) + form + it.detail.header.held_bytes()
        };
        let details: usize = self.exchanges.iter().map(of_one).sum();
        self.exchanges.held_bytes() + details + of_vec(&self.spare)
    }
}

impl Asked {
    fn grew(&mut self, record: &Record<'_>) {
        if !self.params_are_cut {
            take(&mut self.params, content(record));
            self.params_are_cut = !record.whole;
        }
    }

    fn form_grew(&mut self, record: &Record<'_>) {
        if !record.whole {
            self.form = None;
        }
        if let Some(form) = &mut self.form {
            take(form, content(record));
        }
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    let begins = begins_request(client) || matches!(client, [1, GET_VALUES, 0, 0, ..]);
    begins && (server.is_empty() || looks_like_replies(server))
}

fn take(buffer: &mut Vec<u8>, bytes: &[u8]) {
    let room = LONGEST.saturating_sub(buffer.len()).min(bytes.len());
    buffer.extend_from_slice(&bytes[..room]);
}

/// Reads the parameters, which are all there now. Gives their buffer, empty.
fn asked(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) -> Vec<u8> {
    let mut bytes = std::mem::take(&mut exchange.detail.params);
    let params = params::read(&bytes);
    let shared = &mut *cx.shared;
    if !params.method.is_empty() && !params.target.is_empty() {
        shared.text.clear();
        path::template(
            str::from_utf8(params.method).unwrap_or("?"),
            params.target,
            &mut shared.text,
        );
        exchange.label = shared.labels.number(&shared.text);
        path::values(params.target, &shared.salt, &mut exchange.literals);
    }
    query::values(params.query, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.detail.form = params.is_form.then(Vec::new);
    exchange.id_hash = cx.id_hash(trace_context::request_id(params.traceparent, params.request_id));
    bytes.clear();
    bytes
}

fn form_is_over(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) {
    if let Some(form) = exchange.detail.form.take() {
        let shared = &mut *cx.shared;
        query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    }
}
