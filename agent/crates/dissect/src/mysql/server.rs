//! What the server sends: its greeting, then replies.

use super::bulk;
use super::command::Expected;
use super::packets::Packet;
use super::reply::Outcome;
use super::{Mysql, Phase, login};
use crate::context::{Context, Place};
use crate::exchange::Exchange;
use crate::pairing::Clue;
use crate::parser::Gap;
use crate::sink::Side;

/// A reply's first packet is not longer than this, but for a line of statistics.
const LONGEST_FIRST: usize = 64 << 10;

impl Mysql {
    pub(super) fn server_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        if self.adrift_ns.is_some() {
            return self.drift(at_ns, bytes.len() as u64, self.ends_rows(bytes), cx);
        }
        if self.replies.frames.is_lost() {
            if self.requests.frames.is_lost() {
                // The reply to a command that was lost too, or to one of those that wait.
                self.exchanges.abandon_uncertain(cx);
            }
            self.resume_replies(bytes);
        }
        loop {
            let Some(packet) = self.replies.next(at_ns, &mut bytes) else { return };
            if packet.goes_on {
                continue;
            }
            if self.phase == Phase::Greeting {
                self.phase = Phase::Login;
                // What comes first has the first number, or it was lost before the stream was known.
                if packet.sequence == 0 {
                    self.capabilities = greeted(&packet, cx);
                    continue;
                }
            }
            let Some(exchange) = self.exchanges.first() else {
                unasked(&packet, cx);
                continue;
            };
            let asked = &exchange.detail;
            let (expected, end_ns) = (asked.expected, packet.end_ns);
            let outcome = self.reply.packet(&packet, expected, asked.sequence);
            match outcome {
                Outcome::Broken => {
                    self.lose_replies(end_ns);
                    return;
                }
                Outcome::Unseen => {
                    let size = packet.size + bytes.len() as u64;
                    return self.drift_or_lose(at_ns, size, bulk::ends_reply(bytes), cx);
                }
                Outcome::Stray => unasked(&packet, cx),
                Outcome::WantsFile => {
                    exchange.bytes_out += packet.size;
                    self.sends_file = true;
                }
                Outcome::More if expected == Expected::Login => exchange.bytes_out += packet.size,
                Outcome::More => exchange.reply_grew(packet.start_ns, packet.size),
                Outcome::Done(status) => {
                    exchange.reply_grew(packet.start_ns, packet.size);
                    exchange.status = Some(status);
                    answered(exchange, end_ns, cx);
                    self.exchanges.replied(Some(end_ns), cx);
                    self.after_reply(expected, end_ns, cx);
                }
            }
            if self.is_over() {
                return;
            }
        }
    }

    pub(super) fn server_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        let Gap { at_ns, bytes, ends, .. } = gap;
        match (self.adrift_ns, at_ns) {
            (Some(_), Some(at_ns)) => return self.drift(at_ns, bytes, ends, cx),
            (None, Some(_)) if self.replies.frames.is_lost() => return,
            _ => {}
        }
        let begun = self.replies.in_progress();
        match (self.replies.frames.skip(at_ns, bytes), at_ns) {
            (true, Some(at_ns)) => self.server_bytes(at_ns, &[], cx),
            (true, None) => {}
            (false, Some(at_ns)) => self.drift_or_lose(at_ns, begun + bytes, ends, cx),
            (false, None) => self.lose_replies(gap.seen_ns),
        }
    }

    pub(super) fn lose_replies(&mut self, seen_ns: i64) {
        self.replies.frames.lose();
        self.adrift_ns = None;
        self.reply.restart();
        self.statements.forget_asked();
        self.exchanges.lost_replies(seen_ns);
        if self.phase == Phase::Greeting {
            self.phase = Phase::Login;
        }
    }

    /// Takes up lost replies where a packet can only begin the next one: its command is known, it
    /// has the sequence number that follows and looks like a reply's first packet.
    fn resume_replies(&mut self, bytes: &[u8]) {
        let Some(exchange) = self.exchanges.first() else { return };
        if exchange.reply_start_ns.is_some() {
            return;
        }
        let [low, middle, high, sequence, first, ..] = *bytes else { return };
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        let likely = match first {
            0x00 | 0xfe | 0xff => length >= 5,
            0xfb => true,
            _ => length <= 10 || exchange.detail.expected != Expected::Results,
        };
        if sequence == exchange.detail.sequence && likely && (1..=LONGEST_FIRST).contains(&length) {
            self.replies.resume();
            self.reply.restart();
            self.exchanges.settle();
        }
    }

    fn after_reply(&mut self, expected: Expected, at_ns: i64, cx: &mut Context<'_>) {
        match expected {
            Expected::Prepared => self.statements.answered(self.reply.prepared.take()),
            Expected::Login if self.phase == Phase::Login => {
                self.phase = Phase::Commands;
                if self.capabilities & login::COMPRESS != 0 {
                    self.other = Some("compression");
                }
            }
            Expected::Login => self.statements.clear(),
            Expected::Replication => self.replicate(at_ns, cx),
            _ => {}
        }
    }
}

/// Takes the greeting, or the error in its place. Gives what the server can do.
fn greeted(packet: &Packet<'_>, cx: &mut Context<'_>) -> u64 {
    let (mut kind, mut capabilities) = ("refusal", 0);
    if let Some(greeting) = login::greeting(packet.prefix) {
        cx.clue(|shared, Place { server, connection, .. }| {
            let scramble = shared.salt.hash(&greeting.scramble);
            Clue::Greeted { server, connection, scramble }
        });
        (kind, capabilities) = ("greeting", greeting.capabilities);
    }
    cx.message(Side::Server, (packet.start_ns, packet.end_ns), packet.size, kind);
    capabilities
}

fn unasked(packet: &Packet<'_>, cx: &mut Context<'_>) {
    cx.message(Side::Server, (packet.start_ns, packet.end_ns), packet.size, "unasked");
}

pub(super) fn answered<T>(exchange: &Exchange<T>, end_ns: i64, cx: &mut Context<'_>) {
    let start_ns = exchange.reply_start_ns.unwrap_or(end_ns);
    cx.message(Side::Server, (start_ns, end_ns), exchange.bytes_out, "reply");
}
