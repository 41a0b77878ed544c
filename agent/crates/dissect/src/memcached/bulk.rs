//! What of memcached a capture's filter may cut: one whole reply of the binary protocol, whose length
//! stands in its header. (In the text protocol it stands behind a key of any length.)

use super::binary::{HEADER, REPLY};
use crate::filter::{Bulk, KEEP, LENGTH, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: None };

/// Of a reply its header is kept.
const KEPT: u32 = HEADER as u32;

fn cut(program: &mut Program) {
    program.step(LOAD_BYTE_AT, 0);
    program.test(EQUAL, REPLY.into(), NEXT, KEEP);
    program.step(LOAD_WORD_AT, 8);
    program.step(ADD, KEPT);
    program.step(INDEX_MEMORY, LENGTH);
    program.test(EQUAL_X, 0, NEXT, KEEP);
    keep_of_payload(program, KEPT);
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::filter::machine::kept_of;

    #[test]
    fn only_whole_binary_replies_are_cut() {
        let reply = |magic: u8, length: u32, more: usize| {
            let mut reply = vec![magic, 0, 0, 0, 4, 0, 0, 0];
            reply.extend(length.to_be_bytes());
            reply.resize(24 + length as usize + more, 0);
            reply
        };
        for length in [1_004, 8_000, 60_000] {
            assert_eq!(kept_of(Protocol::Memcached, &reply(0x81, length, 0)), 24);
        }
        let text = [&b"VALUE a 0 5000\r\n"[..], &[b'x'; 5000], b"\r\nEND\r\n"].concat();
        for whole in [reply(0x80, 8_000, 0), reply(0x81, 8_000, 24), reply(0x81, 100, 0), text] {
            assert_eq!(kept_of(Protocol::Memcached, &whole), whole.len());
        }
    }
}
