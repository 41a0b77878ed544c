//! What of FastCGI a capture's filter may cut: one whole STDOUT, whose length stands before it.

use super::record::{HEADER, STDOUT};
use crate::filter::{Bulk, KEEP, LENGTH, OWN, keep_of_payload, program::*};

pub(crate) const BULK: Bulk = Bulk { cut, kept_of_last: None };

/// The header of a script's output is in its first bytes.
const KEPT: u32 = 512;

/// Version 1, the type, the lengths of content and padding.
fn cut(program: &mut Program) {
    program.step(LOAD_HALF_AT, 0);
    program.test(EQUAL, 1 << 8 | u32::from(STDOUT), NEXT, KEEP);
    program.step(LOAD_HALF_AT, 4);
    program.step(STORE, OWN);
    program.step(LOAD_BYTE_AT, 6);
    program.step(INDEX_MEMORY, OWN);
    program.step(ADD_X, 0);
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
    fn only_whole_outputs_are_cut() {
        let record = |kind: u8, length: u16, padding: u8, more: usize| {
            let mut record = vec![1, kind, 0, 1];
            record.extend(length.to_be_bytes());
            record.extend([padding, 0]);
            record.resize(8 + usize::from(length) + usize::from(padding) + more, b'x');
            record
        };
        for (length, padding) in [(8184, 0), (8181, 3), (40_000, 7)] {
            assert_eq!(kept_of(Protocol::Fastcgi, &record(6, length, padding, 0)), 512);
        }
        for whole in [record(7, 8184, 0, 0), record(6, 8184, 0, 16), record(6, 100, 0, 0)] {
            assert_eq!(kept_of(Protocol::Fastcgi, &whole), whole.len());
        }
    }
}
