//! The header of the PROXY protocol before a connection's first message.

use crate::mysql::{answered, db};
use crate::mysql_bytes::{BASIC, greeting, login, ok, packet, query};
use crate::support::{Conversation, Results, dissect, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

/// Both versions', the second with what may follow the addresses.
fn headers() -> [Vec<u8>; 2] {
    let addresses = [192, 0, 2, 7, 192, 0, 2, 1, 0xdc, 4, 1, 0xbb];
    let more = b"\x04\0\x05noise";
    let binary = [b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x14", &addresses[..], more].concat();
    [b"PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n".to_vec(), binary]
}

fn browse(it: &mut Conversation) {
    for _ in 0..2 {
        it.say(Client, GET);
        it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    }
}

fn ask(it: &mut Conversation) {
    it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
    it.say(Client, &login(BASIC));
    it.say(ServerSide, &packet(2, &ok(0, 2)));
    it.say(Client, &query("UPDATE t SET a = 1"));
    it.say(ServerSide, &packet(1, &ok(0, 2)));
}

fn check(seen: &Results, without: &Results) {
    assert_eq!(seen.visits.len(), 2);
    assert!(answered(seen));
    assert_eq!((&seen.visits, &seen.events), (&without.visits, &without.events));
}

#[test]
fn a_header_changes_no_visit_however_it_is_cut() {
    for (server, talk) in [(web(), browse as fn(&mut Conversation)), (db(), ask)] {
        for header in headers() {
            for size in 1..=header.len() {
                let [seen, without] = [true, false].map(|is_said| {
                    let mut it = Conversation::open(&server, 50_000, 0);
                    for part in header.chunks(size) {
                        it.send(Client, if is_said { part } else { &[] });
                    }
                    talk(&mut it);
                    dissect(std::slice::from_ref(&server), &it.frames)
                });
                check(&seen, &without);
            }
        }
    }
}

#[test]
fn a_header_may_share_its_packet_or_come_behind_a_greeting() {
    for header in headers() {
        let [seen, without] = [&header[..], b""].map(|header| {
            let mut it = Conversation::open(&web(), 50_000, 0);
            for begin in [header, b""] {
                it.say(Client, &[begin, GET].concat());
                it.say(ServerSide, b"HTTP/1.1 204 No Content\r\n\r\n");
            }
            dissect(&[web()], &it.frames)
        });
        check(&seen, &without);
        let [seen, without] = [&header[..], b""].map(|header| {
            let mut it = Conversation::open(&db(), 50_000, 0);
            it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
            it.say(Client, &[header, &login(BASIC)].concat());
            it.say(ServerSide, &packet(2, &ok(0, 2)));
            it.say(Client, &query("UPDATE t SET a = 1"));
            it.say(ServerSide, &packet(1, &ok(0, 2)));
            dissect(&[db()], &it.frames)
        });
        check(&seen, &without);
    }
}

/// A request whose first packets are as a header's is no less a request.
#[test]
fn what_only_begins_as_a_header_is_read() {
    let mut it = Conversation::open(&web(), 50_000, 0);
    let first = it.send(Client, b"P");
    it.send(Client, b"ROPFIND /a HTTP/1.1\r\n\r\n");
    it.say(ServerSide, b"HTTP/1.1 204 No Content\r\n\r\n");
    let seen = dissect(&[web()], &it.frames);
    assert_eq!((seen.labels(), seen.visits[0].arrival_ns), (vec!["PROPFIND /a"], first));
    assert!(answered(&seen));
}
