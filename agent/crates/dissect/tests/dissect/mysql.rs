//! The MySQL and MariaDB protocol.

use crate::mysql_bytes::{
    BASIC, DEPRECATE_EOF, MORE_RESULTS, command, error, execute, greeting, login, ok, packet,
    packets, prepared, query, result_set,
};
use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

pub fn db() -> Server {
    server("db.1", Protocol::Mysql, 4, false)
}

pub fn results(conversation: &Conversation) -> Results {
    dissect(&[db()], &conversation.frames)
}

/// A connection that is logged in, with or without CLIENT_DEPRECATE_EOF.
pub fn logged_in(deprecate_eof: bool) -> Conversation {
    let capabilities = BASIC | if deprecate_eof { DEPRECATE_EOF } else { 0 };
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", !(1 << 5 | 1 << 26)));
    it.say(Client, &login(capabilities));
    it.say(ServerSide, &packet(2, &ok(0, 2)));
    it
}

pub fn answered(results: &Results) -> bool {
    results.visits.iter().all(|visit| visit.departure_ns.is_some())
}

#[test]
fn a_query_is_a_visit() {
    for deprecate_eof in [false, true] {
        let mut it = logged_in(deprecate_eof);
        let asked = query("/*rid=00ff*/SELECT id FROM stories WHERE id = 17 AND t = 'x'");
        let (first, last) = it.say_in(Client, 25, &asked);
        let reply = packets(1, &result_set(300, b"\x0217\x01x", deprecate_eof, 2));
        let (start, end) = it.say_in(ServerSide, 7, &reply);
        let results = results(&it);
        assert_eq!(results.labels(), ["LOGIN", "SELECT id FROM stories WHERE id = ? AND t = ?"]);
        let visit = &results.visits[1];
        assert_eq!((visit.arrival_ns, visit.request_end_ns), (first, last));
        assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
        assert_eq!(visit.bytes, (asked.len() as i64, reply.len() as i64));
        assert_eq!((visit.status, visit.id_hash), (Some(0), Some(salt().hash(b"00ff"))));
        assert_eq!(visit.literals, [salt().hash(b"17"), salt().hash(b"x")]);
    }
}

#[test]
fn logins_may_take_several_turns() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
    let asked = it.say(Client, &login(BASIC));
    it.say(ServerSide, &packet(2, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0"));
    it.say(Client, &packet(3, b"aaaaaaaaaaaaaaaaaaaa"));
    it.say(ServerSide, &packet(4, b"\x01\x03"));
    let end = it.say(ServerSide, &packet(5, &ok(0, 2)));
    it.say(Client, &command(0x0e, b""));
    it.say(ServerSide, &packet(1, &ok(0, 2)));
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "PING"]);
    assert_eq!(results.visits[0].arrival_ns, asked);
    assert_eq!(results.visits[0].departure_ns, Some(end));
    assert!(answered(&results));
}

/// Neither the server's SYN nor its greeting was captured: where its stream began nobody knows.
#[test]
fn an_answer_to_a_login_is_no_refusal_where_the_greeting_was_lost() {
    let mut it = Conversation::silent(&db(), 50_000, 0);
    it.syn();
    it.next[1] = it.next[1].wrapping_add(1);
    it.lose(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
    it.say(Client, &login(BASIC));
    let end = it.say(ServerSide, &packet(2, &ok(0, 2)));
    let results = results(&it);
    assert_eq!(results.kinds(ServerSide), ["reply"]);
    assert_eq!(results.visits[0].departure_ns, Some(end));
}

/// One lost packet kept the connection in its login, and all that followed from being seen.
#[test]
fn a_login_whose_answer_was_lost_is_over_with_the_first_command() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
    it.say(Client, &login(BASIC));
    it.lose(ServerSide, &packet(2, &ok(0, 2)));
    let mut ends = vec![None];
    for _ in 0..3 {
        it.say(Client, &query("SELECT 1"));
        ends.push(Some(it.say(ServerSide, &packets(1, &result_set(1, b"\x011", false, 2)))));
    }
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "SELECT ?", "SELECT ?", "SELECT ?"]);
    let seen: Vec<_> = results.visits.iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(seen, ends);
}

#[test]
fn a_refused_login_has_its_code() {
    let mut it = Conversation::open(&db(), 50_000, 0);
    it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
    it.say(Client, &login(BASIC));
    it.say(ServerSide, &packet(2, &error(1045)));
    assert_eq!(results(&it).visits[0].status, Some(1045));
}

#[test]
fn errors_have_their_code_and_progress_is_none() {
    let mut it = logged_in(true);
    it.say(Client, &query("SELECT * FORM t"));
    it.say(ServerSide, &packet(1, &error(1064)));
    it.say(Client, &query("ALTER TABLE t FORCE"));
    let start = it.say(ServerSide, &packet(1, b"\xff\xff\xff\x01\x01\x02\0\0\0\x04copy"));
    let end = it.say(ServerSide, &packet(2, &ok(0, 2)));
    let results = results(&it);
    assert_eq!(results.visits[1].status, Some(1064));
    let visit = &results.visits[2];
    assert_eq!((visit.status, visit.reply_start_ns), (Some(0), Some(start)));
    assert_eq!(visit.departure_ns, Some(end));
}

#[test]
fn several_results_are_one_reply() {
    for deprecate_eof in [false, true] {
        let mut it = logged_in(deprecate_eof);
        it.say(Client, &query("CALL p()"));
        let mut reply = result_set(2, b"\x011\x012", deprecate_eof, MORE_RESULTS);
        reply.extend(result_set(0, b"", deprecate_eof, MORE_RESULTS));
        reply.push(ok(0, 2));
        let (_, end) = it.say_in(ServerSide, 30, &packets(1, &reply));
        let results = results(&it);
        assert_eq!(results.visits[1].departure_ns, Some(end));
    }
}

#[test]
fn a_local_file_belongs_to_its_request() {
    let mut it = logged_in(true);
    it.say(Client, &query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"));
    it.say(ServerSide, &packet(1, b"\xfbf"));
    // More packets than there are sequence numbers.
    for sequence in 0..300u16 {
        it.say(Client, &packet((sequence + 2) as u8, b"1\ta\n"));
    }
    let sent = it.say(Client, &packet(46, b""));
    let start = it.say(ServerSide, &packet(47, &ok(0, 2)));
    it.say(Client, &command(0x0e, b""));
    it.say(ServerSide, &packet(1, &ok(0, 2)));
    let results = results(&it);
    let visit = &results.visits[1];
    assert_eq!((visit.request_end_ns, visit.reply_start_ns), (sent, Some(start)));
    assert_eq!(visit.departure_ns, Some(start));
    assert_eq!(results.labels()[2], "PING");
    assert!(answered(&results));
}

#[test]
fn definitions_that_the_client_knows_may_be_left_out() {
    let mut it = logged_in(true);
    it.say(Client, &query("SELECT 1, 2"));
    let reply = [vec![2, 0], b"\x011\x012".to_vec(), ok(0xfe, 2)];
    let end = it.say(ServerSide, &packets(1, &reply));
    assert_eq!(results(&it).visits[1].departure_ns, Some(end));
}

#[test]
fn rows_of_16_mib_are_no_ends() {
    let mut it = logged_in(true);
    it.say(Client, &query("SELECT body FROM t"));
    let mut row = vec![0xfe, 0, 0, 0, 1, 0, 0, 0, 0];
    row.resize((1 << 24) + 9, b'x');
    let mut reply = packets(1, &[vec![1], crate::mysql_bytes::definition()]);
    reply.extend(packet(3, &row));
    reply.extend(packet(5, &ok(0xfe, 2)));
    let (start, end) = it.say_in(ServerSide, 60_000, &reply);
    let results = results(&it);
    let visit = &results.visits[1];
    assert_eq!((visit.reply_start_ns, visit.departure_ns), (Some(start), Some(end)));
    assert_eq!(visit.bytes.1, reply.len() as i64);
}

#[test]
fn commands_may_be_sent_ahead() {
    let mut it = logged_in(true);
    let asked = [query("SELECT 1"), command(0x0e, b""), query("SELECT 2, 3")].concat();
    it.say(Client, &asked);
    let reply = packets(1, &result_set(1, b"\x011\x012", true, 2));
    it.say(ServerSide, &[reply.clone(), packet(1, &ok(0, 2)), reply].concat());
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "SELECT ?", "PING", "SELECT ?, ?"]);
    assert!(answered(&results));
}

#[test]
fn what_is_encrypted_or_compressed_is_named_and_read_in_turns() {
    let mut tls = Conversation::open(&db(), 50_000, 0);
    tls.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", u32::MAX));
    let mut wish = vec![0; 32];
    wish[1] = 0x08;
    let first = tls.say(Client, &packet(1, &wish));
    tls.say(Client, b"\x16\x03\x01 and so on");
    let mut ends = vec![Some(tls.say(ServerSide, b"\x16\x03\x03 and so on"))];
    tls.say(Client, b"\x17\x03\x03\0\x05hello");
    ends.push(Some(tls.say(ServerSide, b"\x17\x03\x03\0\x05world")));
    tls.fin(ServerSide);
    let seen = results(&tls);
    assert_eq!(seen.happened(), [EventKind::Opaque { reason: "tls" }]);
    assert_eq!((seen.labels(), seen.visits[0].arrival_ns), (vec!["tls"; 2], first));
    assert_eq!(seen.visits.iter().map(|it| it.departure_ns).collect::<Vec<_>>(), ends);

    let mut compressed = Conversation::open(&db(), 50_000, 0);
    compressed.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", u32::MAX));
    compressed.say(Client, &login(BASIC | 1 << 5));
    compressed.say(ServerSide, &packet(2, &ok(0, 2)));
    let asked = compressed.say(Client, b"\x0d\0\0\0\0\0\0\x09\0\0\0\x03SELECT 1");
    let end = compressed.say(ServerSide, b"\x07\0\0\0\0\0\0\x03\0\0\x01\0\0\0");
    compressed.fin(ServerSide);
    let seen = results(&compressed);
    assert_eq!(seen.happened(), [EventKind::Opaque { reason: "compression" }]);
    assert_eq!(seen.labels(), ["LOGIN", "compression"]);
    assert_eq!((seen.visits[1].arrival_ns, seen.visits[1].departure_ns), (asked, Some(end)));
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    for deprecate_eof in [false, true] {
        let mut it = Conversation::silent(&db(), 50_000, 0);
        it.say(ServerSide, b"the rest of some rows");
        for _ in 0..2 {
            it.say(Client, &command(0x16, b"SELECT a, b FROM t WHERE id = ?"));
            it.say(ServerSide, &packets(1, &prepared(1, 2, deprecate_eof)));
            it.say(Client, &query("SELECT a, b FROM t"));
            it.say(ServerSide, &packets(1, &result_set(3, b"\x011\x012", deprecate_eof, 2)));
        }
        let results = results(&it);
        assert_eq!(results.visits.len(), 4, "{deprecate_eof}");
        assert!(answered(&results), "{deprecate_eof}");
    }
}

#[test]
fn a_loss_within_a_row_costs_nothing() {
    let mut it = logged_in(true);
    it.say(Client, &query("SELECT body FROM t"));
    let row = [&[0xfd, 0x40, 0x9c, 0][..], &[b'x'; 40_000]].concat();
    let reply = packets(1, &result_set(3, &row, true, 2));
    it.send(ServerSide, &reply[..50_000]);
    it.lose(ServerSide, &reply[50_000..60_000]);
    let end = it.say(ServerSide, &reply[60_000..]);
    let results = results(&it);
    assert_eq!(results.visits[1].departure_ns, Some(end));
}

#[test]
fn after_a_loss_between_rows_only_that_reply_has_no_end() {
    let mut it = logged_in(false);
    it.say(Client, &query("SELECT a FROM t"));
    let reply = packets(1, &result_set(500, b"\x011\x012", false, 2));
    it.send(ServerSide, &reply[..200]);
    it.lose(ServerSide, &reply[200..300]);
    it.say(ServerSide, &reply[300..]);
    it.say(Client, &query("SELECT b FROM t"));
    let end = it.say(ServerSide, &reply);
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "SELECT a FROM t", "SELECT b FROM t"]);
    let ends: Vec<_> = results.visits[1..].iter().map(|visit| visit.departure_ns).collect();
    assert_eq!(ends, [None, Some(end)]);
}

#[test]
fn a_statement_that_lost_its_end_has_no_digest() {
    let mut it = logged_in(true);
    let asked = query("/*rid=00ff*/SELECT a FROM t WHERE b = 'and so on'");
    it.send(Client, &asked[..30]);
    it.lose(Client, &asked[30..]);
    it.say(ServerSide, &packet(1, &error(1064)));
    let results = results(&it);
    assert_eq!(results.labels(), ["LOGIN", "(incomplete)"]);
    assert_eq!(results.visits[1].id_hash, Some(salt().hash(b"00ff")));
    assert!(answered(&results));
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = logged_in(true);
    it.say(Client, &query("/*rid=1*/SELECT a FROM t WHERE b IN (1, 'x')"));
    it.say_in(ServerSide, 30, &packets(1, &result_set(5, b"\x011\x012", true, MORE_RESULTS)));
    it.say(ServerSide, &packet(11, &ok(0, 2)));
    it.say(Client, &command(0x16, b"SELECT a, b FROM t WHERE id = ?"));
    it.say(ServerSide, &packets(1, &prepared(1, 2, true)));
    it.say(Client, &execute(17, false));
    it.say(ServerSide, &packets(1, &result_set(3, b"\0\0\x01a", true, 2)));
    it.say(Client, &query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"));
    it.say(ServerSide, &packet(1, b"\xfbf"));
    it.say(Client, &packet(2, b"1\ta\n"));
    it.say(Client, &packet(3, b""));
    it.say(ServerSide, &packet(4, &error(1064)));
    it.frames
}
