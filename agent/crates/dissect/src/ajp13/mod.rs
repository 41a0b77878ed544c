//! Apache JServ Protocol 1.3, as the Tomcat connectors' documentation describes it
//! (<https://tomcat.apache.org/connectors-doc/ajp/ajpv13a.html>). One request at a time.

mod bulk;
mod forward;

use crate::context::Context;
use crate::exchange::{Exchange, Exchanges};
use crate::framed::{self, Frames};
use crate::memory::{of_box, of_vec};
use crate::parser::{Gap, Parser};
use crate::query;
use crate::sink::Side;
pub(crate) use bulk::BULK;

/// Two bytes of magic, two of length.
const HEADER: usize = 4;
type Frame<'a> = framed::Frame<'a, HEADER>;

const FORWARD_REQUEST: u8 = 2;
const SEND_BODY_CHUNK: u8 = 3;
const SEND_HEADERS: u8 = 4;
const END_RESPONSE: u8 = 5;
const GET_BODY_CHUNK: u8 = 6;
const SHUTDOWN: u8 = 7;
const PING: u8 = 8;
const CPONG: u8 = 9;
const CPING: u8 = 10;

/// A connection that speaks AJP.
pub(crate) struct Ajp13 {
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    exchanges: Exchanges<()>,
    /// The form that the current request carries.
    form: Option<Vec<u8>>,
}

/// Packets to the container begin with 12 34.
fn measure_request(header: [u8; 4]) -> Option<usize> {
    matches!(header, [0x12, 0x34, ..]).then_some(length(header))
}

/// Packets from the container begin with `AB`.
fn measure_reply(header: [u8; 4]) -> Option<usize> {
    matches!(header, [b'A', b'B', ..]).then_some(length(header))
}

fn length(header: [u8; 4]) -> usize {
    usize::from(u16::from_be_bytes([header[2], header[3]]))
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    matches!(client, [0x12, 0x34, _, _, FORWARD_REQUEST | CPING, ..])
        && matches!(server, [] | [b'A', b'B', ..])
}

impl Ajp13 {
    /// Takes up a lost stream where a packet begins with a message.
    fn resume(&mut self, from: Side, bytes: &[u8], cx: &mut Context<'_>) {
        match (from, bytes) {
            (Side::Client, [0x12, 0x34, _, _, FORWARD_REQUEST | CPING, ..])
                if self.requests.is_lost() =>
            {
                self.requests.resume();
            }
            (Side::Server, [b'A', b'B', _, _, kind @ SEND_BODY_CHUNK..=CPONG, ..])
                if self.replies.is_lost() =>
            {
                self.replies.resume();
                let begins = matches!(*kind, SEND_HEADERS | CPONG);
                let has_begun = |it: &mut Exchange<()>| it.reply_start_ns.is_some();
                // Another request's reply: that one was lost, or this one's reply had begun.
                if self.requests.is_lost()
                    || (begins && self.exchanges.first().is_some_and(has_begun))
                {
                    self.exchanges.abandon(cx);
                }
            }
            _ => {}
        }
    }
}

impl Parser for Ajp13 {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Frames::new(measure_request, usize::from(u16::MAX), from_start),
            replies: Frames::new(measure_reply, 3, from_start),
            exchanges: Exchanges::default(),
            form: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        self.resume(from, bytes, cx);
        match from {
            Side::Client => {
                while let Some(packet) = self.requests.next(at_ns, &mut bytes) {
                    let kind = request_packet(&packet, &mut self.exchanges, &mut self.form, cx);
                    let kind = if packet.whole { kind } else { "cut" };
                    cx.message(from, (packet.start_ns, packet.end_ns), packet.size(), kind);
                }
            }
            Side::Server => {
                while let Some(packet) = self.replies.next(at_ns, &mut bytes) {
                    reply_packet(&packet, &mut self.exchanges, &mut self.form, cx);
                }
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        let goes_on = match from {
            Side::Client => {
                self.form = None;
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
        self.exchanges.abandon(cx);
    }

    fn held_bytes(&self) -> usize {
        let frames = self.requests.held_bytes() + self.replies.held_bytes();
        let form = self.form.as_ref().map_or(0, of_vec);
        of_box::<Self>() + frames + form + self.exchanges.held_bytes()
    }
}

fn request_packet(
    packet: &Frame<'_>,
    exchanges: &mut Exchanges<()>,
    form: &mut Option<Vec<u8>>,
    cx: &mut Context<'_>,
) -> &'static str {
    let current = exchanges.first();
    if (current.is_some() || packet.whole)
        && let Some(data) = body_data(packet)
        && !(data_begins_as_request(packet) && forward::is_complete(packet))
    {
        // That of a request that was answered before it came belongs to no other.
        if let Some(exchange) = current {
            exchange.request_grew(packet.end_ns, packet.size() as usize);
            if let Some(form) = form
                && form.len() < usize::from(u16::MAX)
            {
                form.extend_from_slice(data);
            }
        }
        return "BODY";
    }
    match packet.prefix.first() {
        Some(&FORWARD_REQUEST) => {
            // The one before can only have been answered unseen.
            exchanges.abandon(cx);
            let (exchange, is_form) = forward::exchange(packet, cx);
            *form = is_form.then(Vec::new);
            exchanges.push(exchange, cx);
            "FORWARD_REQUEST"
        }
        Some(&CPING) if packet.length == 1 => {
            exchanges.abandon(cx);
            let label = cx.shared.labels.number("CPING");
            let (start_ns, end_ns) = (packet.start_ns, packet.end_ns);
            exchanges.push(Exchange::new(start_ns, end_ns, packet.size(), label, ()), cx);
            "CPING"
        }
        Some(&PING) => "PING",
        Some(&SHUTDOWN) => "SHUTDOWN",
        // A body whose request was not seen.
        _ => "BODY",
    }
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

fn data_begins_as_request(packet: &Frame<'_>) -> bool {
    packet.prefix.first() == Some(&FORWARD_REQUEST)
}

fn reply_packet(
    packet: &Frame<'_>,
    exchanges: &mut Exchanges<()>,
    form: &mut Option<Vec<u8>>,
    cx: &mut Context<'_>,
) {
    let kind = packet.prefix.first().copied().unwrap_or(0);
    let name = match kind {
        SEND_BODY_CHUNK => "SEND_BODY_CHUNK",
        SEND_HEADERS => "SEND_HEADERS",
        END_RESPONSE => "END_RESPONSE",
        GET_BODY_CHUNK => "GET_BODY_CHUNK",
        CPONG => "CPONG",
        _ => "unknown",
    };
    cx.message(Side::Server, (packet.start_ns, packet.end_ns), packet.size(), name);
    let Some(exchange) = exchanges.first() else { return };
    if kind != GET_BODY_CHUNK {
        exchange.reply_grew(packet.start_ns, packet.size());
        if let Some(form) = form.take() {
            let shared = &mut *cx.shared;
            query::values(&form, &shared.salt, &mut shared.scratch, &mut exchange.literals);
        }
    }
    match (kind, packet.prefix) {
        (SEND_HEADERS, [_, high, low, ..]) => {
            exchange.status = Some(i32::from(u16::from_be_bytes([*high, *low])));
        }
        (END_RESPONSE | CPONG, _) => exchanges.replied(Some(packet.end_ns), cx),
        _ => {}
    }
}
