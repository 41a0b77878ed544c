//! AJP 1.3, with bytes laid out as its documentation shows them.

use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

pub fn app() -> Server {
    server("app.1", Protocol::Ajp13, 2, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[app()], &conversation.frames)
}

pub fn packet(magic: &[u8], payload: &[u8]) -> Vec<u8> {
    [magic, &(payload.len() as u16).to_be_bytes(), payload].concat()
}

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u16).to_be_bytes()[..], value.as_bytes(), b"\0"].concat()
}

/// FORWARD_REQUEST with a content length, a request id and a query string.
pub fn forward(method: u8, content_length: &str) -> Vec<u8> {
    let mut payload = vec![2, method];
    for value in ["HTTP/1.1", "/rubbos/servlet/StoreComment", "127.0.0.1"] {
        payload.extend(text(value));
    }
    payload.extend([0xff, 0xff]); // no remote host
    payload.extend(text("web"));
    payload.extend([0x1f, 0x90, 0]); // port, no TLS
    payload.extend([0, 3]);
    payload.extend([0xa0, 0x08]); // Content-Length
    payload.extend(text(content_length));
    payload.extend([0xa0, 0x07]); // Content-Type
    payload.extend(text("application/x-www-form-urlencoded"));
    payload.extend(text("X-Request-Id"));
    payload.extend(text("00ff"));
    payload.push(0x0a); // request attribute
    payload.extend(text("AJP_REMOTE_PORT"));
    payload.extend(text("40000"));
    payload.push(0x05); // query string
    payload.extend(text("storyId=17"));
    payload.push(0x0c); // secret
    payload.extend(text("s"));
    payload.push(0xff);
    packet(&[0x12, 0x34], &payload)
}

/// A FORWARD_REQUEST and this content. The web server sends all of it before it is asked.
pub fn post(content: &[u8]) -> Vec<u8> {
    let head = forward(4, &content.len().to_string());
    let body =
        |it: &[u8]| packet(&[0x12, 0x34], &[&(it.len() as u16).to_be_bytes()[..], it].concat());
    let packets = content.chunks(8_000).map(body);
    std::iter::once(head).chain(packets).collect::<Vec<_>>().concat()
}

/// A FORWARD_REQUEST for a path, with a header of this content.
pub fn get(path: &str, filling: &str) -> Vec<u8> {
    let mut payload = vec![2, 2];
    for value in ["HTTP/1.1", path, "127.0.0.1", "client", "web"] {
        payload.extend(text(value));
    }
    payload.extend([0x1f, 0x90, 0, 0, 1]); // port, no TLS, one header
    payload.extend(text("X-Filling"));
    payload.extend(text(filling));
    payload.push(0xff);
    packet(&[0x12, 0x34], &payload)
}

/// A whole reply with this much content.
pub fn reply(content: usize) -> Vec<u8> {
    [headers(200), chunk(content), END.to_vec()].concat()
}

pub fn body(data: &[u8]) -> Vec<u8> {
    packet(&[0x12, 0x34], &[&(data.len() as u16).to_be_bytes(), data].concat())
}

pub fn headers(status: u16) -> Vec<u8> {
    let mut payload = vec![4];
    payload.extend(status.to_be_bytes());
    payload.extend(text("OK"));
    payload.extend([0, 0]);
    packet(b"AB", &payload)
}

fn chunk(size: usize) -> Vec<u8> {
    let length = (size as u16).to_be_bytes();
    packet(b"AB", &[&[3], &length[..], &vec![b'x'; size], b"\0"].concat())
}

pub const END: &[u8] = b"AB\0\x02\x05\x01";
pub const GET_BODY: &[u8] = b"AB\0\x03\x06\x1f\xfa";
const CPING: &[u8] = b"\x12\x34\0\x01\x0a";
const CPONG: &[u8] = b"AB\0\x01\x09";

#[test]
fn a_request_without_body_is_a_visit() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    let (first, last) = it.say_in(Client, 50, &forward(2, "0"));
    let reply = [headers(200), chunk(8_000), chunk(8_000), END.to_vec()].concat();
    let (start, end) = it.say_in(ServerSide, 1_000, &reply);
    let results = results(&it);
    let [visit] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.label, "GET /rubbos/servlet/StoreComment");
    assert_eq!((visit.status, visit.bytes.1), (Some(200), reply.len() as i64));
    assert_eq!(visit.id_hash, Some(salt().hash(b"00ff")));
    assert_eq!(visit.literals, [salt().hash(b"17")]);
    assert_eq!(
        results.kinds(ServerSide),
        ["SEND_HEADERS", "SEND_BODY_CHUNK", "SEND_BODY_CHUNK", "END_RESPONSE"]
    );
}

#[test]
fn a_body_belongs_to_its_request() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(4, "23"));
    it.say(Client, &body(b"subject=a+b&n"));
    it.say(ServerSide, GET_BODY);
    let asked = it.say(Client, &body(b"=7&body=x%21"));
    let start = it.say(ServerSide, &headers(302));
    let end = it.say(ServerSide, END);
    let results = results(&it);
    let visit = &results.visits[0];
    assert_eq!(visit.label, "POST /rubbos/servlet/StoreComment");
    assert_eq!((visit.request_end_ns, visit.reply_start_ns), (asked, Some(start)));
    assert_eq!(visit.departure_ns, Some(end));
    let values = ["17", "a b", "7", "x!"].map(|value| salt().hash(value.as_bytes()));
    assert_eq!(visit.literals, values);
    assert_eq!(results.kinds(Client), ["FORWARD_REQUEST", "BODY", "BODY"]);
}

#[test]
fn a_connection_serves_requests_and_pings_in_turn() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    for _ in 0..3 {
        it.say(Client, CPING);
        it.say(ServerSide, CPONG);
        it.say(Client, &forward(2, "0"));
        it.say(ServerSide, &[headers(200), chunk(10), END.to_vec()].concat());
    }
    let results = results(&it);
    assert_eq!(results.labels(), ["CPING", "GET /rubbos/servlet/StoreComment"].repeat(3));
    assert!(results.visits.iter().all(|visit| visit.departure_ns.is_some()));
}

#[test]
fn a_loss_within_a_chunk_costs_nothing() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(2, "0"));
    let reply = [headers(200), chunk(8_000), END.to_vec()].concat();
    it.send(ServerSide, &reply[..1_000]);
    it.lose(ServerSide, &reply[1_000..7_000]);
    it.say(ServerSide, &reply[7_000..]);
    let results = results(&it);
    assert!(results.visits[0].departure_ns.is_some());
    assert_eq!(results.kinds(ServerSide).last(), Some(&"END_RESPONSE"));
}

#[test]
fn after_a_loss_the_next_request_is_read() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(2, "0"));
    it.lose(ServerSide, &[headers(200), chunk(50), END.to_vec()].concat());
    it.ack(Client);
    it.say(Client, &forward(4, "0"));
    let end = it.say(ServerSide, &[headers(200), END.to_vec()].concat());
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (it.status, it.departure_ns)).collect();
    assert_eq!(seen, [(None, None), (Some(200), Some(end))]);
}

#[test]
fn a_request_that_lost_its_path_has_none() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    let request = forward(2, "0");
    it.send(Client, &request[..12]);
    it.lose(Client, &request[12..60]);
    it.say(Client, &request[60..]);
    it.say(ServerSide, &[headers(200), END.to_vec()].concat());
    assert_eq!(results(&it).labels(), ["(incomplete)"]);
}

#[test]
fn a_request_that_begins_like_a_body_is_a_request() {
    // Type 2 and method 2 read as the length 514, which with its own two bytes is the packet's.
    let mut payload = forward(2, "0").split_off(4);
    payload.pop();
    payload.push(0x06);
    let value = "v".repeat(516 - payload.len() - 4);
    payload.extend(text(&value));
    payload.push(0xff);
    assert_eq!(payload.len(), 516);
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(2, "0"));
    it.say(Client, &packet(&[0x12, 0x34], &payload));
    let end = it.say(ServerSide, &[headers(200), END.to_vec()].concat());
    let results = results(&it);
    let ends: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(ends, [None, Some(end)]);
}

#[test]
fn a_body_that_comes_after_the_reply_is_no_request() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(4, "3074"));
    let end = it.say(ServerSide, &[headers(413), END.to_vec()].concat());
    // Their lengths begin as the types of FORWARD_REQUEST and CPING.
    for length in [0x0200, 0x02ff, 0x0a00, 0x0aff] {
        it.say_in(Client, 1_400, &body(&vec![b'x'; length]));
    }
    it.say(Client, CPING);
    it.say(ServerSide, CPONG);
    let results = results(&it);
    assert_eq!(results.labels(), ["POST /rubbos/servlet/StoreComment", "CPING"]);
    assert_eq!((results.visits[0].status, results.visits[0].departure_ns), (Some(413), Some(end)));
    let expected = ["FORWARD_REQUEST", "BODY", "BODY", "BODY", "BODY", "CPING"];
    assert_eq!(results.kinds(Client), expected);
}

/// Its own length and the first bytes of its data read as a type, a method and all that follows them.
#[test]
fn a_body_that_reads_as_a_request_is_a_body_where_one_is_due() {
    let mut payload = forward(2, "0").split_off(4);
    payload.pop();
    payload.push(0x06);
    payload.extend(text(&"v".repeat(516 - payload.len() - 4)));
    payload.push(0xff);
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(4, "514"));
    it.say(Client, &packet(&[0x12, 0x34], &payload));
    let end = it.say(ServerSide, &reply(3));
    let results = results(&it);
    assert_eq!(results.kinds(Client), ["FORWARD_REQUEST", "BODY"]);
    assert_eq!(results.visits[0].departure_ns, Some(end));
}

#[test]
fn a_request_after_a_loss_is_one_with_its_body_if_it_is_answered() {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.lose(Client, CPING);
    it.lose(ServerSide, CPONG);
    it.say(Client, &forward(4, "600"));
    // The length of its data begins as the type of FORWARD_REQUEST.
    let asked = it.say(Client, &body(&[b'x'; 600]));
    let end = it.say(ServerSide, &reply(3));
    it.say(Client, CPING);
    it.say(ServerSide, CPONG);
    let results = results(&it);
    assert_eq!(results.labels(), ["POST /rubbos/servlet/StoreComment", "CPING"]);
    let visit = &results.visits[0];
    assert_eq!((visit.request_end_ns, visit.departure_ns), (asked, Some(end)));
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = Conversation::open(&app(), 50_000, 0);
    it.say(Client, &forward(4, "3"));
    it.say(Client, &body(b"a=b"));
    it.say(ServerSide, GET_BODY);
    it.say(Client, &body(b""));
    it.say_in(ServerSide, 40, &[headers(200), chunk(100), END.to_vec()].concat());
    it.say(Client, CPING);
    it.say(ServerSide, CPONG);
    it.frames
}
