//! PostgreSQL's extended queries: steps, pipelines, portals.

use crate::postgresql::{UNDEFINED_TABLE, ends, logged_in_conversation, results};
use crate::postgresql_bytes::*;
use crate::support::salt;
use tierlab_dissect::Side::{Client, Server as ServerSide};

fn answer(tag: &str) -> Vec<u8> {
    [PARSED, BOUND, &columns(), &row(b"1"), &complete(tag)].concat()
}

#[test]
fn an_execute_is_a_visit_with_what_comes_before_it() {
    let mut it = logged_in_conversation();
    let asked = extended("/*rid=00ff*/SELECT a FROM t WHERE id = $1 LIMIT 10", &["17"]);
    let (first, last) = it.say_in(Client, 20, &asked);
    let reply = [answer("SELECT 1"), ready(b'I')].concat();
    let (start, end) = it.say_in(ServerSide, 11, &reply);
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t WHERE id = ? LIMIT ?"]);
    let visit = &results.visits[1];
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.bytes, (asked.len() as i64, reply.len() as i64));
    assert_eq!((visit.status, visit.id_hash), (Some(0), Some(salt().hash(b"00ff"))));
    assert_eq!(visit.literals, [salt().hash(b"17"), salt().hash(b"10")]);
}

#[test]
fn a_named_statement_is_executed_again_and_again() {
    let mut it = logged_in_conversation();
    let prepared = parse("s", "/*rid=00ff*/SELECT a FROM t WHERE id = $1");
    it.say(Client, &[prepared, describe(b'S', "s"), sync()].concat());
    let parsed = it.say(ServerSide, &[PARSED, PARAMETERS, &columns(), &ready(b'I')].concat());
    let mut expected = vec![Some(parsed)];
    for value in ["17", "18"] {
        it.say(Client, &[bind("", "s", &[value]), execute(""), sync()].concat());
        let reply = [BOUND, &row(b"1"), &complete("SELECT 1"), &ready(b'I')].concat();
        expected.push(Some(it.say(ServerSide, &reply)));
    }
    it.say(Client, &[close(b'S', "s"), sync()].concat());
    expected.push(Some(it.say(ServerSide, &[CLOSED, &ready(b'I')].concat())));
    it.say(Client, &[bind("", "s", &["19"]), execute(""), sync()].concat());
    let refused = [error("26000", "ERROR"), ready(b'I')].concat();
    expected.push(Some(it.say(ServerSide, &refused)));
    let results = results(&it);
    let digest = "SELECT a FROM t WHERE id = ?";
    let prepare = format!("PREPARE {digest}");
    assert_eq!(results.labels()[1..], [&prepare, digest, digest, "CLOSE", "EXECUTE"]);
    assert_eq!(ends(&results), expected);
    let id = Some(salt().hash(b"00ff"));
    let ids: Vec<_> = results.visits[1..4].iter().map(|visit| visit.id_hash).collect();
    assert_eq!(ids, [id, id, None], "the id is the first execution's");
    assert_eq!(results.visits[3].literals, [salt().hash(b"18")]);
}

#[test]
fn executes_may_be_sent_ahead() {
    let mut it = logged_in_conversation();
    let step = |sql: &str| {
        let asked = extended(sql, &[]);
        asked[..asked.len() - sync().len()].to_vec()
    };
    it.say(Client, &[step("SELECT 1"), step("SELECT a"), extended("SELECT b", &[])].concat());
    it.say(Client, &[step("SELECT c"), sync()].concat());
    let mut expected = Vec::new();
    for tag in ["SELECT 1", "SELECT 2"] {
        expected.push(Some(it.say(ServerSide, &answer(tag))));
    }
    for _ in 0..2 {
        it.say(ServerSide, &answer("SELECT 3"));
        expected.push(Some(it.say(ServerSide, &ready(b'I'))));
    }
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT ?", "SELECT a", "SELECT b", "SELECT c"]);
    assert_eq!(ends(&results), expected);
    assert!(results.visits.iter().all(|visit| visit.status == Some(0)));
}

#[test]
fn after_an_error_the_server_skips_to_the_next_sync() {
    let mut it = logged_in_conversation();
    let steps = |sql: &str| [parse("", sql), bind("", "", &[]), execute("")].concat();
    let pipeline =
        [steps("BEGIN"), steps("SELECT missing"), steps("SELECT a"), steps("SELECT b"), sync()];
    it.say(Client, &pipeline.concat());
    it.say(ServerSide, &[PARSED, BOUND, &complete("BEGIN")].concat());
    let failed = it.say(ServerSide, &error("42P01", "ERROR"));
    let end = it.say(ServerSide, &ready(b'E'));
    it.say(Client, &extended("SELECT c", &[]));
    let refused = it.say(ServerSide, &[error("25P02", "ERROR"), ready(b'E')].concat());
    it.say(Client, &query("ROLLBACK"));
    let rolled_back = it.say(ServerSide, &[complete("ROLLBACK"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..3], ["SELECT missing", "SELECT a"]);
    let expected = [failed, end, end, refused, rolled_back].map(Some);
    assert_eq!(ends(&results), expected);
    let statuses: Vec<_> = results.visits[1..].iter().map(|visit| visit.status).collect();
    assert_eq!(statuses[..3], [Some(UNDEFINED_TABLE); 3]);
    assert!(statuses[3] > Some(0) && statuses[4] == Some(0), "{statuses:?}");
    assert_eq!(results.visits[2].reply_start_ns, None, "nothing was said of it");
}

#[test]
fn a_flush_ends_what_comes_before_an_execute() {
    let mut it = logged_in_conversation();
    let first = it.say(Client, &parse("", "SELECT a FROM t WHERE id = $1"));
    let last = it.say(Client, &[describe(b'S', ""), flush()].concat());
    let (start, end) = it.say_in(ServerSide, 10, &[PARSED, PARAMETERS, &columns()].concat());
    it.say(Client, &[bind("", "", &["7"]), execute(""), sync()].concat());
    let reply = [BOUND, &row(b"1"), &complete("SELECT 1"), &ready(b'I')].concat();
    let executed = it.say(ServerSide, &reply);
    let results = results(&it);
    let visit = &results.visits[1];
    assert_eq!(visit.label, "PREPARE SELECT a FROM t WHERE id = ?");
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(results.visits[2].departure_ns, Some(executed));
}

#[test]
fn a_portal_is_fetched_in_parts() {
    let mut it = logged_in_conversation();
    let asked = [parse("", "SELECT a FROM t"), bind("p", "", &[]), execute("p"), flush()];
    it.say(Client, &asked.concat());
    let part = [&rows(10, b"1")[..], b"s\0\0\0\x04"].concat();
    let mut expected = vec![Some(it.say(ServerSide, &[PARSED, BOUND, &part].concat()))];
    it.say(Client, &[execute("p"), flush()].concat());
    expected.push(Some(it.say(ServerSide, &part)));
    it.say(Client, &[execute("p"), sync()].concat());
    it.say(ServerSide, &complete("SELECT 0"));
    expected.push(Some(it.say(ServerSide, &ready(b'I'))));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t"; 3]);
    assert_eq!(ends(&results), expected);
}

#[test]
fn a_bind_that_lost_its_names_binds_nothing() {
    let mut it = logged_in_conversation();
    it.say(Client, &extended("SELECT a FROM t", &[]));
    it.say(ServerSide, &[answer("SELECT 1"), ready(b'I')].concat());
    let asked = [bind("", "s", &["a long value"]), execute(""), sync()].concat();
    it.send(Client, &asked[..5]);
    it.lose(Client, &asked[5..20]);
    it.say(Client, &asked[20..]);
    let end = it.say(ServerSide, &[BOUND, &complete("SELECT 0"), &ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t", "EXECUTE"]);
    assert_eq!(results.visits[2].departure_ns, Some(end));
}

/// The last bytes of a Describe, with what follows, read as the beginning of a Parse of some megabytes.
#[test]
fn after_a_loss_the_end_of_a_message_begins_none() {
    let mut it = logged_in_conversation();
    let asked = extended("SELECT a FROM t", &[]);
    let middle = asked.len() - 17;
    it.lose(Client, &asked[..middle]);
    it.say(Client, &asked[middle..]);
    it.say(ServerSide, &[answer("SELECT 1"), ready(b'I')].concat());
    it.say(Client, &query("SELECT b FROM t"));
    let end = it.say(ServerSide, &result(1, b"1"));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT b FROM t"]);
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn a_sync_alone_is_a_visit() {
    let mut it = logged_in_conversation();
    it.say(Client, &sync());
    let end = it.say(ServerSide, &ready(b'I'));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SYNC"]);
    assert_eq!(ends(&results), [Some(end)]);
}

/// The server ignores a Sync while it copies in; libpq sends another behind the data.
#[test]
fn an_extended_copy_has_one_end() {
    let mut it = logged_in_conversation();
    it.say(Client, &extended("COPY t FROM STDIN", &[]));
    it.say(ServerSide, &[PARSED, BOUND, NO_DATA, &message(b'G', b"\0\0\x01\0\0")].concat());
    let data = [message(b'd', b"1\n"), message(b'c', b""), sync()].concat();
    let last = it.say(Client, &data);
    let end = it.say(ServerSide, &[complete("COPY 1"), ready(b'I')].concat());
    it.say(Client, &query("SELECT 1"));
    let next = it.say(ServerSide, &result(1, b"1"));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["COPY t FROM STDIN", "SELECT ?"]);
    assert_eq!(results.visits[1].request_end_ns, last);
    assert_eq!(ends(&results), [Some(end), Some(next)]);
}

#[test]
fn after_a_loss_in_a_pipeline_nothing_is_taken_for_anothers_until_it_is_over() {
    let mut it = logged_in_conversation();
    let asked = ["SELECT a", "SELECT b", "SELECT c"].map(|sql| extended(sql, &[]));
    it.say(Client, &asked.concat());
    it.say(ServerSide, &[answer("SELECT 1"), ready(b'I')].concat());
    it.lose(ServerSide, &[answer("SELECT 2"), ready(b'I')].concat());
    it.say(ServerSide, &[answer("SELECT 3"), ready(b'I')].concat());
    it.say(Client, &extended("SELECT d", &[]));
    let end = it.say(ServerSide, &[answer("SELECT 4"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a", "SELECT b", "SELECT c", "SELECT d"]);
    let seen: Vec<_> = ends(&results).iter().map(Option::is_some).collect();
    assert_eq!(seen, [true, false, false, true]);
    assert_eq!(results.visits[4].departure_ns, Some(end));
}
