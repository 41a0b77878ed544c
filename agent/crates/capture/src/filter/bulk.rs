//! Which of a server's packets are cut, and where: see [`tierlab_dissect::bulk`].

use super::KEEP;
use super::program::*;
use tierlab_dissect::Protocol;
use tierlab_dissect::bulk::{END, END_LENGTHS, END_STATUS, LAST_ROWS, MORE_RESULTS, ROWS};

/// A smaller payload is kept: cutting it would save nothing.
const LEAST: u32 = 1024;
/// A larger one may be in a packet whose length no header states; what was cut off it would be
/// missed.
const MOST: u32 = 65_000;

/// Of an HTTP chunk its size is kept, of an AJP packet its header and type.
const OF_CHUNK: u32 = 16;
const OF_BODY: u32 = 8;

const CRLF: u32 = 0x0d0a;

/// Scratch memory: where the payload begins, and its length.
const START: u32 = 0;
const LENGTH: u32 = 1;
const DIGITS: u32 = 2;

/// Where packets from a server that speaks this protocol are looked at.
pub(super) fn place(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http1 => "http1",
        Protocol::Ajp13 => "ajp13",
        Protocol::Mysql => "mysql",
        Protocol::Tcp => KEEP,
    }
}

/// Begins with the TCP header's place in X.
pub(super) fn add(program: &mut Program) {
    http_chunk(program);
    ajp_body(program);
    mysql_rows(program);
}

/// Goes on with the payload's place in X if the payload's length is between the bounds.
fn measure(program: &mut Program) {
    program.step(LOAD_BYTE_AT, 12);
    program.step(AND, 0xf0);
    program.step(RIGHT, 2); // the header's length in bytes
    program.step(ADD_X, 0);
    program.step(STORE, START);
    program.step(INDEX_A, 0);
    program.step(LOAD_LENGTH, 0);
    program.step(SUBTRACT_X, 0);
    program.step(STORE, LENGTH);
    program.test(GREATER, MOST, KEEP, NEXT);
    program.test(GREATER, LEAST - 1, NEXT, KEEP);
}

fn keep_of_payload(program: &mut Program, bytes: u32) {
    program.step(LOAD_MEMORY, START);
    program.step(ADD, bytes);
    program.step(RETURN_A, 0);
}

/// One whole chunk: four hexadecimal digits, a line end, as many bytes as they say, a line end.
fn http_chunk(program: &mut Program) {
    program.place("http1");
    measure(program);
    // Four digits at once: the value of each is its lower half, and 9 more for a letter.
    program.step(LOAD_WORD_AT, 0);
    program.step(STORE, DIGITS);
    program.step(RIGHT, 6);
    program.step(AND, 0x0101_0101);
    program.step(TIMES, 9);
    program.step(INDEX_A, 0);
    program.step(LOAD_MEMORY, DIGITS);
    program.step(AND, 0x0f0f_0f0f);
    program.step(ADD_X, 0);
    for (distance, mask) in [(4, 0x00ff_00ff), (8, 0xffff)] {
        program.step(INDEX_A, 0);
        program.step(RIGHT, distance);
        program.step(OR_X, 0);
        program.step(AND, mask);
    }
    program.step(ADD, 4 + 2 + 2);
    program.step(INDEX_MEMORY, LENGTH);
    program.test(EQUAL_X, 0, NEXT, KEEP);
    program.step(INDEX_MEMORY, START);
    program.step(LOAD_HALF_AT, 4);
    program.test(EQUAL, CRLF, NEXT, KEEP);
    program.step(LOAD_LENGTH, 0);
    program.step(SUBTRACT, 2);
    program.step(INDEX_A, 0);
    program.step(LOAD_HALF_AT, 0);
    program.test(EQUAL, CRLF, NEXT, KEEP);
    keep_of_payload(program, OF_CHUNK);
}

/// One whole SEND_BODY_CHUNK: `AB`, a length, the type 3.
fn ajp_body(program: &mut Program) {
    program.place("ajp13");
    measure(program);
    program.step(LOAD_HALF_AT, 0);
    program.test(EQUAL, 0x4142, NEXT, KEEP);
    program.step(LOAD_BYTE_AT, 4);
    program.test(EQUAL, 3, NEXT, KEEP);
    program.step(LOAD_HALF_AT, 2);
    program.step(ADD, 4);
    program.step(INDEX_MEMORY, LENGTH);
    program.test(EQUAL_X, 0, NEXT, KEEP);
    keep_of_payload(program, OF_BODY);
}

/// Anything but the answer to a PREPARE, whose end is told by the definitions in it: such an answer
/// begins with 12 bytes that have sequence number 1 and a zero.
fn mysql_rows(program: &mut Program) {
    program.place("mysql");
    measure(program);
    program.step(LOAD_WORD_AT, 0);
    program.test(EQUAL, 0x0c00_0001, NEXT, "rows");
    program.step(LOAD_BYTE_AT, 4);
    program.test(EQUAL, 0, KEEP, NEXT);
    program.place("rows");
    for (length, otherwise) in END_LENGTHS.into_iter().zip(["other end", "no end"]) {
        program.step(LOAD_LENGTH, 0);
        program.step(SUBTRACT, 4 + u32::from(length));
        program.step(INDEX_A, 0);
        program.step(LOAD_BYTE_AT, 0);
        program.test(EQUAL, length.into(), NEXT, otherwise);
        program.step(LOAD_HALF_AT, 1);
        program.test(EQUAL, 0, NEXT, otherwise);
        program.step(LOAD_BYTE_AT, 4);
        program.test(EQUAL, END.into(), NEXT, otherwise);
        program.step(LOAD_BYTE_AT, END_STATUS as u32);
        program.test(ANY_BIT, MORE_RESULTS.into(), otherwise, "end");
        program.place(otherwise);
    }
    keep_of_payload(program, ROWS);
    program.place("end");
    keep_of_payload(program, LAST_ROWS);
}
