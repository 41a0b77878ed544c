//! A protocol that nobody told us: the client asks until the server answers, and the server answers
//! until the client asks again. An answer's end is seen only at the next question or at the close, or
//! as nothing more of the connection is seen.

use crate::context::Context;
use crate::exchange::{Exchange, Exchanges};
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use crate::tls;

/// The exchange in progress and the last byte of its reply.
pub(crate) struct Turns {
    label: &'static str,
    exchanges: Exchanges<()>,
    reply_end_ns: Option<i64>,
    /// Who ended their side first.
    left: Option<Side>,
}

/// What a client says as it leaves takes no longer than this; who gave up waiting asked before.
const GOODBYE_NS: i64 = 100_000_000;

impl Turns {
    /// Turns whose visits have this label.
    pub(crate) fn labelled(label: &'static str) -> Self {
        Self { label, exchanges: Exchanges::default(), reply_end_ns: None, left: None }
    }

    fn grew(&mut self, from: Side, at_ns: i64, bytes: u64, cx: &mut Context<'_>) {
        if from == Side::Client {
            self.answered(cx);
        }
        match (from, self.exchanges.first()) {
            (Side::Client, None) => {
                let label = cx.shared.labels.number(self.label);
                self.exchanges.push(Exchange::new(at_ns, at_ns, bytes, label, ()), cx);
            }
            (Side::Client, Some(exchange)) => exchange.request_grew(at_ns, bytes as usize),
            (Side::Server, Some(exchange)) => {
                exchange.reply_grew(at_ns, bytes);
                self.reply_end_ns = Some(at_ns);
            }
            (Side::Server, None) => {}
        }
    }

    /// True if what is not answered is how TLS leaves (`close_notify`, RFC 8446 section 6.1), maybe with
    /// a last word of the protocol within: the client says so and goes.
    fn is_goodbye(&mut self) -> bool {
        self.label == tls::NAME
            && self.left == Some(Side::Client)
            && self
                .exchanges
                .first()
                .is_some_and(|it| it.request_end_ns - it.arrival_ns < GOODBYE_NS)
    }

    fn answered(&mut self, cx: &mut Context<'_>) {
        if let (Some(end_ns), Some(exchange)) = (self.reply_end_ns.take(), self.exchanges.first()) {
            let asked = (exchange.arrival_ns, exchange.request_end_ns);
            let answered = (exchange.reply_start_ns.unwrap_or(end_ns), end_ns);
            let (bytes_in, bytes_out) = (exchange.bytes_in, exchange.bytes_out);
            cx.message(Side::Client, asked, bytes_in, "question");
            cx.message(Side::Server, answered, bytes_out, "answer");
            self.exchanges.replied(Some(end_ns), cx);
        }
    }
}

impl Parser for Turns {
    fn new(_from_start: bool) -> Self {
        Self::labelled("TCP")
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        self.grew(from, at_ns, bytes.len() as u64, cx);
    }

    /// A byte that was cut off counts as much as one that was seen. Whole turns may be lost, too,
    /// without being missed: this protocol cannot tell.
    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        if let Some(at_ns) = gap.at_ns {
            self.grew(from, at_ns, gap.bytes, cx);
        }
    }

    fn ended(&mut self, from: Side, _last_ns: i64, cx: &mut Context<'_>) {
        self.left.get_or_insert(from);
        if from == Side::Server {
            self.answered(cx);
        }
    }

    /// Nobody asks again: an answer that was seen had ended.
    fn finish(&mut self, cx: &mut Context<'_>) {
        self.answered(cx);
        if self.is_goodbye() {
            self.exchanges.pop_last();
        }
        self.exchanges.abandon(cx);
    }

    fn held_bytes(&self) -> usize {
        of_box::<Self>() + self.exchanges.held_bytes()
    }
}
