//! Random conversations, and what a network and a capture leave of them.

use crate::said::{log_in, mark, messages};
use crate::support::{Conversation, server};
use proptest::prelude::*;
use std::collections::HashMap;
use tierlab_dissect::Side::{self, Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

/// A request and its reply, each in packets of some size.
#[derive(Clone, Debug)]
pub struct Turn {
    pub request: usize,
    pub reply: usize,
    pub chunked: bool,
    pub packets: [usize; 2],
}

/// Conversations on one port, one after the other.
#[derive(Clone, Debug)]
pub struct Plan {
    pub protocol: Protocol,
    pub conversations: Vec<Spoken>,
    /// What happens to each packet.
    pub fates: Vec<Fate>,
    /// How much of its payload is captured if it is cut.
    pub snap: usize,
}

#[derive(Clone, Debug)]
pub struct Spoken {
    pub first: [u32; 2],
    pub turns: Vec<Turn>,
    /// Whether its handshake and its end are captured.
    pub opens: bool,
    pub ends: bool,
    /// Whether a message is acknowledged at once, or with what is said next.
    pub acknowledges: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Captured,
    /// After the packet behind it.
    Reordered,
    Twice,
    /// Its first bytes.
    Cut,
    Lost,
}

pub fn turn() -> impl Strategy<Value = Turn> {
    let packets = [30_usize..1_500, 30_usize..1_500];
    (0_usize..300, 0_usize..5_000, any::<bool>(), packets)
        .prop_map(|(request, reply, chunked, packets)| Turn { request, reply, chunked, packets })
}

pub fn spoken() -> impl Strategy<Value = Spoken> {
    let turns = prop::collection::vec(turn(), 1..5);
    (any::<[u32; 2]>(), turns, any::<[bool; 3]>()).prop_map(
        |(first, turns, [opens, ends, acknowledges])| Spoken {
            first,
            turns,
            opens,
            ends,
            acknowledges,
        },
    )
}

/// Where neither an end nor a beginning was captured, two conversations whose numbers lie within 16
/// MiB of each other on both sides are one.
pub fn apart(mut conversations: Vec<Spoken>) -> Vec<Spoken> {
    for it in 1..conversations.len() {
        let before = conversations[it - 1].first[0];
        let ahead = conversations[it].first[0].wrapping_sub(before);
        if !(1 << 25..1 << 31).contains(&ahead) {
            conversations[it].first[0] = before.wrapping_add((1 << 25) + (ahead >> 2));
        }
    }
    conversations
}

pub fn plan(fates: &'static [(u32, Fate)]) -> impl Strategy<Value = Plan> {
    let protocol = prop::sample::select(vec![
        Protocol::Http1,
        Protocol::Ajp13,
        Protocol::Mysql,
        Protocol::Postgresql,
        Protocol::Fastcgi,
        Protocol::Memcached,
        Protocol::Redis,
        Protocol::Http2,
    ]);
    let fate = prop::sample::select(
        fates.iter().flat_map(|&(share, fate)| vec![fate; share as usize]).collect::<Vec<_>>(),
    );
    let conversations = prop::collection::vec(spoken(), 1..4).prop_map(apart);
    (protocol, conversations, prop::collection::vec(fate, 64), 30_usize..200).prop_map(
        |(protocol, conversations, fates, snap)| Plan { protocol, conversations, fates, snap },
    )
}

/// What went in: an exchange, when its messages ended, and whether all of it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    pub arrival_ns: i64,
    pub request_end_ns: i64,
    pub reply_start_ns: i64,
    pub departure_ns: i64,
    pub bytes: (i64, i64),
    pub is_whole: bool,
}

/// What a wire carried, and what of it was captured.
pub struct Played {
    pub server: Server,
    pub frames: Vec<(i64, Vec<u8>)>,
    pub truth: HashMap<String, Truth>,
    pub snap: usize,
}

pub fn play(plan: &Plan) -> Played {
    let server = server("it.1", plan.protocol, 1, false);
    let mut played = Played { server, frames: Vec::new(), truth: HashMap::new(), snap: plan.snap };
    let mut fates = plan.fates.iter().copied().cycle();
    let mut now_ns = 1_000_000_000;
    for (number, spoken) in plan.conversations.iter().enumerate() {
        let mut it = Conversation::silent(&played.server, 50_000, now_ns);
        it.next = spoken.first;
        if spoken.opens {
            it.syn();
            it.packet(ServerSide, "SA", &[]);
            it.next[1] = it.next[1].wrapping_add(1);
            it.ack(Client);
        }
        if spoken.opens {
            log_in(plan.protocol, &mut it);
        }
        played.frames.append(&mut it.frames);
        for (turn_number, turn) in spoken.turns.iter().enumerate() {
            let name = format!("c{number}t{turn_number}x");
            let (request, reply) = messages(plan.protocol, turn_number, turn, &name);
            // Where no handshake was captured, the first packet tells where the stream begins.
            let kept = if turn_number == 0 && !spoken.opens { usize::MAX } else { 0 };
            let mut fates_asked = std::iter::repeat_n(Fate::Captured, kept).chain(fates.by_ref());
            let (asked, asked_whole) =
                send(&mut it, Client, turn.packets[0], &request, &mut fates_asked, &mut played);
            acknowledge(&mut it, ServerSide, spoken, &mut played);
            let (answered, answered_whole) =
                send(&mut it, ServerSide, turn.packets[1], &reply, &mut fates, &mut played);
            acknowledge(&mut it, Client, spoken, &mut played);
            let truth = Truth {
                arrival_ns: asked.0,
                request_end_ns: asked.1,
                reply_start_ns: answered.0,
                departure_ns: answered.1,
                bytes: (request.len() as i64, reply.len() as i64),
                is_whole: asked_whole && answered_whole,
            };
            played.truth.insert(mark(plan.protocol, &name), truth);
        }
        if spoken.ends {
            it.fin(Client);
            it.fin(ServerSide);
            it.ack(Client);
            played.frames.append(&mut it.frames);
        }
        now_ns = it.now_ns + 1_000_000_000;
    }
    played
}

/// Acknowledges all of a message, if that is not left to what is said next.
pub fn acknowledge(it: &mut Conversation, from: Side, spoken: &Spoken, played: &mut Played) {
    if spoken.acknowledges {
        it.ack(from);
        played.frames.append(&mut it.frames);
    }
}

/// Sends a message in packets, each of which meets its fate.
pub fn send(
    it: &mut Conversation,
    from: Side,
    size: usize,
    bytes: &[u8],
    fates: &mut impl Iterator<Item = Fate>,
    played: &mut Played,
) -> ((i64, i64), bool) {
    let times = it.say_in(from, size, bytes);
    let sent = std::mem::take(&mut it.frames);
    let mut is_whole = true;
    let mut late: Option<(i64, Vec<u8>)> = None;
    for (at_ns, mut frame) in sent {
        let fate = fates.next().unwrap_or(Fate::Captured);
        is_whole &= fate != Fate::Lost;
        match fate {
            Fate::Lost => continue,
            Fate::Cut => frame.truncate(40 + played.snap),
            Fate::Twice => played.frames.push((at_ns, frame.clone())),
            Fate::Reordered if late.is_none() => {
                late = Some((at_ns, frame));
                continue;
            }
            _ => {}
        }
        played.frames.push((at_ns, frame));
        played.frames.extend(late.take());
    }
    played.frames.extend(late);
    (times, is_whole)
}
