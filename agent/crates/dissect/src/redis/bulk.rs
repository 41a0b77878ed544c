//! What of Redis a capture's filter may cut: one bulk string that is the whole reply, whose length
//! stands before it in four or five digits.

use crate::filter::{Bulk, KEEP, LENGTH, OWN, START, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: None };

/// Of a string its length is kept.
const KEPT: u32 = 16;

const CRLF: u32 = 0x0d0a;

/// A dollar sign, digits, a line end, as many bytes as they say, a line end.
fn cut(program: &mut Program) {
    program.step(LOAD_BYTE_AT, 0);
    program.test(EQUAL, u32::from(b'$'), NEXT, KEEP);
    program.step(LOAD_HALF_AT, 5);
    program.test(EQUAL, CRLF, NEXT, "five digits");
    digits(program, 4);
    keep_if_it_fills(program, 4);
    program.place("five digits");
    program.step(LOAD_HALF_AT, 6);
    program.test(EQUAL, CRLF, NEXT, KEEP);
    digits(program, 5);
    keep_if_it_fills(program, 5);
}

/// The number that so many digits are. What is no digit makes some other number.
fn digits(program: &mut Program, count: u32) {
    program.step(LOAD_BYTE_AT, 1);
    program.step(AND, 0x0f);
    for place in 2..=count {
        program.step(TIMES, 10);
        program.step(STORE, OWN);
        program.step(LOAD_BYTE_AT, place);
        program.step(AND, 0x0f);
        program.step(INDEX_A, 0);
        program.step(LOAD_MEMORY, OWN);
        program.step(ADD_X, 0);
        program.step(STORE, OWN);
        program.step(INDEX_MEMORY, START);
        program.step(LOAD_MEMORY, OWN);
    }
}

/// Ends the program, if a string of that length fills the packet.
fn keep_if_it_fills(program: &mut Program, count: u32) {
    program.step(ADD, 1 + count + 2 + 2);
    program.step(INDEX_MEMORY, LENGTH);
    program.test(EQUAL_X, 0, NEXT, KEEP);
    keep_of_payload(program, KEPT);
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::filter::machine::kept_of;

    #[test]
    fn only_whole_strings_are_cut() {
        let string = |length: usize, more: &[u8]| {
            let head = format!("${length}\r\n");
            [head.as_bytes(), &vec![b'x'; length], b"\r\n", more].concat()
        };
        for length in [1_020, 9_999, 10_000, 64_900] {
            assert_eq!(kept_of(Protocol::Redis, &string(length, b"")), 16, "{length}");
        }
        for whole in [
            string(500, b""),
            string(5_000, b"+OK\r\n"),
            string(5_000, b"")[..4_000].to_vec(),
            [&b"*1\r\n"[..], &string(5_000, b"")].concat(),
            [&b"VALUE a 0 5000\r\n"[..], &[b'x'; 5000]].concat(),
        ] {
            assert_eq!(kept_of(Protocol::Redis, &whole), whole.len());
        }
    }
}
