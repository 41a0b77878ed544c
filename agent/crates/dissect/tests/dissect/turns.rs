//! Protocols that cannot be read, in which the two sides take turns.

use crate::support::{Conversation, Results, dissect, server};
use tierlab_dissect::Side::{self, Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

fn other() -> Server {
    server("other.1", Protocol::Tcp, 5, false)
}

fn web() -> Server {
    server("web.1", Protocol::Http1, 1, false)
}

const HELLO: &[u8] = b"\x16\x03\x01\0\x05hello";
const RECORD: &[u8] = b"\x17\x03\x03\0\x05hello";
const ALERT: &[u8] = b"\x15\x03\x03\0\x02\x01\0";

/// A connection with TLS on which one question was answered.
fn encrypted() -> Conversation {
    let mut it = Conversation::open(&web(), 50_000, 0);
    for (from, text) in
        [(Client, HELLO), (ServerSide, HELLO), (Client, RECORD), (ServerSide, RECORD)]
    {
        it.say(from, text);
    }
    it
}

fn departures(results: &Results) -> Vec<Option<i64>> {
    results.visits.iter().map(|it| it.departure_ns).collect()
}

#[test]
fn an_answer_ends_where_nothing_more_of_its_connection_is_seen() {
    let mut it = Conversation::open(&other(), 50_000, 0);
    it.say(Client, b"question");
    let end = it.say(ServerSide, b"answer");
    let results = dissect(&[other()], &it.frames);
    assert_eq!(
        departures(&results),
        [Some(end)],
        "a pool's connection kept its last visit for ever"
    );
}

#[test]
fn a_goodbye_is_no_question_that_nobody_answers() {
    for how in ["fin", "reset"] {
        let mut it = encrypted();
        it.say(Client, ALERT);
        it.fin(Client);
        if how == "fin" {
            it.fin(ServerSide);
        } else {
            it.rst(ServerSide);
        }
        let results = dissect(&[web()], &it.frames);
        assert_eq!(results.labels(), ["tls", "tls"], "{how}");
        assert!(!departures(&results).contains(&None), "{how}");
    }
}

#[test]
fn who_gives_up_waiting_or_is_left_has_asked() {
    let left_by = |first: Side, later: Side, waited_ns: i64| {
        let mut it = encrypted();
        it.say(Client, RECORD);
        it.now_ns += waited_ns;
        if waited_ns > 0 {
            it.say(Client, ALERT);
        }
        it.fin(first);
        it.fin(later);
        departures(&dissect(&[web()], &it.frames))[2..].to_vec()
    };
    assert_eq!(left_by(Client, ServerSide, 3_000_000_000), [None], "it waited for three seconds");
    assert_eq!(left_by(ServerSide, Client, 0), [None], "the server left without an answer");
}
