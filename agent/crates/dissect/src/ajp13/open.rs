//! The request in progress. There is one at a time, but where one before it was answered unseen.
//!
//! After a loss, and from a connection's middle, the client's stream is found again where a packet
//! begins as a request does. Content may look like that, too. Such a request is surmised until the
//! server answers; if the client goes on in a way that the request does not, it was none, and no word
//! of it is kept.

use super::{
    CPING, CPONG, END_RESPONSE, FORWARD_REQUEST, Frame, GET_BODY_CHUNK, PING, SEND_HEADERS,
    SHUTDOWN, forward,
};
use crate::context::Context;
use crate::exchange::{Exchange, Exchanges};
use crate::memory::of_vec;
use crate::query;

#[derive(Default)]
pub(super) struct Open {
    pub exchanges: Exchanges<()>,
    /// The form that the last request carries.
    form: Option<Vec<u8>>,
    /// How much of the last request's content is to come, as far as it stated that.
    content: u64,
    surmised: Option<Exchange<()>>,
    is_surmised: bool,
}

impl Open {
    /// What the client says from here on may be content that looks like a request.
    pub(super) fn surmise(&mut self) {
        self.lost_requests();
        self.is_surmised = true;
    }

    /// True until the server has answered what is surmised, or that was forgotten.
    pub(super) fn is_surmised(&self) -> bool {
        self.is_surmised
    }

    /// True if content of what is surmised may be next.
    pub(super) fn awaits_content(&self) -> bool {
        self.surmised.is_some() && self.content > 0
    }

    /// Requests were lost, or their stream was misunderstood: what was surmised was no request.
    pub(super) fn lost_requests(&mut self) {
        self.surmised = None;
        self.is_surmised = false;
        self.lost_content();
    }

    /// Some of the last request's content was lost.
    pub(super) fn lost_content(&mut self) {
        self.form = None;
    }

    /// Takes a packet of the client's; gives its kind. None if no request goes on so, where it is
    /// not certain that there is one.
    pub(super) fn request(
        &mut self,
        packet: &Frame<'_>,
        cx: &mut Context<'_>,
    ) -> Option<&'static str> {
        if self.is_surmised {
            return self.surmised_request(packet, cx);
        }
        let awaits_reply = !self.exchanges.is_empty();
        let is_request = forward::is_complete(packet) && !(awaits_reply && self.content > 0);
        if (awaits_reply || packet.whole)
            && !is_request
            && let Some(data) = body_data(packet)
        {
            // That of a request that was answered before it came belongs to no other.
            self.carried(packet);
            if let Some(exchange) = self.exchanges.first() {
                grew(exchange, &mut self.form, packet, data);
            }
            return Some("BODY");
        }
        Some(match packet.prefix.first() {
            Some(&FORWARD_REQUEST) => {
                // The one before can only have been answered unseen.
                self.exchanges.abandon(cx);
                let exchange = self.begin(packet, packet.prefix, cx);
                self.exchanges.push(exchange, cx);
                "FORWARD_REQUEST"
            }
            Some(&CPING) if packet.length == 1 => {
                self.exchanges.abandon(cx);
                let exchange = self.ping(packet, cx);
                self.exchanges.push(exchange, cx);
                "CPING"
            }
            Some(&PING) => "PING",
            Some(&SHUTDOWN) => "SHUTDOWN",
            // The request of this body was not captured.
            _ => "BODY",
        })
    }

    /// Takes a packet of the server's. `is_whole`: the client is not in the middle of a packet, which
    /// may be none at all where it is surmised to be one.
    pub(super) fn reply(&mut self, packet: &Frame<'_>, is_whole: bool, cx: &mut Context<'_>) {
        let kind = packet.prefix.first().copied().unwrap_or(0);
        match kind {
            SEND_HEADERS | CPONG if is_whole => self.believe(cx),
            SEND_HEADERS | CPONG if self.is_surmised => self.lost_requests(),
            _ => {}
        }
        let Some(exchange) = self.exchanges.first() else { return };
        if kind != GET_BODY_CHUNK {
            exchange.reply_grew(packet.start_ns, packet.size());
            if !self.is_surmised
                && let Some(form) = self.form.take()
            {
                let shared = &mut *cx.shared;
                query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
            }
        }
        match (kind, packet.prefix) {
            (SEND_HEADERS, [_, high, low, ..]) => {
                exchange.status = Some(i32::from(u16::from_be_bytes([*high, *low])));
            }
            (END_RESPONSE | CPONG, _) => self.exchanges.replied(Some(packet.end_ns), cx),
            _ => {}
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.exchanges.held_bytes() + self.form.as_ref().map_or(0, of_vec)
    }

    fn surmised_request(
        &mut self,
        packet: &Frame<'_>,
        cx: &mut Context<'_>,
    ) -> Option<&'static str> {
        if self.surmised.is_some() {
            let data = body_data(packet)?;
            if length(packet) > self.content {
                return None;
            }
            self.carried(packet);
            if let Some(exchange) = &mut self.surmised {
                grew(exchange, &mut self.form, packet, data);
            }
            return Some("BODY");
        }
        if packet.length == 1 && packet.prefix == [CPING] {
            self.surmised = Some(self.ping(packet, cx));
            return Some("CPING");
        }
        // Of one that was cut it is not certain that it is one to the end: it is not read.
        let (is_request, read) = match packet.whole {
            true => (forward::is_complete(packet), packet.prefix),
            false => (forward::begins(packet) && body_data(packet).is_none(), &[][..]),
        };
        if !is_request {
            return None;
        }
        self.surmised = Some(self.begin(packet, read, cx));
        Some("FORWARD_REQUEST")
    }

    fn begin(&mut self, packet: &Frame<'_>, read: &[u8], cx: &mut Context<'_>) -> Exchange<()> {
        let begun = forward::begun(packet, read, cx);
        self.form = begun.is_form.then(Vec::new);
        self.content = begun.content;
        begun.exchange
    }

    fn ping(&mut self, packet: &Frame<'_>, cx: &mut Context<'_>) -> Exchange<()> {
        (self.form, self.content) = (None, 0);
        let label = cx.shared.labels.number("CPING");
        Exchange::new(packet.start_ns, packet.end_ns, packet.size(), label, ())
    }

    /// So much of the content came.
    fn carried(&mut self, packet: &Frame<'_>) {
        self.content = match length(packet) {
            0 => 0,
            length => self.content.saturating_sub(length),
        };
    }

    /// The server answers: what was surmised is a request. The one before was answered unseen.
    fn believe(&mut self, cx: &mut Context<'_>) {
        if let Some(exchange) = self.surmised.take() {
            self.exchanges.abandon(cx);
            self.exchanges.push(exchange, cx);
            self.is_surmised = false;
        }
    }
}

fn grew(exchange: &mut Exchange<()>, form: &mut Option<Vec<u8>>, packet: &Frame<'_>, data: &[u8]) {
    exchange.request_grew(packet.end_ns, packet.size() as usize);
    if let Some(form) = form
        && form.len() < usize::from(u16::MAX)
    {
        form.extend_from_slice(data);
    }
}

/// The length of the data in a packet of a request's body.
fn length(packet: &Frame<'_>) -> u64 {
    packet.length.saturating_sub(2) as u64
}

/// The data, if this is a packet of a request's body: it has no type but a length of its own.
fn body_data<'a>(packet: &Frame<'a>) -> Option<&'a [u8]> {
    match packet.prefix {
        [] => Some(&[]),
        [high, low, data @ ..] => {
            let inner = usize::from(u16::from_be_bytes([*high, *low]));
            (inner + 2 == packet.length).then_some(data)
        }
        _ => None,
    }
}
