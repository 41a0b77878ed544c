//! memcached's text and binary protocols, with bytes laid out as its documentation shows them.

use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

pub fn cache() -> Server {
    server("cache.1", Protocol::Memcached, 8, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[cache()], &conversation.frames)
}

/// Label, status and end of each visit.
fn seen(results: &Results) -> Vec<(&str, Option<i32>, Option<i64>)> {
    results.visits.iter().map(|it| (&it.label[..], it.status, it.departure_ns)).collect()
}

/// A frame of the binary protocol: magic, opcode, status, opaque, extras, key, value.
pub fn binary(
    (magic, opcode): (u8, u8),
    status: u16,
    opaque: u32,
    extras: &[u8],
    key: &str,
    value: &[u8],
) -> Vec<u8> {
    let body = [extras, key.as_bytes(), value].concat();
    let mut frame = vec![magic, opcode];
    frame.extend((key.len() as u16).to_be_bytes());
    frame.extend([extras.len() as u8, 0]);
    frame.extend(status.to_be_bytes());
    frame.extend((body.len() as u32).to_be_bytes());
    frame.extend(opaque.to_be_bytes());
    frame.extend([0; 8]);
    [frame, body].concat()
}

const GET: u8 = 0x00;
const SET: u8 = 0x01;
const GETKQ: u8 = 0x0d;
const NOOP: u8 = 0x0a;
const STAT: u8 = 0x10;
const SETQ: u8 = 0x11;
const QUITQ: u8 = 0x17;

fn asked(opcode: u8, opaque: u32, key: &str) -> Vec<u8> {
    binary((0x80, opcode), 0, opaque, &[], key, b"")
}

fn told(opcode: u8, opaque: u32, status: u16) -> Vec<u8> {
    binary((0x81, opcode), status, opaque, &[], "", b"")
}

#[test]
fn a_command_and_its_reply_are_a_visit() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let request = [&b"set user:42 5 60 300\r\n"[..], &[b'v'; 300], b"\r\n"].concat();
    let (first, last) = it.say_in(Client, 50, &request);
    let stored = it.say(ServerSide, b"STORED\r\n");
    it.say(Client, b"get user:42\r\n");
    let reply = [&b"VALUE user:42 5 300\r\n"[..], &[b'v'; 300], b"\r\nEND\r\n"].concat();
    let (start, end) = it.say_in(ServerSide, 40, &reply);
    let results = results(&it);
    let [set, get] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((set.arrival_ns, set.request_end_ns), (first, last));
    assert_eq!((set.label.as_str(), set.status, set.departure_ns), ("set", Some(0), Some(stored)));
    assert_eq!(set.bytes, (request.len() as i64, 8));
    assert_eq!((get.reply_start_ns, get.departure_ns), (Some(start), Some(end)));
    assert_eq!((get.label.as_str(), get.status), ("get", Some(0)));
    assert_eq!(get.bytes, (13, reply.len() as i64));
    let key = ["user:42", "user", "42"].map(|it| salt().hash(it.as_bytes()));
    assert_eq!((&set.literals[..], &get.literals[..]), (&key[..], &key[..]));
    assert_eq!(results.kinds(Client), ["set", "get"]);
    assert_eq!(results.kinds(ServerSide), ["STORED", "END"]);
}

#[test]
fn every_outcome_has_its_status() {
    for (request, reply, label, status) in [
        ("get a\r\n", "END\r\n", "get", 1),
        ("get a b\r\n", "VALUE b 0 1\r\nx\r\nEND\r\n", "get", 0),
        ("gets a\r\n", "VALUE a 0 5 77\r\nEND\r\n\r\nEND\r\n", "gets", 0),
        ("gat 10 a\r\n", "END\r\n", "gat", 1),
        ("add a 0 0 1\r\nx\r\n", "NOT_STORED\r\n", "add", 5),
        ("cas a 0 0 1 7\r\nx\r\n", "EXISTS\r\n", "cas", 2),
        ("cas a 0 0 1 7\r\nx\r\n", "NOT_FOUND\r\n", "cas", 1),
        ("set a 0 0 9999999\r\n", "SERVER_ERROR object too large for cache\r\n", "set", 3),
        ("set a 0 0 x\r\n", "CLIENT_ERROR bad command line format\r\n", "set", 4),
        ("incr a 1\r\n", "17  \r\n", "incr", 0),
        ("decr a 1\r\n", "NOT_FOUND\r\n", "decr", 1),
        ("delete a\r\n", "DELETED\r\n", "delete", 0),
        ("touch a 1\r\n", "TOUCHED\r\n", "touch", 0),
        ("version\r\n", "VERSION 1.6.18\r\n", "version", 0),
        ("flush_all\r\n", "OK\r\n", "flush_all", 0),
        ("stats\r\n", "STAT pid 7\r\nSTAT uptime 9\r\nEND\r\n", "stats", 0),
        ("stats reset\r\n", "RESET\r\n", "stats", 0),
        ("stats items\r\n", "END\r\n", "stats", 0),
        ("secret words\r\n", "ERROR\r\n", "(unknown)", 0x81),
        ("mg a v\r\n", "VA 2 f0\r\nhi\r\n", "mg", 0),
        ("mg a v\r\n", "EN\r\n", "mg", 1),
        ("ms a 2\r\nhi\r\n", "HD\r\n", "ms", 0),
        ("ms a 2 MA\r\nhi\r\n", "NS\r\n", "ms", 5),
        ("md a\r\n", "NF\r\n", "md", 1),
        ("ma a v\r\n", "VA 1\r\n5\r\n", "ma", 0),
        ("mn\r\n", "MN\r\n", "mn", 0),
        ("me a\r\n", "ME a exp=-1 la=3\r\n", "me", 0),
    ] {
        let mut it = Conversation::open(&cache(), 50_000, 0);
        it.say(Client, b"version\r\n");
        it.say(ServerSide, b"VERSION 1.6.18\r\n");
        // Of what is too large the server reads no more than it must, and so do we.
        if request.ends_with("9999999\r\n") {
            it.say(Client, request.as_bytes());
            it.say_in(Client, 30_000, &[b'x'; 9_999_999]);
            it.say(Client, b"\r\n");
        } else {
            it.say(Client, request.as_bytes());
        }
        let end = it.say(ServerSide, reply.as_bytes());
        let results = results(&it);
        assert_eq!(seen(&results)[1..], [(label, Some(status), Some(end))], "{request}");
    }
}

#[test]
fn commands_that_are_sent_on_are_answered_in_their_order() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let first = it.say(Client, b"get a\r\nset b 0 0 2\r\nhi\r\nget ");
    it.say(Client, b"b\r\nget c\r\n");
    let ends = it.say(ServerSide, b"END\r\nSTORED\r\nVALUE b 0 2\r\nhi\r\nE");
    let last = it.say(ServerSide, b"ND\r\nEND\r\n");
    let results = results(&it);
    let expected = [
        ("get", Some(1), Some(ends)),
        ("set", Some(0), Some(ends)),
        ("get", Some(0), Some(last)),
        ("get", Some(1), Some(last)),
    ];
    assert_eq!(seen(&results), expected);
    assert_eq!(results.visits[2].arrival_ns, first);
}

#[test]
fn who_wants_no_reply_has_none() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    it.say(Client, b"set a 0 0 1 noreply\r\nx\r\ndelete b noreply\r\nget a\r\n");
    let end = it.say(ServerSide, b"VALUE a 0 1\r\nx\r\nEND\r\n");
    it.say(Client, b"quit\r\n");
    let expected = [
        ("set", None, None),
        ("delete", None, None),
        ("get", Some(0), Some(end)),
        ("quit", None, None),
    ];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn a_quiet_meta_command_is_answered_by_what_follows() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    it.say(Client, b"mg a v q O1\r\nmg b v q O2\r\nms c 1 q\r\nx\r\nms d 1\r\nx\r\nmn\r\n");
    let end = it.say(ServerSide, b"VA 1 O2\r\nx\r\nHD\r\nMN\r\n");
    let expected = [
        ("mg", Some(1), Some(end)),
        ("mg", Some(0), Some(end)),
        ("ms", Some(0), Some(end)),
        ("ms", Some(0), Some(end)),
        ("mn", Some(0), Some(end)),
    ];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn binary_commands_are_paired_by_what_the_reply_gives_back() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let quiet = [asked(GETKQ, 1, "a"), asked(GETKQ, 2, "b:7"), asked(GETKQ, 3, "c")].concat();
    it.say_in(Client, 20, &[quiet, asked(NOOP, 4, "")].concat());
    let hit = binary((0x81, GETKQ), 0, 2, &[0; 4], "b:7", b"value");
    let (start, end) = it.say_in(ServerSide, 30, &[hit.clone(), told(NOOP, 4, 0)].concat());
    let set = binary((0x80, SET), 0, 9, &[0; 8], "k", &[b'v'; 500]);
    it.say(Client, &set);
    let stored = it.say(ServerSide, &told(SET, 9, 2));
    it.say(Client, &[binary((0x80, SETQ), 0, 0, &[0; 8], "k", b"v"), asked(GET, 0, "k")].concat());
    let missed = it.say(ServerSide, &told(GET, 0, 1));
    it.say(Client, &asked(STAT, 5, ""));
    it.say(ServerSide, &binary((0x81, STAT), 0, 5, &[], "pid", b"7"));
    let stats = it.say(ServerSide, &told(STAT, 5, 0));
    it.say(Client, &asked(QUITQ, 6, ""));
    let results = results(&it);
    let hit_end = start + (hit.len().div_ceil(30) as i64 - 1) * crate::support::STEP_NS;
    let expected = [
        ("getkq", Some(1), Some(hit_end)),
        ("getkq", Some(0), Some(hit_end)),
        ("getkq", Some(1), Some(end)),
        ("noop", Some(0), Some(end)),
        ("set", Some(2), Some(stored)),
        ("setq", Some(0), Some(missed)),
        ("get", Some(1), Some(missed)),
        ("stats", Some(0), Some(stats)),
        ("quitq", None, None),
    ];
    assert_eq!(seen(&results), expected);
    let key = ["b:7", "b", "7"].map(|it| salt().hash(it.as_bytes()));
    assert_eq!(results.visits[1].literals, key);
}

#[test]
fn a_loss_within_a_value_costs_nothing() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let request = [&b"set a 0 0 8000\r\n"[..], &[b'v'; 8000], b"\r\n"].concat();
    it.send(Client, &request[..1_000]);
    it.lose(Client, &request[1_000..7_000]);
    it.say(Client, &request[7_000..]);
    it.say(ServerSide, b"STORED\r\n");
    it.say(Client, b"get a\r\n");
    let reply = [&b"VALUE a 0 8000\r\n"[..], &[b'v'; 8000], b"\r\nEND\r\n"].concat();
    it.send(ServerSide, &reply[..1_000]);
    it.lose(ServerSide, &reply[1_000..8_018]);
    let end = it.say(ServerSide, &reply[8_018..]);
    let results = results(&it);
    assert_eq!(seen(&results)[1], ("get", Some(0), Some(end)));
    assert_eq!(results.visits[0].bytes.0, request.len() as i64);
    assert_eq!(results.visits[1].bytes.1, reply.len() as i64);
}

#[test]
fn after_a_lost_reply_the_next_command_is_read() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    it.say(Client, b"get a\r\n");
    it.lose(ServerSide, b"END\r\n");
    it.ack(Client);
    it.say(Client, b"get b\r\n");
    let end = it.say(ServerSide, b"VALUE b 0 1\r\nx\r\nEND\r\n");
    assert_eq!(seen(&results(&it)), [("get", None, None), ("get", Some(0), Some(end))]);
}

#[test]
fn a_reply_is_not_taken_for_one_that_was_lost_with_its_command() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    it.say(Client, b"get a\r\n");
    it.say(ServerSide, b"END\r\n");
    it.lose(Client, b"get b\r\n");
    it.ack(ServerSide);
    it.say(ServerSide, b"VALUE b 0 1\r\nx\r\nEND\r\n");
    it.say(Client, b"get c\r\n");
    let end = it.say(ServerSide, b"END\r\n");
    let results = results(&it);
    assert_eq!(results.visits.len(), 2);
    assert_eq!(seen(&results)[1], ("get", Some(1), Some(end)));
}

/// Its client has several commands under way at any time, as Node.js's have.
#[test]
fn who_sends_on_is_understood_again_once_nothing_was_due_for_a_while() {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let turn = |it: &mut Conversation| {
        it.say(Client, b"get a\r\n");
        it.say(Client, b"get b\r\n");
        it.say(ServerSide, b"END\r\n");
        it.say(ServerSide, b"VALUE b 0 1\r\nx\r\nEND\r\n")
    };
    turn(&mut it);
    it.say(Client, b"get a\r\n");
    it.say(Client, b"get b\r\n");
    it.lose(ServerSide, b"END\r\n");
    it.ack(Client);
    it.say(Client, b"get c\r\n");
    it.say(ServerSide, b"VALUE b 0 1\r\nx\r\nEND\r\n");
    it.say(ServerSide, b"END\r\n");
    let last: Vec<i64> = (0..10).map(|_| turn(&mut it)).collect();
    let results = results(&it);
    let ends = |it: &crate::support::Seen| it.departure_ns;
    let doubtful = &results.visits[2..results.visits.len() - 6];
    assert!(doubtful.iter().all(|it| ends(it).is_none()), "{doubtful:?}");
    assert_eq!(results.visits.last().and_then(ends), last.last().copied());
    assert_eq!(results.visits.len(), 2 + 3 + 20);
    for pair in results.visits[results.visits.len() - 4..].chunks(2) {
        assert_eq!((pair[0].status, pair[1].status), (Some(1), Some(0)));
    }
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    for (request, reply, label) in [
        (b"get a\r\n".to_vec(), b"END\r\n".to_vec(), "get"),
        (asked(GET, 7, "a"), told(GET, 7, 0), "get"),
    ] {
        let mut it = Conversation::silent(&cache(), 50_000, 0);
        it.say(ServerSide, b"the rest of a value\r\nEND\r\n");
        it.say(Client, &request);
        let end = it.say(ServerSide, &reply);
        let results = results(&it);
        assert_eq!((results.labels(), results.visits[0].departure_ns), (vec![label], Some(end)));
    }
}

#[test]
fn what_is_another_protocol_is_named() {
    for (bytes, reason) in [(&b"\x16\x03\x01\x02\0\x01"[..], "tls"), (b"hello\r\n", "unknown")] {
        let mut it = Conversation::open(&cache(), 50_000, 0);
        it.say(Client, bytes);
        it.say(ServerSide, b"ERROR\r\n");
        let results = results(&it);
        assert_eq!(results.happened(), [EventKind::Opaque { reason }]);
        assert_eq!(results.labels(), [reason]);
    }
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    it.say(Client, b"set a 0 0 5\r\nhello\r\nget a b\r\nincr n 1\r\n");
    it.say_in(ServerSide, 9, b"STORED\r\nVALUE a 0 5\r\nhello\r\nEND\r\nNOT_FOUND\r\n");
    it.say(Client, b"set c 0 0 1 noreply\r\nx\r\nmg a v q k\r\nmn\r\n");
    it.say(ServerSide, b"VA 5 ka\r\nhello\r\nMN\r\n");
    it.say(Client, b"stats\r\n");
    it.say(ServerSide, b"STAT pid 1\r\nEND\r\n");
    it.frames
}

/// The same of the binary protocol.
pub fn binary_example() -> Vec<Frame> {
    let mut it = Conversation::open(&cache(), 50_000, 0);
    let set = binary((0x80, SET), 0, 1, &[0; 8], "key", b"value");
    it.say_in(Client, 30, &[set, asked(GETKQ, 2, "key"), asked(NOOP, 3, "")].concat());
    let hit = binary((0x81, GETKQ), 0, 2, &[0; 4], "key", b"value");
    it.say_in(ServerSide, 40, &[told(SET, 1, 0), hit, told(NOOP, 3, 0)].concat());
    it.frames
}
