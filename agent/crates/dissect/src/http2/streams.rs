//! Streams: a request and its reply each (RFC 9113 section 8.1). A stream's number is never used again,
//! so that no reply is taken for another's, whatever was lost.

use super::Frame;
use super::block::Block;
use super::frame;
use super::head::Head;
use super::losses::Losses;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::keyed::Detail;
use crate::label::Label;
use crate::memory::of_vec;
use crate::surmised::Requests;
use crate::trace_context::request_id;
use crate::{path, query};

/// A form longer than this is not read on: its first values lie well before.
const LONGEST_FORM: usize = 64 << 10;

/// What is to be known of a request until its reply is over.
#[derive(Default)]
struct Asked {
    /// The form that it carries.
    form: Option<Vec<u8>>,
    /// How many losses of replies there had been as something of it came last.
    losses: u64,
}

impl Detail for Asked {
    fn held_bytes(&self) -> usize {
        self.form.as_ref().map_or(0, of_vec)
    }
}

/// The streams that are not over.
#[derive(Default)]
pub(super) struct Streams {
    requests: Requests<Asked>,
    /// The highest number yet, and the same of those that are certain.
    latest: u32,
    latest_certain: u32,
    losses: Losses,
}

impl Streams {
    /// What the client says from here on may be content that looks like frames.
    pub(super) fn surmise(&mut self) {
        self.requests.surmise();
    }

    /// True until the server has answered a stream that is surmised, or they were forgotten.
    pub(super) fn are_surmised(&self) -> bool {
        self.requests.are_surmised()
    }

    /// The client's frames were misunderstood, or cannot be followed.
    pub(super) fn forget_surmised(&mut self) {
        self.requests.forget_surmised();
        self.latest = self.latest_certain;
    }

    /// The client has said the fields of a request, or of its trailers.
    pub(super) fn asked(&mut self, block: &Block, head: &Head, cx: &mut Context<'_>) {
        if !self.requests.current().contains(block.stream) {
            if block.stream <= self.latest {
                return;
            }
            self.settle(block.start_ns, cx);
            let is_read = block.whole || !self.are_surmised();
            let asked = Asked { form: None, losses: self.losses.count() };
            let label = if is_read { label(head, cx) } else { incomplete(cx) };
            let mut exchange = Exchange::new(block.start_ns, 0, 0, label, asked);
            if is_read {
                said(&mut exchange, head, cx);
            }
            if !self.requests.push(block.stream, exchange, cx) {
                return;
            }
            self.latest = block.stream;
            if !self.are_surmised() {
                self.latest_certain = self.latest;
            }
        }
        self.requests.current().update(block.stream, |exchange| {
            exchange.request_grew(block.end_ns, block.size as usize);
            if block.ends_stream {
                form_is_over(exchange, cx);
            }
        });
    }

    /// The client has said some of a request's content.
    pub(super) fn carried(&mut self, data: &Frame<'_>, cx: &mut Context<'_>) {
        self.requests.current().update(frame::stream(data.header), |exchange| {
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
        });
    }

    /// The server says something of this stream. If that is surmised, all are streams.
    pub(super) fn believe(&mut self, stream: u32, cx: &mut Context<'_>) {
        self.requests.answered(stream, cx);
        if !self.are_surmised() {
            self.latest_certain = self.latest;
        }
    }

    /// The server has said the fields of a reply, or of its trailers.
    pub(super) fn answered(&mut self, block: &Block, head: &Head, cx: &mut Context<'_>) {
        let losses = self.losses.count();
        self.requests.certain.update(block.stream, |exchange| {
            exchange.detail.losses = losses;
            if matches!(head.status, Some(100..=199)) {
                return;
            }
            exchange.reply_grew(block.start_ns, block.size);
            exchange.status = exchange.status.or(head.status);
            // A call that failed has status 200, and its code in the trailers or where they would be.
            exchange.status = head.grpc_status.or(exchange.status);
        });
        if block.ends_stream && !matches!(head.status, Some(100..=199)) {
            self.requests.certain.replied(block.stream, Some(block.end_ns), cx);
        }
    }

    /// The server has said some of a reply's content.
    pub(super) fn returned(&mut self, data: &Frame<'_>, cx: &mut Context<'_>) {
        let (stream, losses) = (frame::stream(data.header), self.losses.count());
        self.requests.certain.update(stream, |exchange| {
            exchange.detail.losses = losses;
            exchange.reply_grew(data.start_ns, data.size());
        });
        if frame::ends_stream(data.header) {
            self.requests.certain.replied(stream, Some(data.end_ns), cx);
        }
    }

    /// The client gives a stream up. Whether the server is done with it then cannot be seen.
    pub(super) fn given_up(&mut self, stream: u32, cx: &mut Context<'_>) {
        if self.are_surmised() {
            self.requests.current().remove(stream);
        } else {
            self.requests.certain.replied(stream, None, cx);
        }
    }

    /// The server ends a stream at once, and is done with it.
    pub(super) fn reset(&mut self, stream: u32, departure_ns: i64, cx: &mut Context<'_>) {
        self.requests.certain.replied(stream, Some(departure_ns), cx);
    }

    /// The server will answer no stream behind this one.
    pub(super) fn refused_beyond(&mut self, last: u32, cx: &mut Context<'_>) {
        self.requests.certain.abandon_those(|stream, _| stream > last, cx);
    }

    /// Some of the server's frames were lost.
    pub(super) fn doubt(&mut self, at_ns: i64) {
        self.losses.add(at_ns);
    }

    /// No more will be seen.
    pub(super) fn abandon(&mut self, cx: &mut Context<'_>) {
        self.requests.certain.abandon(cx);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.requests.held_bytes()
    }

    /// Gives up the streams whose end was lost long ago.
    fn settle(&mut self, now_ns: i64, cx: &mut Context<'_>) {
        if let Some(losses) = self.losses.long_ago(now_ns) {
            self.requests.certain.abandon_those(|_, it| it.detail.losses < losses, cx);
        }
    }
}

fn incomplete(cx: &mut Context<'_>) -> Label {
    cx.shared.labels.number("(incomplete)")
}

/// The method with the path's template; where either went by unseen there is none.
fn label(head: &Head, cx: &mut Context<'_>) -> Label {
    let shared = &mut *cx.shared;
    let method = str::from_utf8(&head.method).unwrap_or("?");
    match (method, &head.path[..]) {
        ("CONNECT", _) => shared.labels.number("CONNECT"),
        ("", _) | (_, []) => incomplete(cx),
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
