//! FastCGI, with bytes laid out as its specification shows them.

use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

pub fn php() -> Server {
    server("php.1", Protocol::Fastcgi, 7, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[php()], &conversation.frames)
}

const BEGIN: u8 = 1;
const ABORT: u8 = 2;
const END: u8 = 3;
pub const PARAMS: u8 = 4;
pub const STDIN: u8 = 5;
pub const STDOUT: u8 = 6;
const STDERR: u8 = 7;
const GET_VALUES: u8 = 9;
const GET_VALUES_RESULT: u8 = 10;
const UNKNOWN_TYPE: u8 = 11;

/// A record, padded to a multiple of eight.
pub fn record(kind: u8, id: u16, content: &[u8]) -> Vec<u8> {
    let padding = content.len().next_multiple_of(8) - content.len();
    let mut record = vec![1, kind];
    record.extend(id.to_be_bytes());
    record.extend((content.len() as u16).to_be_bytes());
    record.extend([padding as u8, 0]);
    record.extend(content);
    record.resize(record.len() + padding, 0);
    record
}

pub fn begin(id: u16) -> Vec<u8> {
    record(BEGIN, id, &[0, 1, 1, 0, 0, 0, 0, 0])
}

pub fn pairs(params: &[(&str, &str)]) -> Vec<u8> {
    let length = |length: usize| match length {
        0..=127 => vec![length as u8],
        _ => (length as u32 | 1 << 31).to_be_bytes().to_vec(),
    };
    params
        .iter()
        .flat_map(|(name, value)| {
            [
                length(name.len()),
                length(value.len()),
                name.as_bytes().to_vec(),
                value.as_bytes().to_vec(),
            ]
            .concat()
        })
        .collect()
}

fn params(method: &str, target: &str, filling: &str) -> Vec<u8> {
    let query = target.split_once('?').map_or("", |it| it.1);
    pairs(&[
        ("REQUEST_METHOD", method),
        ("HTTP_X_FILLING", filling),
        ("REQUEST_URI", target),
        ("QUERY_STRING", query),
        ("HTTP_X_REQUEST_ID", "00ff"),
        ("CONTENT_TYPE", if method == "POST" { "application/x-www-form-urlencoded" } else { "" }),
    ])
}

/// A whole request with this content.
pub fn post(id: u16, target: &str, content: &[u8]) -> Vec<u8> {
    let records = content.chunks(4_000).map(|it| record(STDIN, id, it));
    let head =
        [begin(id), record(PARAMS, id, &params("POST", target, "")), record(PARAMS, id, &[])];
    head.into_iter().chain(records).chain([record(STDIN, id, &[])]).collect::<Vec<_>>().concat()
}

/// A whole request without content.
pub fn get(id: u16, target: &str, filling: &str) -> Vec<u8> {
    [
        begin(id),
        record(PARAMS, id, &params("GET", target, filling)),
        record(PARAMS, id, b""),
        record(STDIN, id, b""),
    ]
    .concat()
}

/// A whole reply with this much content.
pub fn reply(id: u16, content: usize) -> Vec<u8> {
    let head = "Content-Type: text/html\r\n\r\n";
    let output = [head.as_bytes(), &vec![b'x'; content]].concat();
    [record(STDOUT, id, &output), end(id)].concat()
}

fn end(id: u16) -> Vec<u8> {
    record(END, id, &[0; 8])
}

#[test]
fn a_request_without_content_is_a_visit() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    let asked = get(1, "/rubis/ViewItem.php?itemId=17", "");
    let (first, last) = it.say_in(Client, 50, &asked);
    let output = record(STDOUT, 1, &[b'x'; 8_000]);
    let head = record(STDOUT, 1, b"Status: 404 Not Found\r\n\r\n");
    let answered = [head, output.clone(), output, end(1)].concat();
    let (start, end) = it.say_in(ServerSide, 1_000, &answered);
    let results = results(&it);
    let [visit] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.label, "GET /rubis/ViewItem.php");
    assert_eq!(visit.status, Some(404));
    assert_eq!(visit.bytes, (asked.len() as i64, answered.len() as i64));
    assert_eq!(visit.id_hash, Some(salt().hash(b"00ff")));
    assert_eq!(visit.literals, [salt().hash(b"17")]);
    assert_eq!(results.kinds(Client), ["BEGIN_REQUEST", "PARAMS", "PARAMS", "STDIN"]);
    assert_eq!(results.kinds(ServerSide), ["STDOUT", "STDOUT", "STDOUT", "END_REQUEST"]);
}

#[test]
fn streams_are_split_over_records_anywhere() {
    let long = "v".repeat(300);
    let parameters = params("POST", "/rubis/StoreBid.php?a=1", &long);
    let form = b"bid=7&body=x%21";
    for cut in [1, 17, 40, 60, 100, 330, parameters.len() - 3] {
        let mut it = Conversation::open(&php(), 50_000, 0);
        let (one, other) = parameters.split_at(cut);
        let stream = |kind: u8, parts: [&[u8]; 3]| parts.map(|it| record(kind, 1, it)).concat();
        it.say(Client, &[begin(1), stream(PARAMS, [one, other, b""])].concat());
        let last = it.say(Client, &stream(STDIN, [&form[..5], &form[5..], b""]));
        it.say(ServerSide, &record(STDOUT, 1, b"Sta"));
        it.say(ServerSide, &record(STDERR, 1, b"PHP message: a warning"));
        let end = it.say(ServerSide, &[record(STDOUT, 1, b"tus: 500\r\n\r\nx"), end(1)].concat());
        let results = results(&it);
        let [visit] = &results.visits[..] else { panic!("{cut}: {results:?}") };
        assert_eq!(visit.label, "POST /rubis/StoreBid.php", "{cut}");
        assert_eq!((visit.request_end_ns, visit.departure_ns), (last, Some(end)));
        assert_eq!(visit.status, Some(500));
        assert_eq!(visit.literals, ["1", "7", "x!"].map(|it| salt().hash(it.as_bytes())));
    }
}

#[test]
fn requests_of_one_connection_are_paired_by_their_id() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    let [one, two] = [get(1, "/one", ""), get(2, "/two", "")];
    let first = it.say(Client, &one[..30]);
    let second = it.say(Client, &[&one[30..], &two[..20]].concat());
    it.say(Client, &two[20..]);
    let two_ends = it.say(ServerSide, &[record(STDOUT, 1, b"\r\n"), reply(2, 10)].concat());
    it.say(Client, &get(2, "/three", ""));
    let three_ends = it.say(ServerSide, &reply(2, 10));
    let one_ends = it.say(ServerSide, &reply(1, 10));
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (&it.label[..], it.departure_ns)).collect();
    let expected = [("GET /two", two_ends), ("GET /three", three_ends), ("GET /one", one_ends)];
    assert_eq!(seen, expected.map(|(label, end)| (label, Some(end))));
    assert_eq!((results.visits[2].arrival_ns, results.visits[0].arrival_ns), (first, second));
}

#[test]
fn a_request_may_be_aborted() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &get(1, "/slow", ""));
    it.say(Client, &record(ABORT, 1, b""));
    let end = it.say(ServerSide, &end(1));
    let results = results(&it);
    assert_eq!(results.kinds(Client).last(), Some(&"ABORT_REQUEST"));
    assert_eq!((results.visits[0].status, results.visits[0].departure_ns), (None, Some(end)));
}

#[test]
fn management_records_are_visits_of_their_own() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &record(GET_VALUES, 0, &pairs(&[("FCGI_MAX_CONNS", "")])));
    let told = record(GET_VALUES_RESULT, 0, &pairs(&[("FCGI_MAX_CONNS", "1")]));
    let end = it.say(ServerSide, &told);
    it.say(Client, &record(GET_VALUES, 0, b""));
    let unknown = it.say(ServerSide, &record(UNKNOWN_TYPE, 0, &[9, 0, 0, 0, 0, 0, 0, 0]));
    let results = results(&it);
    assert_eq!(results.labels(), ["GET_VALUES"; 2]);
    let ends: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(ends, [Some(end), Some(unknown)]);
}

#[test]
fn a_script_without_a_uri_has_its_name() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    let parameters = pairs(&[("SCRIPT_NAME", "/ping"), ("REQUEST_METHOD", "GET")]);
    it.say(Client, &[begin(1), record(PARAMS, 1, &parameters), record(PARAMS, 1, b"")].concat());
    it.say(ServerSide, &reply(1, 4));
    assert_eq!(results(&it).labels(), ["GET /ping"]);
}

#[test]
fn a_loss_within_an_output_costs_nothing() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &get(1, "/a", ""));
    let reply = reply(1, 8_000);
    it.send(ServerSide, &reply[..1_000]);
    it.lose(ServerSide, &reply[1_000..7_000]);
    let end = it.say(ServerSide, &reply[7_000..]);
    let visit = &results(&it).visits[0];
    assert_eq!((visit.status, visit.departure_ns), (Some(200), Some(end)));
}

#[test]
fn after_a_loss_the_next_request_is_read() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &get(1, "/a", ""));
    it.lose(ServerSide, &reply(1, 50));
    it.ack(Client);
    it.say(Client, &get(1, "/b", ""));
    let end = it.say(ServerSide, &reply(1, 50));
    let results = results(&it);
    let seen: Vec<_> = results.visits.iter().map(|it| (it.status, it.departure_ns)).collect();
    assert_eq!(seen, [(None, None), (Some(200), Some(end))]);
}

#[test]
fn a_reply_is_not_taken_for_one_that_was_lost_with_its_request() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &get(1, "/a", ""));
    it.lose(ServerSide, &reply(1, 50));
    it.ack(Client);
    it.lose(Client, &get(1, "/b", ""));
    it.ack(ServerSide);
    it.say(ServerSide, &reply(1, 50));
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /a"]);
    assert_eq!(results.visits[0].departure_ns, None);
}

#[test]
fn a_request_that_lost_its_path_has_none() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    let request = get(1, "/a", &"f".repeat(200));
    it.send(Client, &request[..60]);
    it.lose(Client, &request[60..200]);
    it.say(Client, &request[200..]);
    it.say(ServerSide, &reply(1, 5));
    assert_eq!(results(&it).labels(), ["(incomplete)"]);
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    let mut it = Conversation::silent(&php(), 50_000, 0);
    it.say(ServerSide, b"the rest of an output");
    it.say(Client, &get(1, "/a", ""));
    let end = it.say(ServerSide, &reply(1, 50));
    assert_eq!(results(&it).visits[0].departure_ns, Some(end));
}

#[test]
fn what_is_not_fastcgi_is_named_and_read_in_turns() {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, b"GET / HTTP/1.1\r\n\r\n");
    let end = it.say(ServerSide, b"HTTP/1.1 200 OK\r\n\r\n");
    it.fin(ServerSide);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "unknown" }]);
    assert_eq!(results.labels(), ["unknown"]);
    assert_eq!(results.visits[0].departure_ns, Some(end));
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = Conversation::open(&php(), 50_000, 0);
    it.say(Client, &record(GET_VALUES, 0, &pairs(&[("FCGI_MPXS_CONNS", "")])));
    it.say(ServerSide, &record(GET_VALUES_RESULT, 0, &pairs(&[("FCGI_MPXS_CONNS", "1")])));
    let (one, other) = (get(1, "/a?b=c", "filling"), get(2, "/d", &"f".repeat(200)));
    it.say_in(Client, 70, &[&one[..], &other].concat());
    it.say(ServerSide, &record(STDERR, 1, b"a warning"));
    it.say_in(ServerSide, 40, &[reply(2, 100), reply(1, 30)].concat());
    it.say(Client, &[begin(1), record(PARAMS, 1, &params("POST", "/e", ""))].concat());
    it.say(Client, &[record(PARAMS, 1, b""), record(STDIN, 1, b"a=b")].concat());
    it.say(Client, &record(ABORT, 1, b""));
    it.say(ServerSide, &end(1));
    it.frames
}
