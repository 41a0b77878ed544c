//! What of HTTP a capture's filter may cut: one whole chunk, whose size stands before it.

use crate::filter::{Bulk, KEEP, LENGTH, OWN, START, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: None };

/// Of a chunk its size is kept.
const KEPT: u32 = 16;

const CRLF: u32 = 0x0d0a;

/// Four hexadecimal digits, a line end, as many bytes as they say, a line end.
fn cut(program: &mut Program) {
    // Four digits at once: the value of each is its lower half, and 9 more for a letter.
    program.step(LOAD_WORD_AT, 0);
    program.step(STORE, OWN);
    program.step(RIGHT, 6);
    program.step(AND, 0x0101_0101);
    program.step(TIMES, 9);
    program.step(INDEX_A, 0);
    program.step(LOAD_MEMORY, OWN);
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
    keep_of_payload(program, KEPT);
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::filter::machine::kept_of;

    #[test]
    fn only_whole_chunks_are_cut() {
        let chunk = |size: &str, data: usize| {
            [size.as_bytes(), b"\r\n", &vec![b'x'; data], b"\r\n"].concat()
        };
        for size in ["1ff8", "1FF8"] {
            assert_eq!(kept_of(Protocol::Http1, &chunk(size, 0x1ff8)), 16);
        }
        assert_eq!(kept_of(Protocol::Http1, &chunk("beef", 0xbeef)), 16);
        for whole in [
            chunk("1ff8", 0x1ff7),
            chunk("1ff8", 0x1ff9),
            [chunk("1ff8", 0x1ff8), chunk("0", 0)].concat(),
            [chunk("1ff8", 0x1ff6), b"xx".to_vec()].concat(),
            chunk("0100", 0x100),
            [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 5000]].concat(),
        ] {
            assert_eq!(kept_of(Protocol::Http1, &whole), whole.len());
        }
    }
}
