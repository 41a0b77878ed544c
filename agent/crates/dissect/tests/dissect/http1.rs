//! HTTP/1 (RFC 9110, RFC 9112).

use crate::support::{Conversation, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[web()], &conversation.frames)
}

const GET: &[u8] = b"GET /a/17?q=x&n=3 HTTP/1.1\r\nHost: h\r\nX-Request-Id: 00ff\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn a_request_and_its_reply_are_a_visit() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    let (first, last) = it.say_in(Client, 20, GET);
    let (start, end) = it.say_in(ServerSide, 20, OK);
    let results = results(&it);
    let [visit] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!((visit.label.as_str(), visit.status), ("GET /a/{id}", Some(200)));
    assert_eq!(visit.bytes, (GET.len() as i64, OK.len() as i64));
    assert_eq!(visit.id_hash, Some(salt().hash(b"00ff")));
    assert_eq!(visit.literals, ["17", "x", "3"].map(|it| salt().hash(it.as_bytes())));
    assert_eq!(results.kinds(Client), ["request"]);
    assert_eq!(results.kinds(ServerSide), ["reply"]);
}

#[test]
fn a_connection_is_kept_for_many_requests() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    for _ in 0..5 {
        it.say(Client, GET);
        it.say(ServerSide, OK);
    }
    let results = results(&it);
    assert_eq!(results.visits.len(), 5);
    assert!(results.visits.iter().all(|visit| visit.departure_ns.is_some()));
    assert!(results.visits.iter().all(|visit| visit.connection == 0));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    let asked =
        it.say(Client, &[&b"GET /1x HTTP/1.1\r\n\r\nHEAD /2x HTTP/1.1\r\n\r\n"[..], GET].concat());
    let head = b"HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\n";
    let answered = it.say(ServerSide, &[OK, head, OK].concat());
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /1x", "HEAD /2x", "GET /a/{id}"]);
    let statuses: Vec<_> = results.visits.iter().map(|visit| visit.status).collect();
    assert_eq!(statuses, [Some(200), Some(404), Some(200)]);
    assert!(results.visits.iter().all(|it| it.arrival_ns == asked));
    assert!(results.visits.iter().all(|it| it.departure_ns == Some(answered)));
}

#[test]
fn replies_without_content_end_with_their_head() {
    for status in ["204 No Content", "304 Not Modified"] {
        let mut it = Conversation::open(&web(), 50_000, 0);
        it.say(Client, GET);
        let end = it.say(ServerSide, format!("HTTP/1.1 {status}\r\nETag: x\r\n\r\n").as_bytes());
        assert_eq!(results(&it).visits[0].departure_ns, Some(end), "{status}");
    }
}

#[test]
fn chunks_end_a_reply() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n";
    it.say(ServerSide, head);
    it.say(ServerSide, b"5\r\nhello\r\n");
    let end = it.say(ServerSide, b"0\r\n\r\n");
    it.say(Client, GET);
    let results = results(&it);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    assert_eq!(results.visits[1].departure_ns, None, "open at the capture's end");
}

#[test]
fn a_reply_without_length_ends_with_the_connection() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.say(ServerSide, b"HTTP/1.0 200 OK\r\n\r\nsome");
    let end = it.say(ServerSide, b"thing");
    it.fin(ServerSide);
    it.fin(Client);
    assert_eq!(results(&it).visits[0].departure_ns, Some(end));
}

#[test]
fn an_interim_reply_is_not_the_reply() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(
        Client,
        b"POST /f HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\
        Content-Type: application/x-www-form-urlencoded\r\n\r\n",
    );
    it.say(ServerSide, b"HTTP/1.1 100 Continue\r\n\r\n");
    let asked = it.say(Client, b"a=b+c&d=7");
    let start = it.say(ServerSide, OK);
    let results = results(&it);
    let visit = &results.visits[0];
    assert_eq!((visit.request_end_ns, visit.reply_start_ns), (asked, Some(start)));
    assert_eq!(visit.literals, [salt().hash(b"b c"), salt().hash(b"7")]);
    assert_eq!(results.kinds(ServerSide), ["interim reply", "reply"]);
}

#[test]
fn after_an_upgrade_nothing_is_read() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
    let end = it.say(ServerSide, b"HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello");
    it.say(Client, GET);
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /ws"]);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "upgrade" }]);
}

#[test]
fn a_loss_within_known_lengths_costs_nothing() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let start = it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab");
    it.lose(ServerSide, b"cdef");
    let end = it.say(ServerSide, b"ghij");
    it.say(Client, GET);
    it.say(ServerSide, OK);
    let results = results(&it);
    assert_eq!(results.visits.len(), 2);
    let visit = &results.visits[0];
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(results.happened(), [EventKind::Gap { from: ServerSide, bytes: 4 }]);
}

#[test]
fn a_reply_whose_end_was_lost_has_none() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel";
    let start = it.say(ServerSide, chunked);
    it.lose(ServerSide, b"lo\r\n0\r\n\r\n");
    it.ack(Client);
    it.say(Client, b"GET /next HTTP/1.1\r\n\r\n");
    let end = it.say(ServerSide, OK);
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /a/{id}", "GET /next"]);
    let times: Vec<_> =
        results.visits.iter().map(|it| (it.reply_start_ns, it.departure_ns)).collect();
    assert_eq!(times, [(Some(start), None), (Some(end), Some(end))]);
}

#[test]
fn a_reply_that_was_lost_whole_is_not_taken_from_another() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.lose(ServerSide, OK);
    it.ack(Client);
    it.say(Client, b"GET /next HTTP/1.1\r\n\r\n");
    let end = it.say(ServerSide, OK);
    let results = results(&it);
    let departures: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(results.labels(), ["GET /a/{id}", "GET /next"]);
    assert_eq!(departures, [None, Some(end)]);
}

#[test]
fn a_request_that_was_lost_leaves_no_visit() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.lose(Client, GET);
    it.say(ServerSide, OK);
    it.say(Client, b"GET /next HTTP/1.1\r\n\r\n");
    it.say(ServerSide, OK);
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /next"]);
    assert_eq!(results.kinds(ServerSide), ["reply", "reply"]);
}

#[test]
fn the_reply_to_a_head_that_was_lost_swallows_no_other() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.lose(Client, b"HEAD /page HTTP/1.1\r\n\r\n");
    let head = it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    it.say(Client, GET);
    let end = it.say(ServerSide, OK);
    let results = results(&it);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    let replies: Vec<_> = results.messages.iter().filter(|it| it.1 == "reply").collect();
    assert_eq!(replies.iter().map(|it| it.4).collect::<Vec<_>>(), [head, end]);
}

#[test]
fn what_was_lost_after_an_unseen_head_is_not_its_content() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.lose(Client, b"HEAD /page HTTP/1.1\r\n\r\n");
    it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    it.say(Client, GET);
    it.lose(ServerSide, &[b'x'; 60]);
    it.ack(Client);
    it.say(Client, b"GET /next HTTP/1.1\r\n\r\n");
    let long = [&b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"[..], &[b'y'; 50]].concat();
    let end = it.say(ServerSide, &long);
    let results = results(&it);
    let ends: Vec<_> =
        results.messages.iter().filter(|it| it.1 == "reply").map(|it| it.4).collect();
    assert_eq!(ends, [end]);
}

/// Taken for that of the request before, it would have content, and end somewhere in another reply.
#[test]
fn the_reply_to_a_lost_head_is_not_that_of_a_request_whose_reply_was_lost() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.lose(ServerSide, OK);
    it.ack(Client);
    it.lose(Client, b"HEAD /page HTTP/1.1\r\n\r\n");
    it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    it.say(Client, b"GET /next HTTP/1.1\r\n\r\n");
    it.lose(ServerSide, &[b'x'; 60]);
    it.ack(Client);
    it.say(Client, b"GET /last HTTP/1.1\r\n\r\n");
    let long = [&b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"[..], &[b'y'; 50]].concat();
    let end = it.say(ServerSide, &long);
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /a/{id}", "GET /next", "GET /last"]);
    let departures: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(departures, [None, None, Some(end)]);
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    let mut it = Conversation::silent(&web(), 50_000, 0);
    it.say(ServerSide, b"the end of some reply");
    it.say(Client, GET);
    it.say(ServerSide, OK);
    let results = results(&it);
    assert_eq!(results.labels(), ["GET /a/{id}"]);
    assert!(results.visits[0].departure_ns.is_some());
}

#[test]
fn what_is_encrypted_is_named_and_read_in_turns() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    let first = it.say(Client, b"\x16\x03\x01\x02\0\x01");
    let mut ends = vec![Some(it.say(ServerSide, b"\x16\x03\x03\0\x7a"))];
    it.say(Client, b"\x17\x03\x03\0\x05hello");
    ends.push(Some(it.say(ServerSide, b"\x17\x03\x03\0\x05world")));
    it.fin(ServerSide);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "tls" }]);
    assert_eq!((results.labels(), results.visits[0].arrival_ns), (vec!["tls"; 2], first));
    assert_eq!(results.visits.iter().map(|it| it.departure_ns).collect::<Vec<_>>(), ends);
}

#[test]
fn what_is_http2_is_said_to_be_something_else() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    it.say(ServerSide, b"\0\0\0\x04\0\0\0\0\0");
    it.say(Client, GET);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "http2" }]);
    assert_eq!((results.visits.len(), results.messages.len()), (0, 0));
}

#[test]
fn chunks_that_a_filter_cut_still_tell_the_end() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    it.say(Client, GET);
    it.say(ServerSide, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let chunk = [&b"1ff8\r\n"[..], &[b'x'; 0x1ff8], b"\r\n"].concat();
    for _ in 0..3 {
        it.say(ServerSide, &chunk);
    }
    let end = it.say(ServerSide, b"0\r\n\r\n");
    let whole = results(&it);
    for (_, frame) in &mut it.frames {
        frame.truncate(if frame.len() > 8_000 { 56 } else { frame.len() });
    }
    let cut = results(&it);
    assert_eq!(cut.visits[0].departure_ns, Some(end));
    assert_eq!((cut.visits, cut.messages), (whole.visits, whole.messages));
}

const UPLOAD: &[u8] = b"PUT /up HTTP/1.1\r\nContent-Length: 60\r\nExpect: 100-continue\r\n\r\n";
const AGAIN: &[u8] = b"PUT /up HTTP/1.1\r\nContent-Length: 60\r\n\r\n";
const CONTENT: &[u8; 60] = b"secret words GET /secret HTTP/1.1\r\nHost: secret\r\n\r\nand more.";
const REFUSED: &[u8] = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";

/// curl goes on so on the same connection.
#[test]
fn content_that_was_refused_and_is_sent_again_is_of_the_second_request() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    for _ in 0..3 {
        it.say(Client, UPLOAD);
        it.say(ServerSide, REFUSED);
        it.say(Client, AGAIN);
        it.say(Client, CONTENT);
        it.say(ServerSide, OK);
        it.say(Client, GET);
        it.say(ServerSide, OK);
    }
    let results = results(&it);
    assert_eq!(results.labels(), ["PUT /up", "PUT /up", "GET /a/{id}"].repeat(3));
    let statuses: Vec<_> = results.visits.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [Some(417), Some(200), Some(200)].repeat(3));
    assert!(results.visits.iter().all(|it| it.departure_ns.is_some()));
}

#[test]
fn content_that_is_sent_though_it_was_refused_is_no_request() {
    for content in [&CONTENT[..], &[b"GET /secret HTTP/1.1\r\n", &[b'x'; 38][..]].concat()] {
        let mut it = Conversation::open(&web(), 50_000, 0);
        it.say(Client, UPLOAD);
        it.say(ServerSide, REFUSED);
        it.say(Client, content);
        it.say(Client, GET);
        it.say(ServerSide, OK);
        assert_eq!(results(&it).labels(), ["PUT /up", "GET /a/{id}"]);
    }
}

#[test]
fn content_that_the_server_asks_for_or_the_client_does_not_hold_back_is_content() {
    for asks in [true, false] {
        let mut it = Conversation::open(&web(), 50_000, 0);
        it.say(Client, UPLOAD);
        if asks {
            it.say(ServerSide, b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        it.say(Client, &CONTENT[..13]);
        it.say(Client, &CONTENT[13..]);
        it.say(ServerSide, OK);
        let results = results(&it);
        assert_eq!(results.labels(), ["PUT /up"]);
        assert_eq!(results.visits[0].bytes.0 as usize, UPLOAD.len() + CONTENT.len());
    }
}

#[test]
fn heads_are_read_as_browsers_servers_and_proxies_read_them() {
    let many = "X-Field: y\r\n".repeat(150);
    for fields in [
        "X: a\r\n b\r\n\tc",
        "X : y",
        "no colon",
        "Transfer-Encoding: identity",
        "Content-Length: 5",
        many.trim_end(),
    ] {
        let mut it = Conversation::open(&web(), 50_000, 0);
        for path in ["/a", "/b c", "/k\u{e4}se"] {
            it.say(
                Client,
                format!("GET {path} HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n").as_bytes(),
            );
            let reply = format!("HTTP/1.1 200 OK\r\n{fields}\r\nContent-Length: 5\r\n\r\nhello");
            it.say(ServerSide, reply.as_bytes());
        }
        let results = results(&it);
        assert_eq!(results.labels(), ["GET /a", "GET /b?c", "GET /k??se"], "{fields}");
        assert!(results.visits.iter().all(|it| it.departure_ns.is_some()), "{fields}");
    }
}

#[test]
fn what_follows_unclear_lengths_is_not_told() {
    for fields in ["Content-Length: 5, 6", "Content-Length: +5", "Transfer-Encoding: gzip"] {
        let mut it = Conversation::open(&web(), 50_000, 0);
        it.say(Client, format!("POST /a HTTP/1.1\r\n{fields}\r\n\r\n").as_bytes());
        it.say(Client, b"secret GET /secret HTTP/1.1\r\n\r\n");
        it.say(ServerSide, OK);
        it.say(Client, GET);
        it.say(ServerSide, OK);
        assert_eq!(results(&it).labels(), ["POST /a", "GET /a/{id}"], "{fields}");
    }
}

#[test]
fn methods_and_paths_that_may_be_the_end_of_some_content_are_not_told() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    for request in ["POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\n1secretGET /b", "GET secret /c"] {
        it.say(Client, format!("{request} HTTP/1.1\r\n\r\n").as_bytes());
        it.say(ServerSide, &[OK, OK].concat());
    }
    let results = results(&it);
    assert_eq!(results.labels(), ["POST /a", "(unknown method)", "GET (no path)"]);
}
