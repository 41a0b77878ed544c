//! Jumps of sequence numbers, handshakes and ends that were not captured, ports that are used
//! again, and times that are wrong.

use crate::support::{Conversation, Frame, Results, dissect, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

/// Marsaglia's xorshift64: sequence numbers that can be repeated.
struct Random(u64);

impl Random {
    fn sequence(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u32
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn get(page: &str) -> Vec<u8> {
    format!("GET /{page} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes()
}

/// A request and its reply in the middle of a connection with these sequence numbers.
fn visit(page: &str, next: [u32; 2], now_ns: i64) -> Conversation {
    let mut it = Conversation::silent(&web(), 50_000, now_ns);
    it.next = next;
    it.say(Client, &get(page));
    it.say(ServerSide, OK);
    it
}

fn seen(frames: &[Frame]) -> (Vec<(String, bool)>, Vec<EventKind>) {
    let results: Results = dissect(&[web()], frames);
    let visits =
        results.visits.iter().map(|it| (it.label.clone(), it.departure_ns.is_some())).collect();
    (visits, results.happened())
}

fn whole(pages: &[&str]) -> Vec<(String, bool)> {
    pages.iter().map(|page| (format!("GET /{page}"), true)).collect()
}

/// Neither the first one's FIN nor the second one's SYN was captured.
#[test]
fn a_second_conversation_on_a_port_is_read_wherever_its_sequence_numbers_begin() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for round in 0..2_000 {
        let mut frames = visit("first", [random.sequence(), random.sequence()], 0).frames;
        let next = [random.sequence(), random.sequence()];
        frames.extend(visit("second", next, 1_000_000_000).frames);
        let (visits, events) = seen(&frames);
        assert_eq!(visits, whole(&["first", "second"]), "round {round}: {next:?}");
        let gap = |it: &EventKind| matches!(it, EventKind::Gap { .. });
        assert!(events.iter().all(gap), "round {round}: {events:?}");
    }
}

#[test]
fn a_second_conversation_is_read_if_only_the_servers_handshake_was_captured() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..2_000 {
        let first = Conversation::open(&web(), 50_000, 0);
        let mut frames = first.frames;
        let mut second = Conversation::silent(&web(), 50_000, 1_000_000);
        second.next = [random.sequence(), random.sequence()];
        second.packet(ServerSide, "SA", &[]);
        second.next[1] = second.next[1].wrapping_add(1);
        second.say(Client, &get("second"));
        second.say(ServerSide, OK);
        frames.extend(second.frames);
        assert_eq!(seen(&frames), (whole(&["second"]), vec![]), "round {round}");
    }
}

#[test]
fn a_port_used_again_after_a_reset_is_read_without_its_handshake() {
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    for reset_by in [Client, ServerSide] {
        for _ in 0..500 {
            let mut first = visit("first", [random.sequence(), random.sequence()], 0);
            first.rst(reset_by);
            let next = [random.sequence(), random.sequence()];
            let mut frames = first.frames;
            frames.extend(visit("second", next, 1_000_000_000).frames);
            assert_eq!(seen(&frames).0, whole(&["first", "second"]), "{next:?}");
        }
    }
}

#[test]
fn a_port_used_again_after_one_fin_was_captured_is_read() {
    // Linux takes the next connection's number a little above the last.
    for apart in [10, 70_000, 10_000_000, 100_000_000] {
        let mut first = visit("first", [1_000, 2_000], 0);
        first.fin(Client);
        let next = first.next.map(|it| it + apart);
        let mut frames = first.frames;
        frames.extend(visit("second", next, 1_000_000_000).frames);
        let (visits, events) = seen(&frames);
        assert_eq!(visits, whole(&["first", "second"]), "{apart} apart");
        let again = |it: &EventKind| matches!(it, EventKind::Retransmission { .. });
        assert!(!events.iter().any(again), "{events:?}");
    }
}

#[test]
fn what_comes_late_of_a_closed_connection_begins_none() {
    let mut it = visit("first", [1_000, 2_000], 0);
    it.fin(Client);
    it.fin(ServerSide);
    let before = it.next;
    it.next = [1_000, 2_000];
    it.send(Client, &get("first"));
    it.next = before;
    it.ack(Client);
    assert_eq!(seen(&it.frames).0, whole(&["first"]));
}

#[test]
fn what_comes_late_of_an_earlier_connection_ends_none() {
    let mut first = visit("first", [1_000, 2_000], 0);
    let mut second = Conversation::silent(&web(), 50_000, 1_000_000);
    second.next = [3_000_000_000, 4_000_000_000];
    second.syn();
    second.packet(ServerSide, "SA", &[]);
    second.next[1] += 1;
    second.say(Client, &get("second"));
    // Of the first: data again, an acknowledgment and a reset.
    first.now_ns = second.now_ns;
    let late = first.frames.len();
    first.next = [1_000, 2_000];
    first.send(Client, &get("first"));
    first.ack(ServerSide);
    first.rst(ServerSide);
    second.now_ns = first.now_ns;
    second.say(ServerSide, OK);
    let frames = [&first.frames[..late], &first.frames[late..], &second.frames[..]].concat();
    assert_eq!(seen(&frames), (whole(&["first", "second"]), vec![]));
}

#[test]
fn a_jump_of_one_side_is_a_gap() {
    for jump in [17 << 20, 1 << 30, 3 << 30] {
        let mut it = visit("first", [1_000, 2_000], 0);
        it.next[0] = it.next[0].wrapping_add(jump);
        it.say(Client, &get("second"));
        it.say(ServerSide, OK);
        let bytes = if jump < 1 << 31 { u64::from(jump) } else { 0 };
        let gap = EventKind::Gap { from: Client, bytes };
        assert_eq!(seen(&it.frames), (whole(&["first", "second"]), vec![gap]), "{jump}");
    }
}

#[test]
fn one_wrong_time_spoils_no_other() {
    const NOW: i64 = 1_800_000_000_000_000_000;
    for wrong in [0, i64::MIN, i64::MAX, NOW + (1 << 62), NOW + 10 * 3_600_000_000_000] {
        for at in 0..12 {
            let mut it = Conversation::open(&web(), 50_000, NOW);
            for page in ["a", "b", "c", "d"] {
                it.say(Client, &get(page));
                it.say(ServerSide, OK);
            }
            let true_times = dissect(&[web()], &it.frames);
            it.frames[at].0 = wrong;
            let results = crate::support::dissect_as_captured(&[web()], &it.frames);
            assert_eq!(results.labels(), true_times.labels(), "{wrong} at {at}");
            assert_eq!(results.events, [], "{wrong} at {at}");
            let untouched = &results.visits[3];
            assert_eq!(untouched, &true_times.visits[3], "{wrong} at {at}");
            for visit in &results.visits {
                let told = visit.departure_ns.is_none_or(|end| end >= visit.arrival_ns);
                assert!(told && visit.arrival_ns <= visit.request_end_ns, "{visit:?}");
            }
        }
    }
}
