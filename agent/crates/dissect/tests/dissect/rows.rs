//! Rows that a filter or a snap length cut off.

use crate::mysql::{db, logged_in};
use crate::mysql_bytes::{packet, packets, query, result_set};
use crate::support::{Conversation, Frame, Results, dissect, salt};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Dissector, LinkType};

const HEADERS: usize = 40;

/// What our filter would leave of the server's packets.
fn filtered(frames: &[Frame]) -> Vec<Frame> {
    let server_port = 1004u16.to_be_bytes();
    let cut = |(at_ns, frame): &Frame| {
        let mut frame = frame.clone();
        if frame[20..22] == server_port && frame.len() >= HEADERS + 1_024 {
            frame.truncate(HEADERS + if ends_reply(&frame[HEADERS..]) { 65 } else { 64 });
        }
        (*at_ns, frame)
    };
    frames.iter().map(cut).collect()
}

/// An EOF packet, or the OK packet in its place, behind which no other result follows.
fn ends_reply(bytes: &[u8]) -> bool {
    match bytes {
        [.., 5, 0, 0, _, 0xfe, _, _, status, _] | [.., 7, 0, 0, _, 0xfe, _, _, status, _, _, _] => {
            status & 8 == 0
        }
        _ => false,
    }
}

fn behind_filter(it: &Conversation) -> Results {
    let mut dissector = Dissector::new(vec![db()], salt()).behind_filter();
    let mut results = Results::of(&[db()]);
    for (at_ns, frame) in filtered(&it.frames) {
        dissector.frame(at_ns, LinkType::Raw, &frame, &mut results);
    }
    dissector.finish(&mut results);
    results
}

/// A result as servers end it: with an EOF packet, or an OK packet that counts nothing.
fn rows(count: usize, deprecate_eof: bool) -> Vec<u8> {
    let mut result = result_set(count, &[b'r'; 57], deprecate_eof, 2);
    if deprecate_eof {
        *result.last_mut().expect("has an end") = b"\xfe\0\0\x02\0\0\0".to_vec();
    }
    packets(1, &result)
}

#[test]
fn results_end_where_the_filter_saw_their_end() {
    for deprecate_eof in [false, true] {
        for size in [1_500, 2_000, 16_384, 60_000] {
            let mut it = logged_in(deprecate_eof);
            for count in [300, 10, 400] {
                it.say(Client, &query("SELECT id FROM t"));
                it.say_in(ServerSide, size, &rows(count, deprecate_eof));
            }
            let (whole, seen) = (dissect(&[db()], &it.frames), behind_filter(&it));
            assert_eq!(seen.visits, whole.visits, "in {size}");
            assert_eq!(seen.messages, whole.messages, "in {size}");
        }
    }
}

#[test]
fn a_result_whose_end_is_cut_in_two_ends_with_the_next_command() {
    let reply = rows(300, false);
    for kept_whole in 1..9 {
        let mut it = logged_in(false);
        it.say(Client, &query("SELECT id FROM t"));
        it.send(ServerSide, &reply[..reply.len() - kept_whole]);
        let end = it.send(ServerSide, &reply[reply.len() - kept_whole..]);
        it.say(Client, &query("SELECT 1"));
        it.say(ServerSide, &rows(1, false));
        let seen = behind_filter(&it);
        assert_eq!(seen.visits[1].departure_ns, Some(end));
        assert_eq!(seen.visits[1].bytes.1, reply.len() as i64);
        assert_eq!(seen.visits[2].status, Some(0));
        assert_eq!(seen.events, []);
    }
}

#[test]
fn the_next_reply_does_not_end_one_whose_end_was_cut_off() {
    for deprecate_eof in [false, true] {
        let reply = rows(20, deprecate_eof);
        let end_length = if deprecate_eof { 11 } else { 9 };
        for cut in 1..=end_length {
            let mut it = logged_in(deprecate_eof);
            it.say(Client, &query("SELECT id FROM t"));
            let cut_end = it.send(ServerSide, &reply);
            if let Some((_, frame)) = it.frames.last_mut() {
                frame.truncate(HEADERS + reply.len() - cut);
            }
            it.ack(Client);
            it.say(Client, &query("SELECT 1"));
            let end = it.say(ServerSide, &rows(1, deprecate_eof));
            let seen = dissect(&[db()], &it.frames);
            let ends: Vec<_> = seen.visits[1..].iter().map(|visit| visit.departure_ns).collect();
            assert_eq!(ends, [Some(cut_end), Some(end)], "{cut} bytes cut off");
            assert_eq!(seen.visits[1].bytes.1, reply.len() as i64);
            assert_eq!(seen.events, []);
        }
    }
}

#[test]
fn the_end_of_definitions_that_were_cut_ends_no_result() {
    let reply = rows(0, false);
    let mut it = logged_in(false);
    it.say(Client, &query("SELECT id FROM t"));
    it.send(ServerSide, &reply[..40]);
    if let Some((_, frame)) = it.frames.last_mut() {
        frame.truncate(HEADERS + 30);
    }
    it.send(ServerSide, &reply[40..reply.len() - 9]);
    let end = it.send(ServerSide, &reply[reply.len() - 9..]);
    let visit = &dissect(&[db()], &it.frames).visits[1];
    assert_eq!(visit.departure_ns, Some(end));
    assert_eq!(visit.bytes.1, reply.len() as i64);
}

#[test]
fn a_packet_out_of_number_belongs_to_another_reply() {
    let mut it = logged_in(false);
    let mut without_end = result_set(20, b"row", false, 2);
    without_end.pop();
    let mut end = 0;
    for reply in [packets(1, &without_end), rows(1, false), rows(1, false)] {
        it.say(Client, &query("SELECT id FROM t"));
        end = it.say(ServerSide, &reply);
    }
    let seen = dissect(&[db()], &it.frames);
    let ends: Vec<_> = seen.visits[1..].iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(ends, [None, None, Some(end)]);
}

#[test]
fn the_next_result_of_a_reply_does_not_end_it() {
    let mut first = result_set(100, &[b'r'; 57], false, 2 | 8);
    first.extend(result_set(100, &[b'r'; 57], false, 2));
    let reply = packets(1, &first);
    let mut it = logged_in(false);
    it.say(Client, &query("CALL both()"));
    let (_, end) = it.say_in(ServerSide, reply.len() / 2, &reply);
    assert_eq!(behind_filter(&it).visits[1].departure_ns, Some(end));
}

#[test]
fn segments_out_of_order_tell_the_end_too() {
    let mut it = logged_in(false);
    it.say(Client, &query("SELECT id FROM t"));
    let (_, end) = it.say_in(ServerSide, 4_000, &rows(300, false));
    let last = it.frames.len() - 1;
    let (one, other) = (it.frames[last - 1].0, it.frames[last].0);
    it.frames.swap(last - 1, last);
    (it.frames[last - 1].0, it.frames[last].0) = (one, other);
    assert_eq!(behind_filter(&it).visits[1].departure_ns, Some(end));
}

#[test]
fn a_command_that_was_lost_ends_no_result() {
    let mut it = logged_in(false);
    it.say(Client, &query("SELECT id FROM t"));
    let reply = rows(300, false);
    it.say(ServerSide, &reply[..reply.len() - 4]);
    it.say(ServerSide, &reply[reply.len() - 4..]);
    it.lose(Client, &query("SELECT 1"));
    it.ack(ServerSide);
    it.say(ServerSide, &rows(300, false));
    let seen = behind_filter(&it);
    assert_eq!(seen.visits.len(), 2);
    assert_eq!(seen.visits[1].departure_ns, None);
}

#[test]
fn replies_to_commands_sent_ahead_are_not_guessed() {
    let mut it = logged_in(false);
    it.say(Client, &[query("SELECT id FROM t"), query("SELECT id FROM u")].concat());
    it.say_in(ServerSide, 4_000, &[rows(100, false), rows(100, false)].concat());
    it.say(Client, &query("SELECT 1"));
    let end = it.say(ServerSide, &rows(1, false));
    let seen = behind_filter(&it);
    let ends: Vec<_> = seen.visits[1..].iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(ends, [None, None, Some(end)]);
}

#[test]
fn a_long_row_is_one_message_whatever_its_last_bytes() {
    let mut blob = vec![b'b'; 3_000];
    blob.extend(b"\x05\0\0\x09\xfe\0\0\x02\0");
    let mut it = logged_in(false);
    it.say(Client, &query("SELECT b FROM t"));
    let mut result = result_set(1, &blob, false, 2);
    result.pop();
    it.say(ServerSide, &packets(1, &result[..4]));
    it.say(ServerSide, &packets(5, &result[4..]));
    let end = it.say(ServerSide, &packet(6, b"\xfe\0\0\x02\0"));
    assert_eq!(behind_filter(&it).visits[1].departure_ns, Some(end));
}
