//! FastCGI 1.0 (Brown, "FastCGI Specification", Open Market, 1996). Requests of one connection may
//! be under way side by side: each record says whose it is.

mod bulk;
mod header;
mod params;
mod record;

use crate::context::Context;
use crate::exchange::Exchange;
use crate::framed::{self, Frames};
use crate::keyed::Detail;
use crate::memory::{empty, of_box, of_vec};
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use crate::surmised::Requests;
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

/// What of a request comes next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Due {
    #[default]
    Params,
    Content,
    Nothing,
}

/// What was said of a request so far.
#[derive(Default)]
struct Asked {
    due: Due,
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
    requests: Requests<Asked>,
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

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.resume_requests(bytes);
                self.request_bytes(at_ns, bytes, cx);
            }
            Side::Server => {
                self.resume_replies(bytes, cx);
                self.reply_bytes(at_ns, bytes, cx);
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.has_begun = true;
                match self.requests.skip_of_request(gap) {
                    Some(at_ns) => self.request_bytes(at_ns, &[], cx),
                    None => self.lose_requests(),
                }
            }
            Side::Server => {
                if let Some(at_ns) = self.replies.skip_of_reply(gap) {
                    self.reply_bytes(at_ns, &[], cx);
                }
            }
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.open.requests.certain.abandon(cx);
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
    /// Takes up a lost stream where a packet begins with a request. Content may begin so, too: then
    /// the client goes on in another way, or the server does not answer (see [`crate::surmised`]).
    fn resume_requests(&mut self, bytes: &[u8]) {
        if !begins_request(bytes) {
            return;
        }
        let id = bytes.first_chunk().map_or(0, |&header| request_id(header));
        if self.requests.is_lost() {
            self.requests.resume();
        } else if self.requests.in_progress() > 0 || !self.open.requests.surmises(id) {
            return;
        }
        // If an id is used again, the ones before were no requests, or were answered unseen.
        self.open.requests.forget_surmised();
        self.open.requests.surmise();
        self.requests.measure = measure_request;
    }

    fn resume_replies(&mut self, bytes: &[u8], cx: &mut Context<'_>) {
        if self.replies.is_lost() && looks_like_replies(bytes) {
            self.replies.resume();
            // It may be the reply to a request that was lost, too.
            if self.requests.is_lost() {
                self.open.requests.certain.abandon(cx);
            }
        }
    }

    fn request_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let mut makes_sense = true;
        while makes_sense && let Some(record) = self.requests.next(at_ns, &mut bytes) {
            self.has_begun = true;
            makes_sense = self.open.request(&record, cx);
        }
        if self.open.requests.are_surmised() && (!makes_sense || self.requests.is_lost()) {
            self.lose_requests();
        }
    }

    fn reply_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let were_surmised = self.open.requests.are_surmised();
        // Where the client is in the middle of a record, it may be none at all.
        let is_whole = self.requests.in_progress() == 0;
        while let Some(record) = self.replies.next(at_ns, &mut bytes) {
            let id = request_id(record.header);
            if is_whole {
                self.open.requests.answered(id, cx);
            } else if self.open.requests.surmises(id) {
                self.open.requests.forget_surmised();
            }
            self.open.reply(&record, cx);
        }
        if were_surmised && !self.open.requests.are_surmised() {
            self.requests.measure = measure;
            if !is_whole {
                self.requests.lose();
            }
        }
    }

    fn lose_requests(&mut self) {
        self.requests.lose();
        self.open.requests.forget_surmised();
    }
}

impl Open {
    /// Takes a record of the client's. Gives false if no request goes on so: what is only surmised
    /// to be requests is none then.
    fn request(&mut self, record: &Record<'_>, cx: &mut Context<'_>) -> bool {
        let (kind, id) = (record.header[1], request_id(record.header));
        let times = (record.start_ns, record.end_ns);
        let size = record.size();
        cx.message(Side::Client, times, size, if record.whole { name(kind) } else { "cut" });
        match kind {
            BEGIN_REQUEST => {
                let label = cx.shared.labels.number("(incomplete)");
                let params = std::mem::take(&mut self.spare);
                let asked = Asked { params, ..Asked::default() };
                let exchange = Exchange::new(times.0, times.1, size, label, asked);
                self.requests.push(id, exchange, cx)
            }
            GET_VALUES => {
                let label = cx.shared.labels.number("GET_VALUES");
                let exchange = Exchange::new(times.0, times.1, size, label, Asked::default());
                self.requests.push(id, exchange, cx)
            }
            PARAMS | STDIN | DATA => {
                let (spare, is_certain) = (&mut self.spare, !self.requests.are_surmised());
                let grow =
                    |exchange: &mut Exchange<Asked>| grew(exchange, record, is_certain, spare, cx);
                self.requests.current().update(id, grow).unwrap_or(true)
            }
            _ => true,
        }
    }

    fn reply(&mut self, record: &Record<'_>, cx: &mut Context<'_>) {
        let (kind, id) = (record.header[1], request_id(record.header));
        cx.message(Side::Server, (record.start_ns, record.end_ns), record.size(), name(kind));
        let exchanges = &mut self.requests.certain;
        exchanges.update(id, |exchange| {
            exchange.reply_grew(record.start_ns, record.size());
            if kind == STDOUT {
                let status = exchange.detail.header.take(content(record), record.whole);
                exchange.status = exchange.status.or(status);
            }
        });
        if matches!(kind, END_REQUEST | GET_VALUES_RESULT | UNKNOWN_TYPE) {
            exchanges.replied(id, Some(record.end_ns), cx);
        }
    }

    fn held_bytes(&self) -> usize {
        self.requests.held_bytes() + of_vec(&self.spare)
    }
}

impl Detail for Asked {
    fn held_bytes(&self) -> usize {
        let form = self.form.as_ref().map_or(0, of_vec);
        of_vec(&self.params) + form + self.header.held_bytes()
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

/// Takes more of a request. Gives false if none goes on so. Of one that is not certain to be one,
/// parameters that were cut are not read.
fn grew(
    exchange: &mut Exchange<Asked>,
    record: &Record<'_>,
    is_certain: bool,
    spare: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> bool {
    exchange.request_grew(record.end_ns, record.size() as usize);
    let asked = &mut exchange.detail;
    match (record.header[1], ends_stream(record)) {
        (PARAMS, false) => {
            asked.grew(record);
            asked.due == Due::Params
        }
        (PARAMS, true) => {
            let was_due = std::mem::replace(&mut asked.due, Due::Content) == Due::Params;
            if asked.params_are_cut && !is_certain {
                asked.params.clear();
            }
            let may_be_request = asked.params_are_cut || params::are_request(&asked.params);
            *spare = self::asked(exchange, cx);
            was_due && may_be_request
        }
        (STDIN, false) => {
            asked.form_grew(record);
            asked.due == Due::Content
        }
        (STDIN, true) => {
            let was_due = std::mem::replace(&mut asked.due, Due::Nothing) == Due::Content;
            form_is_over(exchange, cx);
            was_due
        }
        _ => asked.due != Due::Params,
    }
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
    empty(&mut bytes);
    bytes
}

fn form_is_over(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) {
    if let Some(form) = exchange.detail.form.take() {
        let shared = &mut *cx.shared;
        query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    }
}
