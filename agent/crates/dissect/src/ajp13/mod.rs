//! Apache JServ Protocol 1.3, as the Tomcat connectors' documentation describes it
//! (<https://tomcat.apache.org/connectors-doc/ajp/ajpv13a.html>). One request at a time.

mod bulk;
mod forward;
mod open;

use crate::context::Context;
use crate::exchange::Exchange;
use crate::framed::{self, Frames};
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
pub(crate) use bulk::BULK;
use open::Open;

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
    open: Open,
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

/// True if these bytes are a packet of a request's body, as far as its lengths tell.
fn begins_body(bytes: &[u8]) -> bool {
    bytes.first_chunk::<6>().is_some_and(|&[a, b, c, d, high, low]| {
        let inner = usize::from(u16::from_be_bytes([high, low]));
        measure_request([a, b, c, d]) == Some(inner + 2)
    })
}

impl Ajp13 {
    /// Takes up a lost stream where a packet begins with a request; and where one does behind another
    /// that is only surmised to be one.
    fn resume_requests(&mut self, bytes: &[u8]) {
        let may_begin = matches!(
            bytes,
            [0x12, 0x34, _, _, FORWARD_REQUEST, ..] | [0x12, 0x34, 0, 1, CPING, ..]
        );
        let is_due = self.requests.is_lost()
            || (self.open.is_surmised() && self.requests.in_progress() == 0);
        let is_content = self.open.awaits_content() && begins_body(bytes);
        // While a request has no reply, what looks like another is its content.
        let is_early = !self.open.exchanges.is_empty() && !self.replies.is_lost();
        if may_begin && is_due && !is_content && !is_early {
            self.requests.resume();
            self.open.surmise();
        }
    }

    fn resume_replies(&mut self, bytes: &[u8], cx: &mut Context<'_>) {
        let [b'A', b'B', _, _, kind @ SEND_BODY_CHUNK..=CPONG, ..] = bytes else { return };
        if !self.replies.is_lost() {
            return;
        }
        self.replies.resume();
        let begins = matches!(*kind, SEND_HEADERS | CPONG);
        let has_begun = |it: &mut Exchange<()>| it.reply_start_ns.is_some();
        // Another request's reply: that one was lost, or this one's reply had begun.
        let exchanges = &mut self.open.exchanges;
        if self.requests.is_lost() || (begins && exchanges.first().is_some_and(has_begun)) {
            exchanges.abandon(cx);
        }
    }

    fn request_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let mut makes_sense = true;
        while makes_sense && let Some(packet) = self.requests.next(at_ns, &mut bytes) {
            let kind = self.open.request(&packet, cx);
            makes_sense = kind.is_some();
            let kind = if packet.whole { kind.unwrap_or("unknown") } else { "cut" };
            cx.message(Side::Client, (packet.start_ns, packet.end_ns), packet.size(), kind);
        }
        if self.open.is_surmised() && (!makes_sense || self.requests.is_lost()) {
            self.requests.lose();
            self.open.lost_requests();
        }
    }

    fn reply_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let (was_surmised, is_whole) = (self.open.is_surmised(), self.requests.in_progress() == 0);
        while let Some(packet) = self.replies.next(at_ns, &mut bytes) {
            let name = match packet.prefix.first() {
                Some(&SEND_BODY_CHUNK) => "SEND_BODY_CHUNK",
                Some(&SEND_HEADERS) => "SEND_HEADERS",
                Some(&END_RESPONSE) => "END_RESPONSE",
                Some(&GET_BODY_CHUNK) => "GET_BODY_CHUNK",
                Some(&CPONG) => "CPONG",
                _ => "unknown",
            };
            cx.message(Side::Server, (packet.start_ns, packet.end_ns), packet.size(), name);
            self.open.reply(&packet, is_whole, cx);
        }
        if was_surmised && !self.open.is_surmised() && !is_whole {
            self.requests.lose();
        }
    }
}

impl Parser for Ajp13 {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Frames::new(measure_request, usize::from(u16::MAX), from_start),
            replies: Frames::new(measure_reply, 3, from_start),
            open: Open::default(),
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
                self.open.lost_content();
                match self.requests.skip_of_request(gap) {
                    Some(at_ns) => self.request_bytes(at_ns, &[], cx),
                    None => self.open.lost_requests(),
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
        self.open.exchanges.abandon(cx);
    }

    fn held_bytes(&self) -> usize {
        let frames = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + frames + self.open.held_bytes()
    }
}
