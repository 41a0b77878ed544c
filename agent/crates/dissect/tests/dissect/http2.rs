//! HTTP/2, with frames laid out as RFC 9113 shows them and fields as RFC 7541 does.

use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

pub fn service() -> Server {
    server("service.1", Protocol::Http2, 10, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[service()], &conversation.frames)
}

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const WITH_PRIORITY: u8 = 0x20;
pub const WHOLE: u8 = END_STREAM | END_HEADERS;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A string of less than 16 KiB, as it is.
fn text(text: &str) -> Vec<u8> {
    let length = match text.len() {
        0..=126 => vec![text.len() as u8],
        length => vec![0x7f, (length - 127) as u8 | 0x80, ((length - 127) >> 7) as u8],
    };
    [&length[..], text.as_bytes()].concat()
}

/// Fields that are written out, and not put into the table.
pub fn literals(fields: &[(&str, &str)]) -> Vec<u8> {
    let of = |(name, value): &(&str, &str)| [&[0][..], &text(name), &text(value)].concat();
    fields.iter().flat_map(of).collect()
}

/// The same, put into the table.
pub fn kept(name: &str, value: &str) -> Vec<u8> {
    [&[0x40][..], &text(name), &text(value)].concat()
}

/// The field that was put into the table last, or so many before it.
pub fn known(before_newest: u8) -> Vec<u8> {
    vec![0x80 | (62 + before_newest)]
}

fn fields(method: &str, path: &str, filling: &str) -> Vec<u8> {
    literals(&[(":method", method), (":path", path), ("x-filling", filling)])
}

/// A whole request with this content.
pub fn post(stream: u32, path: &str, content: &[u8]) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &fields("POST", path, ""));
    [head, frame(DATA, END_STREAM, stream, content)].concat()
}

/// A whole request without content.
pub fn get(stream: u32, path: &str, filling: &str) -> Vec<u8> {
    frame(HEADERS, WHOLE, stream, &fields("GET", path, filling))
}

/// A whole reply with this much content.
pub fn reply(stream: u32, content: usize) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, b"\x88");
    [head, frame(DATA, END_STREAM, stream, &vec![b'x'; content])].concat()
}

/// What both sides say first.
pub fn begin(it: &mut Conversation) {
    it.say(Client, &[PREFACE, &frame(SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 0])].concat());
    it.say(ServerSide, &[frame(SETTINGS, 0, 0, b""), frame(SETTINGS, 1, 0, b"")].concat());
    it.say(Client, &frame(SETTINGS, 1, 0, b""));
}

pub fn begun() -> Conversation {
    let mut it = Conversation::open(&service(), 50_000, 0);
    begin(&mut it);
    it
}

#[test]
fn a_request_is_a_visit() {
    for size in [7, 40, 2_000] {
        let mut it = begun();
        let asked = [
            frame(
                HEADERS,
                WHOLE,
                1,
                &literals(&[
                    (":method", "GET"),
                    (":path", "/orders/17?customer=5"),
                    ("x-request-id", "00ff"),
                ]),
            ),
            frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0]),
        ];
        let (first, last) = it.say_in(Client, size, &asked[0]);
        it.say(Client, &asked[1]);
        let answered = reply(1, 8_000);
        let (start, end) = it.say_in(ServerSide, size, &answered);
        let results = results(&it);
        let [visit] = &results.visits[..] else { panic!("{results:?}") };
        assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
        assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
        assert_eq!(visit.label, "GET /orders/{id}");
        assert_eq!(visit.status, Some(200));
        assert_eq!(visit.bytes, (asked[0].len() as i64, answered.len() as i64));
        assert_eq!(visit.id_hash, Some(salt().hash(b"00ff")));
        assert_eq!(visit.literals, [salt().hash(b"17"), salt().hash(b"5")]);
        let expected = ["SETTINGS", "SETTINGS", "HEADERS", "WINDOW_UPDATE"];
        assert_eq!(results.kinds(Client), expected);
        assert_eq!(results.kinds(ServerSide), ["SETTINGS", "SETTINGS", "HEADERS", "DATA"]);
    }
}

#[test]
fn streams_are_paired_by_their_number() {
    let mut it = begun();
    it.say(Client, &[get(1, "/one", ""), get(3, "/two", "")].concat());
    let form = [("content-type", "application/x-www-form-urlencoded"), (":path", "/three")];
    let asked = [literals(&[(":method", "POST")]), literals(&form)].concat();
    it.say(Client, &frame(HEADERS, END_HEADERS, 5, &asked));
    let two = it.say(ServerSide, &reply(3, 10));
    let padded = [&b"\x03a=17&b"[..], b"\0\0\0"].concat();
    it.say(Client, &frame(DATA, PADDED, 5, &padded));
    it.say(ServerSide, &frame(HEADERS, END_HEADERS, 1, b"\x8d"));
    let asked = it.say(Client, &frame(DATA, END_STREAM, 5, b"=x%21"));
    let three = it.say(ServerSide, &reply(5, 10));
    let one = it.say(ServerSide, &frame(DATA, END_STREAM, 1, b""));
    let results = results(&it);
    let seen: Vec<_> =
        results.visits.iter().map(|it| (&it.label[..], it.status, it.departure_ns)).collect();
    let expected = [
        ("GET /two", Some(200), Some(two)),
        ("POST /three", Some(200), Some(three)),
        ("GET /one", Some(404), Some(one)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(results.visits[1].request_end_ns, asked);
    assert_eq!(results.visits[1].literals, ["17", "x!"].map(|it| salt().hash(it.as_bytes())));
}

#[test]
fn fields_are_known_by_number_and_blocks_go_on() {
    let mut it = begun();
    let block = [kept(":path", "/a"), kept(":method", "PATCH"), kept("x-other", "c")].concat();
    let (one, rest) = block.split_at(5);
    let (two, three) = rest.split_at(9);
    let first = [&[0, 0, 0, 0, 16][..], one].concat();
    it.say(Client, &frame(HEADERS, END_STREAM | WITH_PRIORITY, 1, &first));
    it.say(Client, &frame(CONTINUATION, 0, 1, two));
    let asked = it.say(Client, &frame(CONTINUATION, END_HEADERS, 1, three));
    it.say(ServerSide, &reply(1, 1));
    it.say(Client, &frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 16]));
    it.say(Client, &frame(HEADERS, WHOLE, 3, &[known(2), known(1), known(0)].concat()));
    it.say(ServerSide, &reply(3, 1));
    let results = results(&it);
    assert_eq!(results.labels(), ["PATCH /a"; 2]);
    assert_eq!(results.visits[0].request_end_ns, asked);
}

#[test]
fn trailers_end_a_reply_and_tell_grpc_s_status() {
    let call = |path| literals(&[(":method", "POST"), (":path", path)]);
    for (told, expected) in [("0", 200), ("5", 404), ("14", 503), ("99", 200)] {
        let mut it = begun();
        it.say(Client, &frame(HEADERS, END_HEADERS, 1, &call("/shop.Orders/Get")));
        it.say(Client, &frame(DATA, END_STREAM, 1, b"\0\0\0\0\x01a"));
        it.say(ServerSide, &frame(HEADERS, END_HEADERS, 1, b"\x88"));
        it.say(ServerSide, &frame(DATA, 0, 1, b"\0\0\0\0\x01a"));
        let end =
            it.say(ServerSide, &frame(HEADERS, WHOLE, 1, &literals(&[("grpc-status", told)])));
        let visit = &results(&it).visits[0];
        assert_eq!(visit.label, "POST /shop.Orders/Get");
        assert_eq!((visit.status, visit.departure_ns), (Some(expected), Some(end)));
    }
}

#[test]
fn an_interim_reply_and_a_pushed_one_are_none() {
    let mut it = begun();
    it.say(Client, &get(1, "/a", ""));
    it.say(ServerSide, &frame(HEADERS, END_HEADERS, 1, &literals(&[(":status", "103")])));
    let promised = [&2_u32.to_be_bytes()[..], &kept(":path", "/style.css")].concat();
    it.say(ServerSide, &frame(PUSH_PROMISE, END_HEADERS, 1, &promised));
    it.say(ServerSide, &reply(2, 100));
    // The promise's field is in the table, though no request of the client's has it.
    let status = [known(0), kept(":status", "203")].concat();
    let start = it.say(ServerSide, &frame(HEADERS, END_HEADERS, 1, &status));
    let end = it.say(ServerSide, &frame(DATA, END_STREAM, 1, b"x"));
    let results = results(&it);
    let [visit] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((visit.status, visit.reply_start_ns), (Some(203), Some(start)));
    assert_eq!(visit.departure_ns, Some(end));
}

#[test]
fn a_stream_may_be_given_up() {
    let mut it = begun();
    it.say(Client, &[get(1, "/a", ""), get(3, "/b", ""), get(5, "/c", "")].concat());
    it.say(Client, &frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    let end = it.say(ServerSide, &frame(RST_STREAM, 0, 3, &[0, 0, 0, 2]));
    it.say(ServerSide, &frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]));
    it.say(ServerSide, &frame(PING, 0, 0, &[0; 8]));
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (&it.label[..], it.departure_ns)).collect();
    assert_eq!(seen, [("GET /a", None), ("GET /b", Some(end)), ("GET /c", None)]);
}

#[test]
fn a_loss_within_content_costs_nothing() {
    let mut it = begun();
    it.say(Client, &get(1, "/a", ""));
    let reply = reply(1, 8_000);
    it.send(ServerSide, &reply[..1_000]);
    it.lose(ServerSide, &reply[1_000..7_000]);
    let end = it.say(ServerSide, &reply[7_000..]);
    let visit = &results(&it).visits[0];
    assert_eq!((visit.status, visit.departure_ns), (Some(200), Some(end)));
}

#[test]
fn after_a_loss_pairing_goes_on_and_what_is_not_known_has_no_label() {
    let mut it = begun();
    let whole = [kept(":path", "/a"), kept(":method", "GET")].concat();
    it.say(Client, &frame(HEADERS, WHOLE, 1, &whole));
    it.say(ServerSide, &reply(1, 10));
    it.lose(Client, &frame(HEADERS, WHOLE, 3, &kept("x-more", "b")));
    it.say(ServerSide, &reply(3, 10));
    it.say(Client, &frame(HEADERS, WHOLE, 5, &[known(2), known(1)].concat()));
    let five = it.say(ServerSide, &reply(5, 10));
    let again = [kept(":path", "/b"), literals(&[(":method", "GET")])].concat();
    it.say(Client, &frame(HEADERS, WHOLE, 7, &again));
    let seven = it.say(ServerSide, &reply(7, 10));
    it.say(
        Client,
        &frame(HEADERS, WHOLE, 9, &[literals(&[(":method", "GET")]), known(0)].concat()),
    );
    let nine = it.say(ServerSide, &reply(9, 10));
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /a", "(incomplete)", "GET /b", "GET /b"]);
    let ends: Vec<_> = results.visits[1..].iter().map(|it| it.departure_ns).collect();
    assert_eq!(ends, [five, seven, nine].map(Some));
}

#[test]
fn a_request_that_lost_part_of_its_fields_is_read_as_far_as_it_goes() {
    let mut it = begun();
    let request = get(1, "/a", &"f".repeat(300));
    it.send(Client, &request[..100]);
    it.lose(Client, &request[100..200]);
    it.say(Client, &request[200..]);
    let end = it.say(ServerSide, &reply(1, 5));
    let visit = &results(&it).visits[0];
    assert_eq!((&visit.label[..], visit.departure_ns), ("GET /a", Some(end)));
}

#[test]
fn a_reply_whose_end_was_lost_has_none() {
    let mut it = begun();
    it.say(Client, &get(1, "/a", ""));
    it.say(ServerSide, &frame(HEADERS, END_HEADERS, 1, b"\x88"));
    it.lose(ServerSide, &frame(DATA, END_STREAM, 1, b"x"));
    it.ack(Client);
    it.say(Client, &get(3, "/b", ""));
    let end = it.say(ServerSide, &reply(3, 5));
    it.now_ns += 20_000_000_000;
    it.say(Client, &get(5, "/c", ""));
    it.say(Client, &get(7, "/d", ""));
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (&it.label[..], it.departure_ns)).collect();
    assert_eq!(seen[..2], [("GET /b", Some(end)), ("GET /a", None)], "given up as /c came");
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    let mut it = Conversation::silent(&service(), 50_000, 0);
    it.say(ServerSide, b"the rest of some content");
    it.say(Client, &get(1_001, "/a", ""));
    let end = it.say(ServerSide, &reply(1_001, 50));
    let visit = &results(&it).visits[0];
    assert_eq!((&visit.label[..], visit.departure_ns), ("GET /a", Some(end)));
}

#[test]
fn a_trace_is_an_id() {
    let mut it = begun();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let traceparent = format!("00-{trace}-00f067aa0ba902b7-01");
    let both = literals(&[("x-request-id", "00ff"), ("traceparent", &traceparent)]);
    it.say(Client, &frame(HEADERS, WHOLE, 1, &[fields("GET", "/", ""), both].concat()));
    it.say(ServerSide, &reply(1, 5));
    assert_eq!(results(&it).visits[0].id_hash, Some(salt().hash(trace.as_bytes())));
}

#[test]
fn what_is_not_http2_is_named_and_read_in_turns() {
    let client_hello: &[u8] = b"\x16\x03\x01\0\x05hello";
    for (said, reason) in [(client_hello, "tls"), (b"GET / HTTP/1.1\r\n\r\n", "unknown")] {
        let mut it = Conversation::open(&service(), 50_000, 0);
        it.say(Client, said);
        let end = it.say(ServerSide, b"an answer");
        it.fin(ServerSide);
        let results = results(&it);
        assert_eq!(results.happened(), [EventKind::Opaque { reason }]);
        assert_eq!(results.visits[0].departure_ns, Some(end));
    }
}

#[test]
fn a_connection_with_more_streams_than_are_followed_gives_up_the_oldest() {
    let mut it = begun();
    for stream in 0..1_500 {
        it.say(Client, &get(2 * stream + 1, "/a", ""));
    }
    let ends = [2_999, 1].map(|stream| it.say(ServerSide, &reply(stream, 1)));
    let results = results(&it);
    assert_eq!(results.visits.len(), 1_500);
    let ended: Vec<_> = results.visits.iter().filter_map(|it| it.departure_ns).collect();
    assert_eq!(ended, ends[..1], "the first stream is not followed any more");
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = begun();
    let one = [kept(":path", "/a?b=c"), kept(":method", "POST")].concat();
    it.say(Client, &frame(HEADERS, 0, 1, &one));
    let form = literals(&[("content-type", "application/x-www-form-urlencoded")]);
    it.say(Client, &frame(CONTINUATION, END_HEADERS, 1, &form));
    it.say_in(Client, 11, &[frame(DATA, END_STREAM, 1, b"d=e"), get(3, "/f", "filling")].concat());
    it.say_in(ServerSide, 40, &[reply(3, 100), reply(1, 30)].concat());
    it.say(Client, &frame(HEADERS, WHOLE, 5, &[known(1), known(0)].concat()));
    let promised = [&2_u32.to_be_bytes()[..], &kept(":path", "/style.css")].concat();
    it.say(ServerSide, &frame(PUSH_PROMISE, END_HEADERS, 5, &promised));
    it.say(ServerSide, &frame(HEADERS, WHOLE, 5, &literals(&[("grpc-status", "0")])));
    it.say(Client, &get(7, "/g", ""));
    it.say(Client, &frame(RST_STREAM, 0, 7, &[0, 0, 0, 8]));
    it.say(ServerSide, &frame(GOAWAY, 0, 0, &[0, 0, 0, 7, 0, 0, 0, 0]));
    it.frames
}
