//! Connections whose messages cannot be read, or are none: compressed, encrypted, replicating; from
//! their beginning and from their middle.

use crate::mysql_bytes;
use crate::postgresql::{db, ends, logged_in_conversation, results};
use crate::postgresql_bytes::*;
use crate::support::{Conversation, dissect, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol};

/// Parts of the server's log, and after each the standby's message how far it got.
fn replicate(it: &mut Conversation) {
    for _ in 0..3 {
        it.say(ServerSide, &message(b'd', &[b"w", &[7; 40][..]].concat()));
        it.say(Client, &message(b'd', &[b"r", &[0; 33][..]].concat()));
    }
}

#[test]
fn start_replication_has_a_reply_and_what_follows_is_opaque() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("START_REPLICATION SLOT \"s\" LOGICAL 0/0"));
    let end = it.say(ServerSide, &message(b'W', b"\0\0\0"));
    replicate(&mut it);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "replication" }]);
    assert_eq!(ends(&results), [Some(end)]);
    assert_eq!(results.visits[1].status, Some(0));
}

#[test]
fn replication_is_recognised_from_a_connections_middle() {
    let mut it = Conversation::silent(&db(), 50_000, 0);
    replicate(&mut it);
    let results = results(&it);
    assert_eq!(results.happened(), [EventKind::Opaque { reason: "replication" }]);
    assert_eq!(results.labels(), [""; 0]);
}

#[test]
fn compression_is_recognised_from_a_connections_middle() {
    let database = server("db.1", Protocol::Mysql, 6, false);
    let short = |payload: Vec<u8>| {
        let packet = mysql_bytes::packet(0, &payload);
        [&[packet.len() as u8, 0, 0, 0, 0, 0, 0][..], &packet].concat()
    };
    let compressed = |magic: &[u8]| {
        let length = magic.len() as u8 + 30;
        [&[length, 0, 0, 0, 200, 0, 0][..], magic, &[9; 30]].concat()
    };
    for asked in [
        short([&[3][..], b"SELECT 1"].concat()),
        compressed(&[0x78, 0x9c]),
        compressed(&[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let mut it = Conversation::silent(&database, 50_000, 0);
        for _ in 0..2 {
            it.say(Client, &asked);
            it.say(ServerSide, &compressed(&[0x78, 0x9c]));
        }
        let results = dissect(std::slice::from_ref(&database), &it.frames);
        assert_eq!(results.happened(), [EventKind::Opaque { reason: "compression" }]);
        assert_eq!(results.labels(), ["compression"; 2]);
    }
}

#[test]
fn encryption_is_recognised_from_a_connections_middle() {
    let record = |length: u8| [&[23, 3, 3, 0, length][..], &vec![0x5a; length.into()]].concat();
    for protocol in [
        Protocol::Http1,
        Protocol::Http2,
        Protocol::Mysql,
        Protocol::Postgresql,
        Protocol::Redis,
        Protocol::Memcached,
        Protocol::Ajp13,
        Protocol::Fastcgi,
    ] {
        let server = server("s.1", protocol, 6, false);
        let mut it = Conversation::silent(&server, 50_000, 0);
        // The capture begins within a record.
        it.say(ServerSide, &[0x33; 100]);
        for length in [40, 41] {
            it.say(Client, &record(length));
            it.say(ServerSide, &[record(200), record(90)].concat());
        }
        let results = dissect(&[server], &it.frames);
        assert_eq!(results.happened(), [EventKind::Opaque { reason: "tls" }], "{protocol:?}");
        assert_eq!(results.labels(), ["tls"; 2], "{protocol:?}");
    }
}
