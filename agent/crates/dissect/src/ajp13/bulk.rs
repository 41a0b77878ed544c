//! What of AJP a capture's filter may cut: one whole SEND_BODY_CHUNK, whose length stands before it.

use super::{HEADER, SEND_BODY_CHUNK};
use crate::filter::{Bulk, KEEP, LENGTH, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: None };

/// Of a packet its header and type are kept.
const KEPT: u32 = 8;

/// `AB`, a length, the type.
fn cut(program: &mut Program) {
    program.step(LOAD_HALF_AT, 0);
    program.test(EQUAL, 0x4142, NEXT, KEEP);
    program.step(LOAD_BYTE_AT, 4);
    program.test(EQUAL, SEND_BODY_CHUNK.into(), NEXT, KEEP);
    program.step(LOAD_HALF_AT, 2);
    program.step(ADD, HEADER as u32);
    program.step(INDEX_MEMORY, LENGTH);
    program.test(EQUAL_X, 0, NEXT, KEEP);
    keep_of_payload(program, KEPT);
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::filter::machine::kept_of;

    #[test]
    fn only_whole_body_chunks_are_cut() {
        let packet = |kind: u8, length: u16, more: usize| {
            let mut packet = [&b"AB"[..], &length.to_be_bytes(), &[kind]].concat();
            packet.resize(4 + usize::from(length) + more, b'x');
            packet
        };
        assert_eq!(kept_of(Protocol::Ajp13, &packet(3, 8188, 0)), 8);
        for whole in [packet(4, 8188, 0), packet(3, 8188, 6), packet(3, 100, 0)] {
            assert_eq!(kept_of(Protocol::Ajp13, &whole), whole.len());
        }
    }
}
