//! PostgreSQL's protocol: simple queries, errors, losses.

use crate::postgresql_bytes::*;
use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

pub fn db() -> Server {
    server("db.1", Protocol::Postgresql, 6, false)
}

pub fn results(conversation: &Conversation) -> Results {
    dissect(&[db()], &conversation.frames)
}

/// A connection that is logged in.
pub fn logged_in_conversation() -> Conversation {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(Client, &login());
    it.say(ServerSide, &logged_in(b"keys"));
    it
}

/// When the visits ended, but for the login.
pub fn ends(results: &Results) -> Vec<Option<i64>> {
    let asked = results.visits.iter().filter(|visit| visit.label != "LOGIN");
    asked.map(|visit| visit.departure_ns).collect()
}

/// SQLSTATE 42P01, as PostgreSQL packs it.
pub const UNDEFINED_TABLE: i32 = 16_908_420;

#[test]
fn a_query_is_a_visit() {
    let mut it = logged_in_conversation();
    let asked = query("/*rid=00ff*/SELECT id FROM items WHERE id = 17 AND t = 'x'");
    let (first, last) = it.say_in(Client, 25, &asked);
    let reply = result(300, b"17");
    let (start, end) = it.say_in(ServerSide, 7, &reply);
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "SELECT id FROM items WHERE id = ? AND t = ?"]);
    let visit = &results.visits[1];
    assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.bytes, (asked.len() as i64, reply.len() as i64));
    assert_eq!((visit.status, visit.id_hash), (Some(0), Some(salt().hash(b"00ff"))));
    assert_eq!(visit.literals, [salt().hash(b"17"), salt().hash(b"x")]);
}

#[test]
fn errors_have_their_sqlstate_and_notices_are_none() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT * FROM missing"));
    it.say(ServerSide, &[error("42P01", "ERROR"), ready(b'I')].concat());
    it.say(Client, &query("DO $$BEGIN RAISE NOTICE 'x'; END$$"));
    let start = it.say(ServerSide, &message(b'N', b"SNOTICE\0VNOTICE\0C00000\0Mx\0\0"));
    let end = it.say(ServerSide, &[complete("DO"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.visits[1].status, Some(UNDEFINED_TABLE));
    let visit = &results.visits[2];
    assert_eq!((visit.label.as_str(), visit.status), ("DO ?", Some(0)));
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
}

#[test]
fn several_statements_in_one_query_are_one_visit() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT 1; SELECT a FROM t; VACUUM"));
    let reply = [columns(), row(b"1"), complete("SELECT 1"), columns(), complete("SELECT 0")];
    it.say(ServerSide, &reply.concat());
    let end = it.say(ServerSide, &[error("25001", "ERROR"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT ?; SELECT a FROM t; VACUUM"]);
    assert_ne!(results.visits[1].status, Some(0));
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn what_the_server_says_unasked_begins_no_reply() {
    let mut it = logged_in_conversation();
    let told = message(b'A', b"\0\0\x01\x01channel\0payload\0");
    it.say(ServerSide, &told);
    it.say(Client, &query("SET application_name = 'x'"));
    it.say(ServerSide, &[told, message(b'S', b"application_name\0x\0")].concat());
    let end = it.say(ServerSide, &[complete("SET"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.visits[1].reply_start_ns, Some(end));
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn a_connection_that_the_server_ends_has_said_why() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT pg_sleep(10)"));
    let end = it.say(ServerSide, &error("57P01", "FATAL"));
    it.fin(ServerSide);
    let results = results(&it);
    assert_eq!(ends(&results), [Some(end)]);
    assert_ne!(results.visits[1].status, Some(0));
}

#[test]
fn copies_belong_to_their_request() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("COPY t FROM STDIN"));
    it.say(ServerSide, &message(b'G', b"\0\0\x01\0\0"));
    for _ in 0..3 {
        it.say(Client, &message(b'd', b"1\ta\n"));
    }
    let last = it.say(Client, &message(b'c', b""));
    let start = it.say(ServerSide, &[complete("COPY 3"), ready(b'I')].concat());
    it.say(Client, &query("COPY t TO STDOUT"));
    let out = [message(b'H', b"\0\0\x01\0\0"), message(b'd', b"1\ta\n"), message(b'c', b"")];
    let begun = it.say(ServerSide, &out.concat());
    let end = it.say(ServerSide, &[complete("COPY 1"), ready(b'I')].concat());
    let results = results(&it);
    let [_, copied_in, copied_out] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((copied_in.request_end_ns, copied_in.reply_start_ns), (last, Some(start)));
    assert_eq!(copied_in.departure_ns, Some(start));
    assert_eq!((copied_out.reply_start_ns, copied_out.departure_ns), (Some(begun), Some(end)));
}

#[test]
fn a_function_call_is_a_visit() {
    let mut it = logged_in_conversation();
    it.say(Client, &message(b'F', b"\0\0\x03\xf1\0\0\0\0\0\x01"));
    let end = it.say(ServerSide, &[message(b'V', b"\xff\xff\xff\xff"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["FUNCTION CALL"]);
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    let mut it = Conversation::silent(&db(), 50_000, 0);
    it.say(ServerSide, b"the rest of some rows");
    it.say(Client, &query("SELECT a FROM t"));
    let one = it.say(ServerSide, &result(3, b"1"));
    it.say(Client, &extended("SELECT b FROM t WHERE id = $1", &["7"]));
    let reply = [PARSED, BOUND, &columns(), &complete("SELECT 0"), &ready(b'I')].concat();
    let other = it.say(ServerSide, &reply);
    let results = results(&it);
    assert_eq!(results.labels(), ["SELECT a FROM t", "SELECT b FROM t WHERE id = ?"]);
    assert_eq!(ends(&results), [Some(one), Some(other)]);
}

#[test]
fn a_loss_within_a_row_costs_nothing() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT body FROM t"));
    let reply = result(3, &[b'x'; 40_000]);
    it.send(ServerSide, &reply[..50_000]);
    it.lose(ServerSide, &reply[50_000..60_000]);
    let end = it.say(ServerSide, &reply[60_000..]);
    let results = results(&it);
    assert_eq!(ends(&results), [Some(end)]);
}

#[test]
fn after_a_loss_between_rows_only_that_reply_has_no_end() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT a FROM t"));
    let reply = result(500, b"12");
    it.send(ServerSide, &reply[..203]);
    it.lose(ServerSide, &reply[203..301]);
    it.say(ServerSide, &reply[301..]);
    it.say(Client, &query("SELECT b FROM t"));
    let end = it.say(ServerSide, &reply);
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t", "SELECT b FROM t"]);
    assert_eq!(ends(&results), [None, Some(end)]);
}

#[test]
fn a_reply_that_goes_on_with_a_message_after_a_loss_has_its_end() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT a FROM t"));
    it.send(ServerSide, &columns());
    it.lose(ServerSide, &rows(50, b"12"));
    it.say(ServerSide, &rows(50, b"12"));
    let end = it.say(ServerSide, &[complete("SELECT 100"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(ends(&results), [Some(end)]);
    assert_eq!(results.visits[1].status, None, "an error may have been lost");
}

#[test]
fn a_reply_is_not_taken_for_one_that_was_lost_with_its_request() {
    let mut it = logged_in_conversation();
    it.say(Client, &query("SELECT a FROM t"));
    it.lose(ServerSide, &result(3, b"1"));
    it.ack(Client);
    it.lose(Client, &query("SELECT b FROM t"));
    it.ack(ServerSide);
    it.say(ServerSide, &result(3, b"1"));
    let results = results(&it);
    assert_eq!(results.labels()[1..], ["SELECT a FROM t"]);
    assert_eq!(ends(&results), [None]);
}

#[test]
fn a_statement_that_lost_its_end_has_no_digest() {
    let mut it = logged_in_conversation();
    let asked = query("/*rid=00ff*/SELECT a FROM t WHERE b = 'and so on'");
    it.send(Client, &asked[..30]);
    it.lose(Client, &asked[30..]);
    it.say(ServerSide, &[error("42P01", "ERROR"), ready(b'I')].concat());
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "(incomplete)"]);
    assert_eq!(results.visits[1].id_hash, Some(salt().hash(b"00ff")));
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(Client, &startup(TLS, b""));
    it.say(ServerSide, b"N");
    it.say(Client, &login());
    it.say(ServerSide, &message(b'R', b"\0\0\0\x05salt"));
    it.say(Client, &message(b'p', b"md5\0"));
    it.say(ServerSide, &logged_in(b"keys"));
    it.say(Client, &query("/*rid=1*/SELECT a FROM t WHERE b IN (1, 'x')"));
    it.say_in(ServerSide, 30, &result(5, b"12"));
    it.say(
        Client,
        &[parse("s", "SELECT a FROM t WHERE id = $1"), describe(b'S', "s"), flush()].concat(),
    );
    it.say(ServerSide, &[PARSED, PARAMETERS, &columns()].concat());
    it.say(Client, &[bind("", "s", &["7"]), execute(""), sync()].concat());
    it.say(ServerSide, &[BOUND, &rows(3, b"1"), &complete("SELECT 3"), &ready(b'I')].concat());
    it.say(Client, &[extended("SELECT $1", &["1"]), extended("FAIL", &[])].concat());
    it.say(ServerSide, &[PARSED, BOUND, &columns(), &complete("SELECT 0"), &ready(b'I')].concat());
    it.say(ServerSide, &[error("42601", "ERROR"), ready(b'I')].concat());
    it.say(Client, &query("COPY t FROM STDIN"));
    it.say(ServerSide, &message(b'G', b"\0\0\x01\0\0"));
    it.say(Client, &[message(b'd', b"1\ta\n"), message(b'c', b"")].concat());
    it.say(ServerSide, &[complete("COPY 1"), ready(b'I')].concat());
    it.frames
}
