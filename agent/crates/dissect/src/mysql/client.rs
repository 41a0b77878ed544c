//! What the client sends: its login, commands, and files that it was asked for.

use super::adrift::land;
use super::command::{Expected, Subject, command, looks_like_command};
use super::compressed::is_compressed;
use super::fields::Fields;
use super::packets::Packet;
use super::statements::Statements;
use super::{Asked, Mysql, Phase, login};
use crate::context::{Context, Place};
use crate::exchange::{Exchange, Exchanges};
use crate::label::Label;
use crate::pairing::Clue;
use crate::parser::Gap;
use crate::sink::Side;
use crate::sql::{self, Dialect};
use crate::tls;

impl Mysql {
    pub(super) fn client_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        if self.requests.frames.is_lost() {
            if looks_like_command(bytes) {
                self.requests.resume();
                self.phase = Phase::Commands;
            } else if self.capabilities & login::COMPRESS != 0 && is_compressed(bytes) {
                return self.other = Some("compression");
            }
        }
        loop {
            let Some(packet) = self.requests.next(at_ns, &mut bytes) else { return };
            if packet.goes_on {
                continue;
            }
            if self.phase == Phase::Login && packet.sequence == 0 {
                // A command begins to count anew, a login goes on: the server's last word was lost.
                if self.capabilities & login::COMPRESS != 0 {
                    return self.other = Some("compression");
                }
                self.phase = Phase::Commands;
                self.reply.restart();
                self.exchanges.abandon(cx);
            }
            match self.phase {
                Phase::Replication => return,
                Phase::Greeting | Phase::Login => {
                    if login::asks_for_tls(packet.prefix) {
                        return self.other = Some(tls::NAME);
                    }
                    if let Some(chosen) = log_in(&packet, &mut self.exchanges, cx) {
                        self.capabilities &= chosen;
                        let deprecated = self.capabilities & login::DEPRECATE_EOF != 0;
                        self.reply.definitions_end = Some(!deprecated);
                    }
                }
                Phase::Commands if self.sends_file || packet.sequence != 0 => {
                    self.sends_file &= packet.length > 0;
                    continue_request(&packet, &mut self.exchanges, cx);
                }
                Phase::Commands => {
                    if let Some(end_ns) = self.adrift_ns.take() {
                        self.replies.resume();
                        land(end_ns, None, &mut self.exchanges, cx);
                    }
                    if self.replies.frames.is_lost() {
                        self.exchanges.abandon_uncertain(cx);
                    }
                    let capabilities = self.capabilities;
                    let begun = begin(&packet, capabilities, &mut self.statements, cx);
                    if let Some(exchange) = begun {
                        self.exchanges.push(exchange, cx);
                    }
                }
            }
        }
    }

    /// A command whose end was lost is one all the same: it ends for us where it was seen last.
    pub(super) fn client_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        let Gap { at_ns, bytes, .. } = gap;
        self.sends_file = false;
        if self.adrift_ns.is_some() && at_ns.is_none() {
            // A command may be among what was lost, and the next bytes its reply.
            self.lose_replies(gap.seen_ns);
        }
        let at_ns = at_ns.unwrap_or(self.requests.frames.last_ns);
        if self.requests.frames.skip(Some(at_ns), bytes) {
            self.client_bytes(at_ns, &[], cx);
        }
    }
}

/// Takes a packet of the login. Its first tells what the client chose.
fn log_in(
    packet: &Packet<'_>,
    exchanges: &mut Exchanges<Asked>,
    cx: &mut Context<'_>,
) -> Option<u64> {
    if !exchanges.is_empty() {
        continue_request(packet, exchanges, cx);
        return None;
    }
    cx.message(Side::Client, (packet.start_ns, packet.end_ns), packet.size, "login");
    let label = cx.shared.labels.number("LOGIN");
    let asked = Asked { expected: Expected::Login, sequence: packet.last_sequence.wrapping_add(1) };
    exchanges.push(exchange(packet, label, asked), cx);
    login::client_capabilities(packet.prefix)
}

/// Takes a packet that belongs to the last request: an answer during a login, or a file's.
fn continue_request(packet: &Packet<'_>, exchanges: &mut Exchanges<Asked>, cx: &mut Context<'_>) {
    cx.message(Side::Client, (packet.start_ns, packet.end_ns), packet.size, "data");
    if let Some(exchange) = exchanges.last() {
        exchange.request_grew(packet.end_ns, packet.size as usize);
    }
}

/// Takes a command's packet; gives its exchange if it will have a reply.
fn begin(
    packet: &Packet<'_>,
    capabilities: u64,
    statements: &mut Statements,
    cx: &mut Context<'_>,
) -> Option<Exchange<Asked>> {
    let times = (packet.start_ns, packet.end_ns);
    let Some(known) = command(packet.first()) else {
        cx.message(Side::Client, times, packet.size, "unknown");
        return None;
    };
    cx.message(Side::Client, times, packet.size, if packet.whole { known.name } else { "cut" });
    let payload = packet.prefix.get(1..).unwrap_or(&[]);
    statements.commanded(packet.first(), payload);
    if known.expected == Expected::Nothing {
        return None;
    }
    let asked = Asked { expected: known.expected, sequence: packet.last_sequence.wrapping_add(1) };
    let mut exchange = exchange(packet, Label::default(), asked);
    exchange.label = match known.subject {
        Subject::Itself => cx.shared.labels.number(known.label),
        Subject::Statement => {
            let text = if capabilities & login::QUERY_ATTRIBUTES != 0 {
                after_attributes(payload)
            } else {
                payload
            };
            statement("", text, packet, &mut exchange, cx)
        }
        Subject::Preparation => {
            let label = statement("", payload, packet, &mut exchange, cx);
            statements.asked(label);
            statement("PREPARE ", payload, packet, &mut exchange, cx)
        }
        Subject::Prepared | Subject::PreparedInBulk => {
            let shared = &mut *cx.shared;
            if known.subject == Subject::Prepared {
                let (salt, scratch) = (&shared.salt, &mut shared.scratch);
                statements.values(payload, salt, scratch, &mut exchange.literals);
            }
            let found = statements.label(payload);
            found.unwrap_or_else(|| shared.labels.number(known.label))
        }
    };
    pair(packet, cx);
    Some(exchange)
}

fn exchange(packet: &Packet<'_>, label: Label, asked: Asked) -> Exchange<Asked> {
    Exchange::new(packet.start_ns, packet.end_ns, packet.size, label, asked)
}

/// The label of a statement with which a packet ends. What was cut by a loss has a digest of its own
/// that would be wrong.
fn statement(
    before: &str,
    text: &[u8],
    packet: &Packet<'_>,
    exchange: &mut Exchange<Asked>,
    cx: &mut Context<'_>,
) -> Label {
    let goes_on = packet.prefix.len() < packet.length;
    let statement = sql::Statement { text, dialect: Dialect::Mysql, goes_on };
    let recent = if before.is_empty() && packet.whole {
        cx.shared.statement(statement)
    } else {
        cx.shared.digest(before, statement, packet.whole)
    };
    exchange.id_hash = recent.digest.id_hash;
    exchange.literals = recent.digest.literals;
    recent.label
}

/// The statement behind a query's attributes. None are sent unless the application sets some.
fn after_attributes(payload: &[u8]) -> &[u8] {
    let mut fields = Fields(payload);
    match (fields.length(), fields.length()) {
        (Some(0), Some(1)) => fields.0,
        (Some(count), Some(1)) => attributes(fields, count as usize).unwrap_or(&[]),
        _ => payload,
    }
}

fn attributes(mut fields: Fields<'_>, count: usize) -> Option<&[u8]> {
    let nulls = fields.bytes(count.div_ceil(8))?;
    fields.integer(1)?; // types follow
    let mut types = Vec::new();
    for _ in 0..count {
        types.push(fields.integer(2)? as u16);
        fields.counted()?; // name
    }
    for (position, kind) in types.into_iter().enumerate() {
        if nulls[position / 8] & 1 << (position % 8) == 0 {
            super::values::value(&mut fields, kind, &mut Vec::new())?;
        }
    }
    Some(fields.0)
}

fn pair(packet: &Packet<'_>, cx: &mut Context<'_>) {
    cx.clue(|shared, Place { server, connection, .. }| {
        let content = shared.salt.hash(packet.prefix);
        Clue::Requested { server, connection, content }
    });
}
