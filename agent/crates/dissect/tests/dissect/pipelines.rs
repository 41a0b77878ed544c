//! PostgreSQL's pipelines: what of them is one visit, and how many statements may wait.

use crate::postgresql::{UNDEFINED_TABLE, ends, logged_in_conversation, results};
use crate::postgresql_bytes::*;
use crate::support::{Seen, salt};
use std::collections::HashMap;
use tierlab_dissect::Side::{Client, Server as ServerSide};

/// A statement without a Sync.
fn step(sql: &str, values: &[&str]) -> Vec<u8> {
    [parse("", sql), bind("", "", values), execute("")].concat()
}

fn done(tag: &str) -> Vec<u8> {
    [PARSED, BOUND, &complete(tag)].concat()
}

/// As pgjdbc sends the first statement of a transaction, with a Close of one that it needs no more.
#[test]
fn what_begins_a_transaction_is_of_its_first_statement() {
    let mut it = logged_in_conversation();
    let asked = [
        step("BEGIN", &[]),
        close(b'S', "S_1"),
        step("SET x = 'y'", &[]),
        step("SAVEPOINT s", &[]),
        step("/*rid=00ff*/SELECT a FROM t WHERE b = $1", &["17"]),
        sync(),
    ]
    .concat();
    let (first, last) = it.say_in(Client, 30, &asked);
    let reply =
        [done("BEGIN"), CLOSED.to_vec(), done("SET"), done("SAVEPOINT"), done("SELECT 0")].concat();
    let start = it.say(ServerSide, &reply);
    let end = it.say(ServerSide, &ready(b'T'));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t WHERE b = ?"]);
    let visit = &results.visits[1];
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    let bytes = (asked.len() as i64, (reply.len() + ready(b'T').len()) as i64);
    assert_eq!((visit.bytes, visit.status), (bytes, Some(0)));
    assert_eq!(visit.id_hash, Some(salt().hash(b"00ff")));
    assert_eq!(visit.literals, [salt().hash(b"y"), salt().hash(b"17")]);
}

/// The server may have answered some of it, or all so far, before the client sends the rest.
#[test]
fn a_batch_is_a_visit() {
    let (next, run) = (bind("", "s", &["7"]), execute(""));
    let row = [&next[..], &run].concat();
    let done = [BOUND, &complete("UPDATE 1")].concat();
    for (answered, is_cut) in [(0, true), (1, false), (20, true), (40, false), (40, true)] {
        let (end, begin) = if is_cut { (&next[..], &run) } else { (&[][..], &row) };
        let mut it = logged_in_conversation();
        it.say(Client, &[parse("s", "UPDATE t SET a = $1"), sync()].concat());
        it.say(ServerSide, &[PARSED, &ready(b'T')].concat());
        let first = it.say(Client, &[&row.repeat(40), end].concat());
        it.say(ServerSide, &done.repeat(answered));
        it.say(Client, &[begin, &row.repeat(4)[..], end].concat());
        it.say(ServerSide, &done.repeat(2));
        it.say(Client, &[begin, &row.repeat(4)[..], &sync()].concat());
        let end = it.say(ServerSide, &[done.repeat(48 - answered), ready(b'T')].concat());
        let results = results(&it);
        let update = "UPDATE t SET a = ?";
        let prepare = format!("PREPARE {update}");
        assert_eq!(results.labels()[1..], [&prepare, update], "{answered} {is_cut}");
        assert_eq!((results.visits[2].arrival_ns, ends(&results)[1]), (first, Some(end)));
    }
}

#[test]
fn the_first_error_is_that_of_a_batch() {
    let mut it = logged_in_conversation();
    let update = step("UPDATE t SET a = $1", &["7"]);
    it.say(Client, &[update.repeat(9), sync()].concat());
    it.say(ServerSide, &[done("UPDATE 1").repeat(3), error("42P01", "ERROR")].concat());
    let failed = it.say(ServerSide, &ready(b'E'));
    it.say(Client, &extended("ROLLBACK", &[]));
    let end = it.say(ServerSide, &[done("ROLLBACK"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["UPDATE t SET a = ?", "ROLLBACK"]);
    assert_eq!(ends(&results), [Some(failed), Some(end)]);
    assert_eq!(results.visits[1].status, Some(UNDEFINED_TABLE));
}

#[test]
fn a_sync_or_a_flush_ends_what_others_would_join() {
    let begun = done("BEGIN");
    for (last, reply) in [(sync(), [&begun[..], &ready(b'T')].concat()), (flush(), begun)] {
        let mut it = logged_in_conversation();
        it.say(Client, &[step("BEGIN", &[]), last, step("SELECT a", &[]), sync()].concat());
        let begun = it.say(ServerSide, &reply);
        let end = it.say(ServerSide, &[done("SELECT 0"), ready(b'T')].concat());
        let results = results(&it);
        assert_eq!(results.labels()[1..], ["BEGIN", "SELECT a"]);
        assert_eq!(ends(&results), [Some(begun), Some(end)]);
    }
}

#[test]
fn what_was_lost_before_a_pipeline_parts_nothing_and_within_it_may_have_been_a_sync() {
    for (before, lost, expected) in [
        (vec![], query("SELECT b"), &["SELECT a"][..]),
        (step("BEGIN", &[]), sync(), &["BEGIN", "SELECT a"]),
    ] {
        let mut it = logged_in_conversation();
        it.say(Client, &before);
        // It does not say that it waits.
        it.say(ServerSide, &message(b'A', b"\0\0\x01\x01channel\0payload\0"));
        it.lose(Client, &lost);
        it.say(Client, &[step("BEGIN", &[]), step("SELECT a", &[]), sync()].concat());
        it.say(ServerSide, &[done("BEGIN"), done("SELECT 0"), ready(b'T')].concat());
        assert_eq!(results(&it).labels()[1..], *expected);
    }
}

/// As sqlx and Postgrex send every statement; with a Flush the reply ends with what completes it.
#[test]
fn a_close_behind_an_execute_belongs_to_it() {
    for (kind, is_synced) in [(b'P', true), (b'S', true), (b'P', false)] {
        let mut it = logged_in_conversation();
        let last = if is_synced { sync() } else { flush() };
        let asked = [step("SELECT a FROM t", &[]), close(kind, ""), last].concat();
        let arrival = it.say(Client, &asked);
        it.say(ServerSide, &done("SELECT 0"));
        let mut end = it.say(ServerSide, CLOSED);
        if is_synced {
            end = it.say(ServerSide, &ready(b'I'));
        }
        it.say(Client, &[close(b'S', "s"), sync()].concat());
        let closed = it.say(ServerSide, &[CLOSED, &ready(b'I')].concat());
        let results = results(&it);
        assert_eq!(results.labels()[1..], ["SELECT a FROM t", "CLOSE"]);
        assert_eq!(ends(&results), [Some(end), Some(closed)]);
        assert_eq!(results.visits[1].arrival_ns, arrival);
    }
}

/// So many different statements, each with its own Sync or all with the last one's; the server begins to
/// answer before the last ones are sent. No visit has another's end. Gives how many have their own.
fn ends_of_a_pipeline(count: usize, each_syncs: bool) -> usize {
    let syncs = |n: usize| each_syncs || n + 1 == count;
    let answer = |n| [done("SELECT 0"), if syncs(n) { ready(b'I') } else { vec![] }].concat();
    let mut it = logged_in_conversation();
    let mut expected = HashMap::new();
    for n in 0..count {
        let asked = step(&format!("SELECT a{n}"), &[]);
        it.send(Client, &[asked, if syncs(n) { sync() } else { vec![] }].concat());
        if n + 100 == count {
            expected.insert("SELECT a0".to_owned(), it.send(ServerSide, &answer(0)));
        }
    }
    for n in 1..count {
        expected.insert(format!("SELECT a{n}"), it.send(ServerSide, &answer(n)));
    }
    it.say(Client, &extended("SELECT b", &[]));
    expected.insert("SELECT b".to_owned(), it.say(ServerSide, &result(0, b"")));
    let visits = &results(&it).visits[1..];
    assert_eq!(visits.len(), count + 1);
    assert_eq!(visits[count].departure_ns, Some(expected["SELECT b"]));
    let ended = visits.iter().filter(|visit| visit.departure_ns.is_some());
    let own = |visit: &&Seen| visit.departure_ns == expected.get(&visit.label).copied();
    assert_eq!(ended.clone().filter(own).count(), ended.clone().count());
    ended.count()
}

#[test]
fn thousands_of_statements_may_wait() {
    for each_syncs in [false, true] {
        assert_eq!(ends_of_a_pipeline(3_000, each_syncs), 3_001);
    }
}

#[test]
fn of_too_many_statements_none_has_anothers_end() {
    for each_syncs in [false, true] {
        assert!(ends_of_a_pipeline(17_000, each_syncs) < 17_000);
    }
}
