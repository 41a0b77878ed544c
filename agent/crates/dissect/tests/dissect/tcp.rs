//! What TCP does to the bytes (RFC 9293).

use crate::support::{Conversation, Results, STEP_NS, Seen, dissect, server};
use etherparse::PacketBuilder;
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[web()], &conversation.frames)
}

const GET: &[u8] = b"GET /page HTTP/1.1\r\n\r\n";

/// A reply of this many bytes of content.
fn reply(content: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {content}\r\n\r\n");
    [head.as_bytes(), &vec![b'x'; content]].concat()
}

#[test]
fn segments_of_64_kib_and_wrapping_sequence_numbers_are_read() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let (start, end) = it.say_in(ServerSide, 65_000, &reply(1_000_000));
    let results = results(&it);
    let visit = &results.visits[0];
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.bytes.1, reply(1_000_000).len() as i64);
}

#[test]
fn segments_in_any_order_are_put_in_order() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let first = it.frames.len();
    let (start, end) = it.say_in(ServerSide, 10, &reply(60));
    let times: Vec<i64> = it.frames[first..].iter().map(|frame| frame.0).collect();
    // Capture them backwards, but for the first.
    it.frames[first + 1..].reverse();
    for (frame, at_ns) in it.frames[first..].iter_mut().zip(times) {
        frame.0 = at_ns;
    }
    let results = results(&it);
    let visit = &results.visits[0];
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(results.events, []);
}

#[test]
fn what_is_sent_twice_counts_once() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let reply = reply(40);
    it.send(ServerSide, &reply[..30]);
    it.next[1] = it.next[1].wrapping_sub(30);
    it.send(ServerSide, &reply[..30]);
    // Some known bytes, some new ones.
    it.next[1] = it.next[1].wrapping_sub(10);
    let end = it.say(ServerSide, &reply[20..]);
    let results = results(&it);
    assert_eq!(results.visits[0].bytes.1, reply.len() as i64);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    let captured_before = true;
    let again = |bytes| EventKind::Retransmission { from: ServerSide, bytes, captured_before };
    assert_eq!(results.happened(), [again(30), again(10)]);
}

#[test]
fn a_hole_that_is_filled_late_was_sent_again() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let reply = reply(40);
    let beginning = it.next[1];
    it.lose(ServerSide, &reply[..30]);
    it.send(ServerSide, &reply[30..]);
    it.now_ns += 200_000_000;
    it.next[1] = beginning;
    let end = it.send(ServerSide, &reply[..30]);
    let results = results(&it);
    let visit = &results.visits[0];
    // The reply was not there before its first bytes were.
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(end), Some(end)));
    let again = EventKind::Retransmission { from: ServerSide, bytes: 30, captured_before: false };
    assert_eq!(results.happened(), [again]);
}

#[test]
fn keep_alive_probes_are_nothing() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.say(ServerSide, &reply(5));
    it.next[0] = it.next[0].wrapping_sub(1);
    it.packet(Client, "A", &[]);
    it.packet(Client, "A", &[0]);
    it.next[0] = it.next[0].wrapping_add(1);
    it.ack(ServerSide);
    it.say(Client, GET);
    it.say(ServerSide, &reply(5));
    let results = results(&it);
    assert_eq!((results.visits.len(), results.events.len()), (2, 0));
}

#[test]
fn a_connection_request_sent_again_is_an_event() {
    let mut it = Conversation::silent(&web(), 50_000, 0);
    it.packet(Client, "S", &[]);
    let first_ns = it.now_ns;
    for _ in 0..2 {
        it.now_ns += 1_000_000_000;
        it.packet(Client, "S", &[]);
    }
    let results = results(&it);
    let expected: Vec<EventKind> =
        [1, 2].map(|attempt| EventKind::SynRetransmission { first_ns, attempt }).into();
    assert_eq!(results.happened(), expected);
    assert_eq!(results.events[1].0, first_ns + 2 * (1_000_000_000 + STEP_NS));
}

#[test]
fn ports_used_again_are_another_connection() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    // Neither reply nor FIN was captured.
    it.next = [7_000, 9_000];
    it.syn();
    it.packet(ServerSide, "SA", &[]);
    it.next[1] += 1;
    it.say(Client, GET);
    it.say(ServerSide, &reply(5));
    let results = results(&it);
    let seen: Vec<_> =
        results.visits.iter().map(|it| (it.connection, it.departure_ns.is_some())).collect();
    assert_eq!(seen, [(0, false), (5, true)], "connections are known by their first frame");
    assert_eq!(results.events, []);
}

#[test]
fn a_reset_ends_what_is_open() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.rst(Client);
    let reset_ns = it.now_ns;
    // Stragglers of the old connection open no new one, be they acknowledgments or a reply.
    it.ack(ServerSide);
    it.say(ServerSide, &reply(5));
    let mut next = Conversation::open(&web(), 50_001, it.now_ns);
    next.say(Client, GET);
    it.frames.append(&mut next.frames);
    let results = results(&it);
    let seen: Vec<_> =
        results.visits.iter().map(|it| (it.connection, it.departure_ns, it.closed_ns)).collect();
    assert_eq!(seen, [(0, None, Some(reset_ns)), (9, None, None)]);
    assert_eq!(results.kinds(ServerSide), [""; 0]);
}

#[test]
fn a_server_that_has_said_its_last_answers_no_more() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.say(ServerSide, &reply(5)[..20]);
    it.fin(ServerSide);
    let end_ns = it.now_ns;
    it.ack(Client);
    it.fin(Client);
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (it.departure_ns, it.closed_ns)).collect();
    assert_eq!(seen, [(None, Some(end_ns))]);
}

#[test]
fn who_asks_no_more_may_still_be_answered() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.fin(Client);
    let seen = |it: &Conversation| {
        let ends = |it: &Seen| (it.departure_ns, it.closed_ns);
        results(it).visits.iter().map(ends).collect::<Vec<_>>()
    };
    assert_eq!(seen(&it), [(None, None)], "it is in the server's queue");
    let end_ns = it.say(ServerSide, &reply(5));
    it.fin(ServerSide);
    assert_eq!(seen(&it), [(Some(end_ns), None)]);
}

#[test]
fn ports_used_again_after_a_reset_are_another_connection() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.rst(Client);
    it.next = [7_000, 9_000];
    it.syn();
    it.packet(ServerSide, "SA", &[]);
    it.next[1] += 1;
    it.say(Client, GET);
    let end = it.say(ServerSide, &reply(5));
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (it.connection, it.departure_ns)).collect();
    assert_eq!(seen, [(0, None), (6, Some(end))]);
}

#[test]
fn frames_cut_by_a_snap_length_still_tell_the_ends() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let (start, end) = it.say_in(ServerSide, 2_000, &reply(10_000));
    it.say(Client, GET);
    it.say(ServerSide, &reply(5));
    for frame in &mut it.frames {
        frame.1.truncate(128);
    }
    let results = results(&it);
    let visit = &results.visits[0];
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!((results.visits.len(), results.events.len()), (2, 0));
}

#[test]
fn without_acknowledgments_a_hole_is_given_up_in_the_end() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.send(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 6000000\r\n\r\n");
    it.lose(ServerSide, &[b'x'; 60_000]);
    let (_, end) = it.say_in(ServerSide, 60_000, &vec![b'x'; 5_940_000]);
    let results = results(&it);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    assert_eq!(results.happened(), [EventKind::Gap { from: ServerSide, bytes: 60_000 }]);
}

#[test]
fn what_is_no_servers_business_is_ignored() {
    let mut frame = Vec::new();
    PacketBuilder::ipv4([127, 0, 1, 1], [127, 0, 0, 9], 64)
        .tcp(9999, 9998, 1, 1)
        .write(&mut frame, GET)
        .expect("a vector takes all");
    let results = dissect(&[web()], &[(1, frame)]);
    assert_eq!((results.visits.len(), results.messages.len()), (0, 0));
}
