//! How PostgreSQL's connections begin: logins, encryption, cancellation.

use crate::postgresql::{db, ends, results};
use crate::postgresql_bytes::*;
use crate::support::Conversation;
use tierlab_dissect::EventKind;
use tierlab_dissect::Side::{Client, Server as ServerSide};

#[test]
fn logins_may_take_several_turns() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    let first = it.say(Client, &login());
    it.say(ServerSide, &message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"));
    it.say(Client, &message(b'p', b"SCRAM-SHA-256\0\0\0\0\x03n,,"));
    it.say(ServerSide, &message(b'R', b"\0\0\0\x0br=nonce"));
    let last = it.say(Client, &message(b'p', b"c=biws,r=nonce,p=proof"));
    let (start, end) = it.say_in(ServerSide, 20, &logged_in(b"keys"));
    let results = results(&it);
    let [visit] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((visit.label.as_str(), visit.status), ("LOGIN", Some(0)));
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.literals, [], "no secret leaves, not even as a hash");
}

#[test]
fn a_refused_login_has_its_sqlstate() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(Client, &login());
    let end = it.say(ServerSide, &error("28P01", "FATAL"));
    it.fin(ServerSide);
    let visit = &results(&it).visits[0];
    assert_ne!(visit.status, Some(0));
    assert_eq!(visit.departure_ns, Some(end));
}

#[test]
fn a_refused_wish_for_encryption_changes_nothing() {
    for code in [TLS, GSSAPI] {
        let mut it = Conversation::open(&db(), 50_000, 0);
        it.say(Client, &startup(code, b""));
        it.say(ServerSide, b"N");
        it.say(Client, &login());
        it.say(ServerSide, &logged_in(b"keys"));
        it.say(Client, &query("SELECT 1"));
        it.say(ServerSide, &result(1, b"1"));
        let results = results(&it);
        assert_eq!(results.labels(), ["LOGIN", "SELECT ?"]);
        assert_eq!(results.happened(), []);
    }
}

#[test]
fn what_is_encrypted_is_named_and_read_in_turns() {
    for (code, answer, reason) in [(TLS, b"S", "tls"), (GSSAPI, b"G", "gssapi")] {
        let mut it = Conversation::open(&db(), 50_000, 0);
        it.say(Client, &startup(code, b""));
        it.say(ServerSide, answer);
        let mut ends = Vec::new();
        for _ in 0..3 {
            it.say(Client, b"\x17\x03\x03\0\x05hello");
            ends.push(Some(it.say(ServerSide, b"\x17\x03\x03\0\x05world")));
        }
        it.fin(ServerSide);
        let results = results(&it);
        assert_eq!(results.happened(), [EventKind::Opaque { reason }]);
        assert_eq!(results.labels(), [reason; 3]);
        let seen: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
        assert_eq!(seen, ends);
    }
}

#[test]
fn what_is_not_understood_is_named_and_read_in_turns() {
    for (asked, reason) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "unknown"),
        (b"\x16\x03\x01\0\x05hello", "tls"),
        (b"\0\0\0\x09\0\x02\0\0\0", "unknown"),
    ] {
        let mut it = Conversation::open(&db(), 50_000, 0);
        let arrival = it.say(Client, asked);
        let end = it.say(ServerSide, b"some answer");
        it.fin(ServerSide);
        let results = results(&it);
        assert_eq!(results.happened(), [EventKind::Opaque { reason }]);
        let [visit] = &results.visits[..] else { panic!("{results:?}") };
        assert_eq!((visit.label.as_str(), visit.arrival_ns), (reason, arrival));
        assert_eq!(visit.departure_ns, Some(end));
    }
}

#[test]
fn an_encrypted_connection_is_known_in_its_middle() {
    let mut it = Conversation::silent(&db(), 50_000, 0);
    it.say(Client, b"\x17\x03\x03\0\x05hello");
    let end = it.say(ServerSide, b"\x17\x03\x03\0\x05world");
    it.fin(ServerSide);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "tls" }]);
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn a_cancellation_is_a_message_and_no_visit() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(Client, &startup(CANCEL, b"\0\0\x01\x01keys"));
    it.fin(ServerSide);
    it.fin(Client);
    let results = results(&it);
    assert_eq!(results.kinds(Client), ["CancelRequest"]);
    assert_eq!((results.visits.len(), results.happened()), (0, vec![]));
}
