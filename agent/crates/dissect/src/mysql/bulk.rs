//! What of MySQL a capture's filter may cut: rows. Whether a result ends with a packet of them stands
//! in its last bytes, which the filter sees but cannot keep: it tells by how much it keeps.

use crate::filter::{Bulk, KEEP, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: Some(LAST_ROWS as usize) };

/// So many bytes of payload are kept of rows.
const ROWS: u32 = 64;

/// So many are kept of rows with which the last result of a reply ends.
const LAST_ROWS: u32 = 65;

/// A result ends with a packet of one of these lengths, three bytes of length and one of sequence
/// number before it: an EOF packet, or the OK packet that stands for one (CLIENT_DEPRECATE_EOF).
const END_LENGTHS: [u8; 2] = [5, 7];

/// The first byte of both, behind the header.
pub(super) const END: u8 = 0xfe;

/// Where both have the lower byte of the server's status, counted from the header's beginning.
const END_STATUS: usize = 7;

/// In the status: another result follows.
const MORE_RESULTS: u8 = 0x08;

/// True if the last bytes of a packet of rows are the end of its reply.
pub(super) fn ends_reply(bytes: &[u8]) -> bool {
    END_LENGTHS.iter().any(|&length| {
        let Some(start) = bytes.len().checked_sub(4 + usize::from(length)) else { return false };
        let end = &bytes[start..];
        matches!(end, [first, 0, 0, _, END, ..] if *first == length)
            && end[END_STATUS] & MORE_RESULTS == 0
    })
}

/// Anything but the answer to a PREPARE, whose end is told by the definitions in it: such an answer
/// begins with 12 bytes that have sequence number 1 and a zero.
fn cut(program: &mut Program) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::filter::machine::kept_of;

    #[test]
    fn a_reply_ends_with_its_last_result() {
        for (bytes, ends) in [
            (&b"row\x05\0\0\x09\xfe\0\0\x02\0"[..], true),
            (b"row\x07\0\0\x09\xfe\0\0\x02\0\0\0", true),
            (b"row\x05\0\0\x09\xfe\0\0\x0a\0", false),
            (b"row\x07\0\0\x09\xfe\0\0\x0a\0\0\0", false),
            (b"row\x05\0\0\x09\xfe\0\0\x02\0r", false),
            (b"\0\0\x09\xfe\0\0\x02\0", false),
            (b"", false),
        ] {
            assert_eq!(ends_reply(bytes), ends, "{bytes:?}");
        }
    }

    #[test]
    fn rows_are_cut_and_their_end_is_told() {
        let rows = |end: &[u8]| [&[b'r'; 3000][..], end].concat();
        for (payload, kept) in [
            (rows(b""), 64),
            (rows(b"\x05\0\0\x09\xfe\0\0\x22\0"), 65),
            (rows(b"\x07\0\0\x09\xfe\0\0\x02\0\0\0"), 65),
            (rows(b"\x05\0\0\x09\xfe\0\0\x0a\0"), 64),
            (rows(b"\x05\0\0\x09\xfe\0\0\x22\0r"), 64),
        ] {
            assert_eq!(kept_of(Protocol::Mysql, &payload), kept);
        }
        let prepared = [&b"\x0c\0\0\x01\0"[..], &[1; 3000]].concat();
        assert_eq!(kept_of(Protocol::Mysql, &prepared), prepared.len());
        assert_eq!(kept_of(Protocol::Mysql, &[b'r'; 1023]), 1023);
        assert_eq!(kept_of(Protocol::Mysql, &[b'r'; 65_001]), 65_001);
    }
}
