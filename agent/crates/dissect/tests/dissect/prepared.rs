//! Prepared statements of MySQL, and the values that they are executed with.

use crate::mysql::{answered, logged_in, results};
use crate::mysql_bytes::{
    CURSOR_EXISTS, command, eof, execute, ok, packet, packets, prepared, result_set,
};
use crate::support::{Conversation, salt};
use tierlab_dissect::Side::{Client, Server as ServerSide};

/// A connection with statement 7 prepared, of so many parameters and one column.
fn with_statement(parameters: u16) -> Conversation {
    let mut it = logged_in(false);
    it.say(Client, &command(0x16, b"SELECT a FROM t WHERE b = ? AND c = ?"));
    it.say(ServerSide, &packets(1, &prepared(parameters, 1, false)));
    it
}

/// The values seen with the execution, which is the third visit.
fn values_of(mut it: Conversation, execution: &[u8]) -> Vec<u64> {
    it.say(Client, execution);
    it.say(ServerSide, &packet(1, &ok(0, 2)));
    let results = results(&it);
    assert_eq!(results.labels()[2], "SELECT a FROM t WHERE b = ? AND c = ?");
    results.visits[2].literals.clone()
}

const FIRST_IS_BLOB_SECOND_IS_INT: &[u8] = &[0, 1, 0xfc, 0, 3, 0];

#[test]
fn values_sent_on_their_own_are_not_looked_for_in_the_execution() {
    let mut it = with_statement(2);
    it.say(Client, &command(0x18, b"\x07\0\0\0\0\0a long text"));
    let mut argument = vec![7, 0, 0, 0, 0, 1, 0, 0, 0];
    argument.extend(FIRST_IS_BLOB_SECOND_IS_INT);
    argument.extend(17u32.to_le_bytes());
    let execution = command(0x17, &argument);
    assert_eq!(values_of(it, &execution), [salt().hash(b"17")]);
}

#[test]
fn values_sent_on_their_own_count_for_one_execution_or_until_a_reset() {
    for again in [command(0x17, &[7, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0]), command(0x1a, &[7, 0, 0, 0])] {
        let mut it = with_statement(2);
        it.say(Client, &command(0x18, b"\x07\0\0\0\0\0a long text"));
        it.say(Client, &again);
        it.say(ServerSide, &packet(1, &ok(0, 2)));
        let mut argument = vec![7, 0, 0, 0, 0, 1, 0, 0, 0];
        argument.extend(FIRST_IS_BLOB_SECOND_IS_INT);
        argument.extend(b"\x05short\x11\0\0\0");
        it.say(Client, &command(0x17, &argument));
        it.say(ServerSide, &packet(1, &ok(0, 2)));
        let values = results(&it).visits[3].literals.clone();
        assert_eq!(values, [salt().hash(b"short"), salt().hash(b"17")]);
    }
}

#[test]
fn attributes_of_an_execution_are_not_its_values() {
    let mut argument = vec![7, 0, 0, 0, 0x08, 1, 0, 0, 0];
    argument.extend([3, 0, 1]); // three values, none of them null, types follow
    argument.extend(b"\x03\0\0\xfd\0\0\xfd\0\x05trace");
    argument.extend(17u32.to_le_bytes());
    argument.extend(b"\x01x\x06secret");
    let execution = command(0x17, &argument);
    let values = values_of(with_statement(2), &execution);
    assert_eq!(values, [salt().hash(b"17"), salt().hash(b"x")]);
}

#[test]
fn of_an_execution_in_bulk_no_values_are_invented() {
    let mut argument = vec![7, 0, 0, 0, 0x80, 0, 3, 0, 3, 0];
    for row in 1..4u32 {
        argument.extend([0]);
        argument.extend(row.to_le_bytes());
        argument.extend([0]);
        argument.extend(row.to_le_bytes());
    }
    let execution = command(0xfa, &argument);
    assert_eq!(values_of(with_statement(2), &execution), []);
}

#[test]
fn a_reset_connection_has_no_statements() {
    let mut it = with_statement(1);
    it.say(Client, &command(0x1f, b""));
    it.say(ServerSide, &packet(1, &ok(0, 2)));
    it.say(Client, &execute(17, false));
    it.say(ServerSide, &packet(1, &ok(0, 2)));
    assert_eq!(results(&it).labels()[3], "EXECUTE");
}

#[test]
fn prepared_statements_are_known_by_their_text() {
    for deprecate_eof in [false, true] {
        let mut it = logged_in(deprecate_eof);
        it.say(Client, &command(0x16, b"SELECT a, b FROM t WHERE id = ?"));
        let (_, prepared_at) =
            it.say_in(ServerSide, 50, &packets(1, &prepared(1, 2, deprecate_eof)));
        it.say(Client, &execute(17, false));
        let rows = packets(1, &result_set(3, b"\0\0\x01a", deprecate_eof, 2));
        let executed_at = it.say(ServerSide, &rows);
        it.say(Client, &command(0x19, &[7, 0, 0, 0]));
        it.say(Client, &command(0x1f, b""));
        it.say(ServerSide, &packet(1, &ok(0, 2)));
        let results = results(&it);
        let statement = "SELECT a, b FROM t WHERE id = ?";
        let preparation = format!("PREPARE {statement}");
        assert_eq!(results.labels(), ["LOGIN", &preparation, statement, "RESET_CONNECTION"]);
        assert_eq!(results.visits[1].departure_ns, Some(prepared_at), "{deprecate_eof}");
        assert_eq!(results.visits[2].departure_ns, Some(executed_at));
        assert_eq!(results.visits[2].literals, [salt().hash(b"17")]);
        assert!(results.kinds(Client).contains(&"COM_STMT_CLOSE"));
    }
}

#[test]
fn a_cursors_rows_come_when_they_are_fetched() {
    let mut it = logged_in(false);
    it.say(Client, &command(0x16, b"SELECT a, b FROM t WHERE id = ?"));
    it.say(ServerSide, &packets(1, &prepared(1, 2, false)));
    it.say(Client, &execute(17, true));
    let mut reply = result_set(0, b"", false, 0);
    reply.pop();
    reply.pop();
    reply.push(eof(CURSOR_EXISTS));
    it.say(ServerSide, &packets(1, &reply));
    it.say(Client, &command(0x1c, &[7, 0, 0, 0, 10, 0, 0, 0]));
    it.say(ServerSide, &packets(1, &[b"\0\0\x01a".to_vec(), eof(0x80)]));
    let results = results(&it);
    assert_eq!(results.labels()[3], "FETCH");
    assert!(answered(&results));
}
