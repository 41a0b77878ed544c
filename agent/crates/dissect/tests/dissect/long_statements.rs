//! Statements that are longer than what is read of them.

use crate::support::{Conversation, Results};
use crate::{mysql, mysql_bytes, postgresql, postgresql_bytes};
use std::collections::BTreeSet;
use tierlab_dissect::Side::{Client, Server as ServerSide};

const LABEL: &str = "INSERT INTO t (a, b) VALUES (?+)";

/// Statements of 70 KiB of one form, whose first values differ in length.
fn bulk() -> impl Iterator<Item = String> {
    (1..40).map(|length| {
        let mut sql = format!("INSERT INTO t (a, b) VALUES (1, '{}')", "x".repeat(length));
        while sql.len() < 70 << 10 {
            sql.push_str(", (23456, 'it''s a value')");
        }
        sql
    })
}

/// Those of all but the login.
fn labels(results: &Results) -> BTreeSet<&str> {
    let asked = results.labels().into_iter().filter(|label| *label != "LOGIN");
    asked.collect()
}

fn ask(it: &mut Conversation, request: &[u8], reply: &[u8]) {
    it.say_in(Client, 1_400, request);
    it.say(ServerSide, reply);
}

#[test]
fn bulk_inserts_of_one_form_have_one_label_in_mysql() {
    let mut it = mysql::logged_in(true);
    for sql in bulk() {
        let reply = mysql_bytes::packet(1, &mysql_bytes::ok(0, 2));
        ask(&mut it, &mysql_bytes::query(&sql), &reply);
    }
    let results = mysql::results(&it);
    assert_eq!(labels(&results), BTreeSet::from([LABEL]));
    assert!(mysql::answered(&results));
}

#[test]
fn bulk_inserts_of_one_form_have_one_label_in_postgresql() {
    use postgresql_bytes::*;
    let mut it = postgresql::logged_in_conversation();
    for sql in bulk() {
        let (done, ready) = (complete("INSERT 0 9"), ready(b'I'));
        ask(&mut it, &query(&sql), &[&done[..], &ready].concat());
        let reply = [PARSED, BOUND, NO_DATA, &done, &ready].concat();
        ask(&mut it, &extended(&sql, &[]), &reply);
    }
    assert_eq!(labels(&postgresql::results(&it)), BTreeSet::from([LABEL]));
}
