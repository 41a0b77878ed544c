//! Random conversations, damaged as networks and captures damage them, against the messages that
//! went in.
//!
//! They are the same in every run, so that a change is judged by what it changed; `make fuzz` is what
//! looks for new ones. To try others here: `PROPTEST_RNG_SEED=7 PROPTEST_CASES=200000 cargo test -p
//! tierlab-dissect --test dissect properties`.

use crate::mysql_bytes::{
    BASIC, DEPRECATE_EOF, eof, greeting, login, ok, packet, packets, query, result_set,
};
use crate::support::{Conversation, Results, STEP_NS, dissect_as_captured, server};
use crate::{fastcgi, postgresql_bytes};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::collections::HashMap;
use tierlab_dissect::Side::{self, Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

/// In each of three properties.
const CONVERSATIONS: u32 = 4_000;

/// Where the random numbers begin, unless PROPTEST_RNG_SEED says otherwise.
const SEED: u64 = 10;

fn config() -> Config {
    let rng_seed = RngSeed::Fixed(SEED);
    Config { cases: CONVERSATIONS, rng_seed, failure_persistence: None, ..Config::default() }
}

/// A request and its reply, each in packets of some size.
#[derive(Clone, Debug)]
struct Turn {
    request: usize,
    reply: usize,
    chunked: bool,
    packets: [usize; 2],
}

/// Conversations on one port, one after the other.
#[derive(Clone, Debug)]
struct Plan {
    protocol: Protocol,
    conversations: Vec<Spoken>,
    /// What happens to each packet.
    fates: Vec<Fate>,
    /// How much of its payload is captured if it is cut.
    snap: usize,
}

#[derive(Clone, Debug)]
struct Spoken {
    first: [u32; 2],
    turns: Vec<Turn>,
    /// Whether its handshake and its end are captured.
    opens: bool,
    ends: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Captured,
    /// After the packet behind it.
    Reordered,
    Twice,
    /// Its first bytes.
    Cut,
    Lost,
}

fn turn() -> impl Strategy<Value = Turn> {
    let packets = [30_usize..1_500, 30_usize..1_500];
    (0_usize..300, 0_usize..5_000, any::<bool>(), packets)
        .prop_map(|(request, reply, chunked, packets)| Turn { request, reply, chunked, packets })
}

fn spoken() -> impl Strategy<Value = Spoken> {
    let turns = prop::collection::vec(turn(), 1..5);
    (any::<[u32; 2]>(), turns, any::<bool>(), any::<bool>())
        .prop_map(|(first, turns, opens, ends)| Spoken { first, turns, opens, ends })
}

/// Where neither an end nor a beginning was captured, two conversations whose numbers lie within 16
/// MiB of each other on both sides are one.
fn apart(mut conversations: Vec<Spoken>) -> Vec<Spoken> {
    for it in 1..conversations.len() {
        let before = conversations[it - 1].first[0];
        let ahead = conversations[it].first[0].wrapping_sub(before);
        if !(1 << 25..1 << 31).contains(&ahead) {
            conversations[it].first[0] = before.wrapping_add((1 << 25) + (ahead >> 2));
        }
    }
    conversations
}

fn plan(fates: &'static [(u32, Fate)]) -> impl Strategy<Value = Plan> {
    let protocol = prop::sample::select(vec![
        Protocol::Http1,
        Protocol::Ajp13,
        Protocol::Mysql,
        Protocol::Postgresql,
        Protocol::Fastcgi,
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
struct Truth {
    arrival_ns: i64,
    request_end_ns: i64,
    reply_start_ns: i64,
    departure_ns: i64,
    bytes: (i64, i64),
    is_whole: bool,
}

/// What a wire carried, and what of it was captured.
struct Played {
    server: Server,
    frames: Vec<(i64, Vec<u8>)>,
    truth: HashMap<String, Truth>,
    snap: usize,
}

fn play(plan: &Plan) -> Played {
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
            let (request, reply) = messages(plan.protocol, turn, &name);
            // Where no handshake was captured, the first packet tells where the stream begins.
            let kept = if turn_number == 0 && !spoken.opens { usize::MAX } else { 0 };
            let mut fates_asked = std::iter::repeat_n(Fate::Captured, kept).chain(fates.by_ref());
            let (asked, asked_whole) =
                send(&mut it, Client, turn.packets[0], &request, &mut fates_asked, &mut played);
            let (answered, answered_whole) =
                send(&mut it, ServerSide, turn.packets[1], &reply, &mut fates, &mut played);
            let truth = Truth {
                arrival_ns: asked.0,
                request_end_ns: asked.1,
                reply_start_ns: answered.0,
                departure_ns: answered.1,
                bytes: (request.len() as i64, reply.len() as i64),
                is_whole: asked_whole && answered_whole,
            };
            played.truth.insert(label(plan.protocol, &name), truth);
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

/// Sends a message in packets, each of which meets its fate, and the acknowledgment of all.
fn send(
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
    it.ack(if from == Client { ServerSide } else { Client });
    played.frames.append(&mut it.frames);
    (times, is_whole)
}

fn log_in(protocol: Protocol, it: &mut Conversation) {
    match protocol {
        Protocol::Mysql => {
            it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
            it.say(Client, &login(BASIC & !DEPRECATE_EOF));
            it.say(ServerSide, &packet(2, &ok(0, 0)));
        }
        Protocol::Postgresql => {
            it.say(Client, &postgresql_bytes::login());
            it.say(ServerSide, &postgresql_bytes::logged_in(b"keys"));
        }
        _ => {}
    }
}

fn label(protocol: Protocol, name: &str) -> String {
    match protocol {
        Protocol::Mysql | Protocol::Postgresql => format!("SELECT {name} FROM t WHERE a = ?"),
        _ => format!("GET /{name}"),
    }
}

fn messages(protocol: Protocol, turn: &Turn, name: &str) -> (Vec<u8>, Vec<u8>) {
    match protocol {
        Protocol::Http1 => {
            let filling = "f".repeat(turn.request);
            let request = format!("GET /{name} HTTP/1.1\r\nX-Filling: {filling}\r\n\r\n");
            let content = "x".repeat(turn.reply);
            let reply = if turn.chunked {
                let (first, second) = content.split_at(turn.reply / 2);
                let chunk = |it: &str| match it.len() {
                    0 => String::new(),
                    length => format!("{length:x}\r\n{it}\r\n"),
                };
                let chunks = chunk(first) + &chunk(second);
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
            } else {
                let length = content.len();
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{content}")
            };
            (request.into_bytes(), reply.into_bytes())
        }
        Protocol::Ajp13 => {
            let filling = "f".repeat(turn.request);
            (crate::ajp13::get(&format!("/{name}"), &filling), crate::ajp13::reply(turn.reply))
        }
        Protocol::Fastcgi => {
            let filling = "f".repeat(turn.request);
            (fastcgi::get(1, &format!("/{name}"), &filling), fastcgi::reply(1, turn.reply))
        }
        Protocol::Postgresql => {
            let (filling, rows) = ("f".repeat(turn.request), turn.reply / 50);
            // `chunked` tells one way of two to say the same.
            if turn.chunked {
                let statement = format!("SELECT {name} FROM t WHERE a = $1");
                let reply = postgresql_bytes::result(rows, &[b'r'; 43]);
                let answered = [postgresql_bytes::PARSED, postgresql_bytes::BOUND, &reply].concat();
                return (postgresql_bytes::extended(&statement, &[&filling]), answered);
            }
            let statement = format!("SELECT {name} FROM t WHERE a = '{filling}'");
            (postgresql_bytes::query(&statement), postgresql_bytes::result(rows, &[b'r'; 43]))
        }
        _ => {
            let filling = "f".repeat(turn.request);
            let statement = format!("SELECT {name} FROM t WHERE a = '{filling}'");
            let rows = turn.reply / 50;
            let row = [&[49_u8][..], &[b'r'; 49]].concat();
            let mut payloads = result_set(rows, &row, false, 0);
            let last = payloads.len() - 1;
            payloads[last] = eof(0);
            (query(&statement), packets(1, &payloads))
        }
    }
}

fn results(played: &Played) -> Results {
    dissect_as_captured(std::slice::from_ref(&played.server), &played.frames)
}

fn asked(results: &Results) -> impl Iterator<Item = &crate::support::Seen> {
    results.visits.iter().filter(|visit| visit.label != "LOGIN")
}

const REPEATED: &[(u32, Fate)] = &[(12, Fate::Captured), (2, Fate::Reordered), (2, Fate::Twice)];
const CUT: &[(u32, Fate)] = &[(1, Fate::Captured), (1, Fate::Cut)];
const LOST: &[(u32, Fate)] =
    &[(24, Fate::Captured), (2, Fate::Reordered), (2, Fate::Twice), (3, Fate::Lost)];

/// The time of a packet, or of one that was captured just behind it.
fn is_about(seen: Option<i64>, truth: i64) -> bool {
    seen.is_some_and(|seen| (truth..=truth + 2 * STEP_NS).contains(&seen))
}

proptest! {
    #![proptest_config(config())]

    /// Every message is found, with its times and sizes, and nothing else is said.
    #[test]
    fn repeated_and_reordered_packets_change_nothing(plan in plan(REPEATED)) {
        let played = play(&plan);
        let results = results(&played);
        prop_assert_eq!(asked(&results).count(), played.truth.len());
        for visit in asked(&results) {
            let truth = played.truth.get(&visit.label);
            prop_assert!(truth.is_some(), "{} was invented", visit.label);
            let Some(truth) = truth else { continue };
            prop_assert!(is_about(Some(visit.arrival_ns), truth.arrival_ns), "{visit:?} {truth:?}");
            prop_assert!(is_about(Some(visit.request_end_ns), truth.request_end_ns));
            prop_assert!(is_about(visit.reply_start_ns, truth.reply_start_ns));
            prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            prop_assert_eq!(visit.bytes, truth.bytes);
        }
        let gap = |it: &EventKind| matches!(it, EventKind::Gap { .. });
        prop_assert!(!results.happened().iter().any(gap), "{:?}", results.events);
    }

    /// A snap length leaves every message's end where it was, or untold.
    #[test]
    fn what_a_snap_length_leaves_is_true(plan in plan(CUT)) {
        let played = play(&plan);
        let results = results(&played);
        for visit in asked(&results) {
            let Some(truth) = played.truth.get(&visit.label) else { continue };
            prop_assert!(is_about(Some(visit.arrival_ns), truth.arrival_ns), "{visit:?} {truth:?}");
            if visit.departure_ns.is_some() {
                prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            }
        }
        prop_assert_eq!(results.happened(), vec![]);
    }

    /// What was lost takes nothing with it that was captured whole, and nothing is invented.
    #[test]
    fn lost_packets_cost_no_message_but_their_own(plan in plan(LOST)) {
        let played = play(&plan);
        let results = results(&played);
        for visit in asked(&results) {
            let Some(truth) = played.truth.get(&visit.label) else { continue };
            if visit.departure_ns.is_some() {
                prop_assert!(is_about(visit.departure_ns, truth.departure_ns), "{visit:?} {truth:?}");
            }
        }
        let found: HashMap<&str, Option<i64>> =
            asked(&results).map(|visit| (visit.label.as_str(), visit.departure_ns)).collect();
        for (label, truth) in played.truth.iter().filter(|(_, truth)| truth.is_whole) {
            let departure = found.get(label.as_str()).copied().flatten();
            prop_assert!(is_about(departure, truth.departure_ns), "{label}: {found:?} {truth:?}");
        }
    }
}
