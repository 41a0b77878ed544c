//! Streams: a request and its reply each (RFC 9113 section 8.1). A stream's number is never used again,
//! so that no reply is taken for another's, whatever was lost.

use super::Frame;
use super::block::Block;
use super::frame;
use super::head::Head;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::keyed::KeyedExchanges;
use crate::memory::of_vec;
use crate::trace_context::request_id;
use crate::{path, query};

/// A form longer than this is not read on: its first values lie well before.
const LONGEST_FORM: usize = 64 << 10;

/// A reply of which nothing came for so long after replies were lost was among them.
const PATIENCE_NS: i64 = 10_000_000_000;

/// What is to be known of a request until its reply is over.
#[derive(Default)]
struct Asked {
    /// The form that it carries.
    form: Option<Vec<u8>>,
    /// Replies were lost then, and nothing of this one has come since.
    doubted_ns: Option<i64>,
}

/// The streams that are not over.
#[derive(Default)]
pub(super) struct Streams {
    exchanges: KeyedExchanges<Asked>,
    /// The highest number yet.
    latest: u32,
    has_doubts: bool,
}

impl Streams {
    /// The client has said the fields of a request, or of its trailers.
    pub(super) fn asked(&mut self, block: &Block, head: &Head, cx: &mut Context<'_>) {
        if self.exchanges.get(block.stream).is_none() {
            if block.stream <= self.latest {
                return;
            }
            self.settle(block.start_ns, cx);
            self.latest = block.stream;
            let label = label(head, cx);
            let mut exchange = Exchange::new(block.start_ns, 0, 0, label, Asked::default());
            said(&mut exchange, head, cx);
            self.exchanges.push(block.stream, exchange, cx);
        }
        let Some(exchange) = self.exchanges.get(block.stream) else { return };
        exchange.request_grew(block.end_ns, block.size as usize);
        if block.ends_stream {
            form_is_over(exchange, cx);
        }
    }

    /// The client has said some of a request's content.
    pub(super) fn carried(&mut self, data: &Frame<'_>, cx: &mut Context<'_>) {
        let Some(exchange) = self.exchanges.get(frame::stream(data.header)) else { return };
        exchange.request_grew(data.end_ns, data.size() as usize);
        if !data.whole {
            exchange.detail.form = None;
        }
        if let (Some(form), Some(content)) = (&mut exchange.detail.form, frame::content(data)) {
            let room = LONGEST_FORM.saturating_sub(form.len()).min(content.len());
            form.extend_from_slice(&content[..room]);
        }
        if frame::ends_stream(data.header) {
            form_is_over(exchange, cx);
        }
    }

    /// The server has said the fields of a reply, or of its trailers.
    pub(super) fn answered(&mut self, block: &Block, head: &Head, cx: &mut Context<'_>) {
        let Some(exchange) = self.exchanges.get(block.stream) else { return };
        exchange.detail.doubted_ns = None;
        if matches!(head.status, Some(100..=199)) {
            return;
        }
        exchange.reply_grew(block.start_ns, block.size);
        exchange.status = exchange.status.or(head.status);
        // A call that failed has status 200, and its code in the trailers or where they would be.
        exchange.status = head.grpc_status.or(exchange.status);
        if block.ends_stream {
            self.exchanges.replied(block.stream, Some(block.end_ns), cx);
        }
    }

    /// The server has said some of a reply's content.
    pub(super) fn returned(&mut self, data: &Frame<'_>, cx: &mut Context<'_>) {
        let stream = frame::stream(data.header);
        let Some(exchange) = self.exchanges.get(stream) else { return };
        exchange.detail.doubted_ns = None;
        exchange.reply_grew(data.start_ns, data.size());
        if frame::ends_stream(data.header) {
            self.exchanges.replied(stream, Some(data.end_ns), cx);
        }
    }

    /// One side ends a stream at once. The server is done with it then; whether it is when its client
    /// gives it up cannot be seen.
    pub(super) fn reset(&mut self, stream: u32, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        self.exchanges.replied(stream, departure_ns, cx);
    }

    /// The server will answer no stream behind this one.
    pub(super) fn refused_beyond(&mut self, last: u32, cx: &mut Context<'_>) {
        self.exchanges.abandon_those(|stream, _| stream > last, cx);
    }

    /// Some of the server's frames were lost.
    pub(super) fn doubt(&mut self, at_ns: i64) {
        self.has_doubts = true;
        for exchange in self.exchanges.iter_mut() {
            exchange.detail.doubted_ns.get_or_insert(at_ns);
        }
    }

    /// No more will be seen.
    pub(super) fn abandon(&mut self, cx: &mut Context<'_>) {
        self.exchanges.abandon(cx);
    }

    pub(super) fn held_bytes(&self) -> usize {
        let forms = self.exchanges.iter().filter_map(|it| it.detail.form.as_ref());
        self.exchanges.held_bytes() + forms.map(of_vec).sum::<usize>()
    }

    /// Gives up the streams whose end was lost long ago.
    fn settle(&mut self, now_ns: i64, cx: &mut Context<'_>) {
        if !self.has_doubts {
            return;
        }
        let since_ns = now_ns - PATIENCE_NS;
        let is_over = |it: &Exchange<Asked>| it.detail.doubted_ns.is_some_and(|at| at < since_ns);
        self.exchanges.abandon_those(|_, it| is_over(it), cx);
        self.has_doubts = self.exchanges.iter().any(|it| it.detail.doubted_ns.is_some());
    }
}

/// The method with the path's template; where either went by unseen there is none.
fn label(head: &Head, cx: &mut Context<'_>) -> crate::label::Label {
    let shared = &mut *cx.shared;
    let method = str::from_utf8(&head.method).unwrap_or("?");
    match (method, &head.path[..]) {
        ("CONNECT", _) => shared.labels.number("CONNECT"),
        ("", _) | (_, []) => shared.labels.number("(incomplete)"),
        (method, target) => {
            shared.text.clear();
            path::template(method, target, &mut shared.text);
            shared.labels.number(&shared.text)
        }
    }
}

/// What a request tells beside its label.
fn said(exchange: &mut Exchange<Asked>, head: &Head, cx: &mut Context<'_>) {
    let shared = &mut *cx.shared;
    path::values(&head.path, &shared.salt, &mut exchange.literals);
    let values = path::query_of(&head.path);
    query::values(values, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.detail.form = head.is_form.then(Vec::new);
    exchange.id_hash = cx.id_hash(request_id(&head.traceparent, &head.request_id));
}

fn form_is_over(exchange: &mut Exchange<Asked>, cx: &mut Context<'_>) {
    if let Some(form) = exchange.detail.form.take() {
        let shared = &mut *cx.shared;
        query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    }
}
