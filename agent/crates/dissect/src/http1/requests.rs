//! The client's direction.

use super::body::{Body, Reach};
use super::head::{self, RequestHead};
use super::reader::State;
use super::{Http1, Method};
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
        while !bytes.is_empty() && !self.opaque {
            let used = match self.requests.state {
                State::Lost if head::looks_like_request(bytes) => {
                    self.requests.state = State::Head;
                    0
                }
                State::Lost => return,
                State::Head => self.request_head(at_ns, bytes, cx),
                State::Body(body) => self.request_body(body, at_ns, bytes, cx),
            };
            bytes = &bytes[used..];
        }
    }

    pub(super) fn request_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        let Gap { at_ns, bytes, .. } = gap;
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
            self.requests.lose();
            return used;
        };
        let mut exchange = exchange(&head, cx);
        let body = head.body;
        self.form = match body {
            Body::Length(1..=LONGEST_FORM) if head.is_form => Some(Vec::new()),
            _ => None,
        };
        exchange.arrival_ns = self.requests.start_ns;
        exchange.request_grew(at_ns, self.requests.size as usize);
        self.abandon_uncertain(cx);
        self.exchanges.push(exchange, cx);
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
        "HEAD" => Method::Head,
        "CONNECT" => Method::Connect,
        _ => Method::Other,
    };
    let shared = &mut *cx.shared;
    shared.text.clear();
    match method {
        Method::Connect => shared.text.push_str("CONNECT"),
        _ => path::template(head.method, head.target, &mut shared.text),
    }
    let label = shared.labels.number(&shared.text);
    let mut exchange = Exchange::new(0, 0, 0, label, method);
    path::values(head.target, &shared.salt, &mut exchange.literals);
    let values = path::query_of(head.target);
    query::values(values, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.id_hash = cx.id_hash(head.id);
    exchange
}
