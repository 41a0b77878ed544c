//! Packets that carry content in bulk.
//!
//! A filter of the kernel keeps as much of a packet's beginning as it says. Copying content that
//! nobody reads costs more than reading the rest, so a filter may cut a server's packet whose inside
//! can be told from outside, such as one HTTP chunk that fills it. What ends with the packet must
//! follow from what is kept, or from how much that is.

use super::KEEP;
use super::program::*;

/// A smaller payload is kept: cutting it would save nothing.
const LEAST: u32 = 1024;
/// A larger one may be in a packet whose length no header states; what was cut off it would be
/// missed.
const MOST: u32 = 65_000;

/// Scratch memory: where the payload begins, and its length. What follows is a protocol's own.
pub(crate) const START: u32 = 0;
pub(crate) const LENGTH: u32 = 1;
pub(crate) const OWN: u32 = 2;

/// Which of a server's packets are cut.
#[derive(Clone, Copy)]
pub(crate) struct Bulk {
    /// Adds what decides: it begins with the payload's place in X, and jumps to [`KEEP`] for a
    /// packet that is kept whole.
    pub cut: fn(&mut Program),
    /// If so many bytes are kept of a payload, its last byte is its reply's.
    pub kept_of_last: Option<usize>,
}

/// Goes on with the payload's place in X if the payload's length is between the bounds; begins with
/// the TCP header's there.
pub(super) fn measure(program: &mut Program) {
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

/// Ends the program: so much of the payload is kept.
pub(crate) fn keep_of_payload(program: &mut Program, bytes: u32) {
    program.step(LOAD_MEMORY, START);
    program.step(ADD, bytes);
    program.step(RETURN_A, 0);
}
