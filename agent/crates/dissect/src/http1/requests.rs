//! The client's direction.

use super::body::{Body, Reach};
use super::head::{self, RequestHead, Stated};
use super::reader::State;
use super::{Http1, Method, Surmised, Waits};
use crate::context::Context;
use crate::exchange::Exchange;
use crate::parser::Gap;
use crate::sink::Side;
use crate::tls;
use crate::{path, query};

/// A form longer than this is not hashed: its first values lie well before.
const LONGEST_FORM: u64 = 64 << 10;

impl Http1 {
    pub(super) fn request_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        self.drop_surmised();
        self.resume_requests(bytes);
        while !bytes.is_empty() && !self.opaque {
            let used = match self.requests.state {
                State::Lost => return,
                State::Head => self.request_head(at_ns, bytes, cx),
                State::Body(body) => self.request_body(body, at_ns, bytes, cx),
            };
            bytes = &bytes[used..];
            if !bytes.is_empty() {
                self.drop_surmised();
            }
        }
    }

    /// Has these bytes, the first ones of a packet, begin a request where that is not what comes
    /// next: where it is not known what does, and where the content that was announced is not sent
    /// after all. Content may look like a request, too: it goes on before the server answers, or
    /// ends where the content should.
    fn resume_requests(&mut self, bytes: &[u8]) {
        let refused = std::mem::take(&mut self.waits) == Waits::Refused;
        let may_begin = match self.requests.state {
            State::Lost => true,
            State::Body(Body::Length(left)) => refused && left != bytes.len() as u64,
            State::Body(_) => refused,
            State::Head => false,
        };
        if may_begin && head::begins_request(bytes) {
            self.form = None;
            self.surmised = Surmised::Head;
            self.requests.state = State::Head;
        }
    }

    /// The client goes on: what was surmised to be its request was none.
    fn drop_surmised(&mut self) {
        if self.surmised == Surmised::Request && self.requests.state == State::Head {
            self.surmised = Surmised::Nothing;
            self.exchanges.pop_last();
            self.requests.lose();
        }
    }

    pub(super) fn request_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        let Gap { at_ns, bytes, .. } = gap;
        self.drop_surmised();
        self.form = None;
        let left = match self.requests.state {
            State::Body(body) => body.after_loss(bytes, at_ns.is_some()),
            _ => None,
        };
        let Some(body) = left else { return self.requests.lose() };
        self.requests.state = State::Body(body);
        let last_ns = self.exchanges.last().map_or(0, |exchange| exchange.request_end_ns);
        self.request_grew(at_ns.unwrap_or(last_ns), bytes as usize);
        if body == Body::Length(0) {
            match at_ns {
                Some(at_ns) => self.request_ended(at_ns, cx),
                None => self.requests.state = State::Head,
            }
        }
    }

    fn request_head(&mut self, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) -> usize {
        if self.requests.begins_tls(bytes) {
            self.other = Some(tls::NAME);
            return bytes.len();
        }
        if self.requests.begins_http2(bytes) {
            self.become_opaque(at_ns, "http2", cx);
            return bytes.len();
        }
        let (used, complete) = self.requests.head(at_ns, bytes);
        let Some(complete) = complete else { return used };
        let Some(head) = head::request(complete) else {
            self.surmised = Surmised::Nothing;
            self.requests.lose();
            return used;
        };
        let mut exchange = exchange(&head, cx);
        let body = match head.stated {
            Stated::Length(body) => Some(body),
            Stated::Nothing => Some(Body::Length(0)),
            Stated::Coded | Stated::Unclear => None,
        };
        let waits = head.expects && body != Some(Body::Length(0));
        self.form = match body {
            Some(Body::Length(1..=LONGEST_FORM)) if head.is_form => Some(Vec::new()),
            _ => None,
        };
        self.waits = if waits { Waits::Yes } else { Waits::No };
        exchange.arrival_ns = self.requests.start_ns;
        exchange.request_grew(at_ns, self.requests.size as usize);
        self.abandon_uncertain(cx);
        self.exchanges.push(exchange, cx);
        if self.surmised == Surmised::Head {
            self.surmised = Surmised::Request;
        }
        let Some(body) = body else {
            self.requests.lose();
            return used;
        };
        self.requests.enter(body);
        if body == Body::Length(0) {
            self.request_ended(at_ns, cx);
        }
        used
    }

    fn request_body(
        &mut self,
        mut body: Body,
        at_ns: i64,
        bytes: &[u8],
        cx: &mut Context<'_>,
    ) -> usize {
        self.waits = Waits::No;
        let reach = body.take(bytes);
        let used = match reach {
            Reach::Beyond => bytes.len(),
            Reach::Ended(used) => used,
            Reach::Broken => {
                self.requests.lose();
                return bytes.len();
            }
        };
        self.requests.state = State::Body(body);
        self.request_grew(at_ns, used);
        if let Some(form) = &mut self.form {
            form.extend_from_slice(&bytes[..used]);
        }
        if reach != Reach::Beyond {
            self.request_ended(at_ns, cx);
        }
        used
    }

    fn request_grew(&mut self, at_ns: i64, bytes: usize) {
        self.requests.size += bytes as u64;
        if let Some(exchange) = self.exchanges.last() {
            exchange.request_grew(at_ns, bytes);
        }
    }

    fn request_ended(&mut self, at_ns: i64, cx: &mut Context<'_>) {
        self.requests.state = State::Head;
        if let (Some(form), Some(exchange)) = (self.form.take(), self.exchanges.last()) {
            let shared = &mut *cx.shared;
            query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
        }
        cx.message(Side::Client, (self.requests.start_ns, at_ns), self.requests.size, "request");
    }
}

fn exchange(head: &RequestHead<'_>, cx: &mut Context<'_>) -> Exchange<Method> {
    let method = match head.method {
        Some("HEAD") => Method::Head,
        Some("CONNECT") => Method::Connect,
        _ => Method::Other,
    };
    let shared = &mut *cx.shared;
    shared.text.clear();
    match (head.method, head.target) {
        (Some("CONNECT"), _) => shared.text.push_str("CONNECT"),
        (Some(name), Some(target)) => path::template(name, target, &mut shared.text),
        (Some(name), None) => shared.text.extend([name, " (no path)"]),
        (None, _) => shared.text.push_str("(unknown method)"),
    }
    let label = shared.labels.number(&shared.text);
    let mut exchange = Exchange::new(0, 0, 0, label, method);
    let target = head.target.unwrap_or_default();
    path::values(target, &shared.salt, &mut exchange.literals);
    let values = path::query_of(target);
    query::values(values, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.id_hash = cx.id_hash(head.id);
    exchange
}
