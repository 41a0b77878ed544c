//! More than 16 MiB of one side went by without being captured, as where a capture's ring overflows,
//! while the other side went on too.

use crate::support::{Conversation, Results, dissect, server};
use tierlab_dissect::Side::{self, Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

const MIB: u32 = 1 << 20;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

fn get(page: &str) -> Vec<u8> {
    format!("GET /{page} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes()
}

/// A download has begun; the rest of it, and so much of each side, is not captured.
fn overflowed(lost: [u32; 2], silence_ns: i64) -> Conversation {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, &get("download"));
    it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\nsome");
    it.next = [0, 1].map(|side| it.next[side].wrapping_add(lost[side]));
    it.now_ns += silence_ns;
    it
}

fn results(it: &Conversation) -> Results {
    dissect(&[web()], &it.frames)
}

fn gaps(results: &Results) -> Vec<(Side, u64)> {
    let of = |it: EventKind| match it {
        EventKind::Gap { from, bytes } => Some((from, bytes)),
        _ => None,
    };
    results.happened().into_iter().filter_map(of).collect()
}

#[test]
fn a_connection_goes_on_after_more_was_lost_than_is_under_way() {
    // Of each side: little and much, and much of both.
    for lost in [[80, 20 * MIB], [3 * MIB, 300 * MIB], [17 * MIB, 20 * MIB], [20 * MIB, 500]] {
        let mut it = overflowed(lost, 200_000_000);
        it.say(Client, &get("next"));
        let end = it.say(ServerSide, OK);
        let results = results(&it);
        let connections: Vec<_> = results.visits.iter().map(|it| it.connection).collect();
        assert_eq!(connections, [0, 0], "{lost:?}: it is one connection");
        let ends: Vec<_> =
            results.visits.iter().map(|it| (it.departure_ns, it.closed_ns)).collect();
        assert_eq!(ends, [(None, None), (Some(end), None)], "{lost:?}");
        let mut gaps = gaps(&results);
        gaps.sort_unstable_by_key(|it| it.1);
        let mut expected = vec![(Client, u64::from(lost[0])), (ServerSide, u64::from(lost[1]))];
        expected.sort_unstable_by_key(|it| it.1);
        assert_eq!(gaps, expected, "{lost:?}");
    }
}

#[test]
fn a_connection_goes_on_if_the_server_is_seen_first_after_the_loss() {
    for lost in [[80, 20 * MIB], [17 * MIB, 20 * MIB]] {
        let mut it = overflowed(lost, 200_000_000);
        it.say(ServerSide, &[b'x'; 1_000]);
        it.say(Client, &get("next"));
        let end = it.say(ServerSide, OK);
        let results = results(&it);
        let ends: Vec<_> = results
            .visits
            .iter()
            .map(|it| (it.connection, it.departure_ns, it.closed_ns))
            .collect();
        assert_eq!(ends, [(0, None, None), (0, Some(end), None)], "{lost:?}");
    }
}

/// The server has not yet acknowledged the client's last bytes as it is seen again.
#[test]
fn an_older_acknowledgment_does_not_make_it_another_connection() {
    let mut it = overflowed([0, 20 * MIB], 1_000_000);
    it.next[0] = it.next[0].wrapping_sub(30);
    it.packet(ServerSide, "A", &[b'x'; 1_000]);
    it.next = [it.next[0].wrapping_add(30), it.next[1].wrapping_add(1_000)];
    it.say(Client, &get("next"));
    it.say(ServerSide, OK);
    let results = results(&it);
    let connections: Vec<_> = results.visits.iter().map(|it| it.connection).collect();
    assert_eq!(connections, [0, 0]);
}

#[test]
fn a_jump_that_may_be_another_connection_is_no_end_that_was_seen() {
    // After so long it may be another; so it may where a side went back.
    for (lost, silence_ns) in [
        ([80, 20 * MIB], 2_000_000_000),
        ([17 * MIB, 20 * MIB], 2_000_000_000),
        ([0_u32.wrapping_sub(20 * MIB), 20 * MIB], 1_000_000),
        ([20 * MIB, 0_u32.wrapping_sub(20 * MIB)], 1_000_000),
    ] {
        let mut it = overflowed(lost, silence_ns);
        it.say(Client, &get("next"));
        let end = it.say(ServerSide, OK);
        let results = results(&it);
        let ends: Vec<_> =
            results.visits.iter().map(|it| (it.departure_ns, it.closed_ns)).collect();
        assert_eq!(ends, [(None, None), (Some(end), None)], "{lost:?}");
        assert_ne!(results.visits[0].connection, results.visits[1].connection, "{lost:?}");
    }
}

#[test]
fn a_handshake_after_the_loss_is_another_connection_and_the_end_of_this() {
    let mut it = overflowed([80, 20 * MIB], 200_000_000);
    it.syn();
    let syn_ns = it.now_ns;
    it.packet(ServerSide, "SA", &[]);
    it.next[1] = it.next[1].wrapping_add(1);
    it.say(Client, &get("next"));
    let end = it.say(ServerSide, OK);
    let results = results(&it);
    let ends: Vec<_> = results.visits.iter().map(|it| (it.departure_ns, it.closed_ns)).collect();
    assert_eq!(ends, [(None, Some(syn_ns)), (Some(end), None)]);
    assert_eq!(gaps(&results), []);
}
