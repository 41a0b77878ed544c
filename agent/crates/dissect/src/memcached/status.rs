//! How a command went: the binary protocol's numbers, into which the text protocol's words are put.

pub(super) const OK: i32 = 0;
pub(super) const KEY_NOT_FOUND: i32 = 1;
pub(super) const KEY_EXISTS: i32 = 2;
pub(super) const TOO_LARGE: i32 = 3;
pub(super) const INVALID_ARGUMENTS: i32 = 4;
pub(super) const NOT_STORED: i32 = 5;
pub(super) const UNKNOWN_COMMAND: i32 = 0x81;
pub(super) const OUT_OF_MEMORY: i32 = 0x82;
pub(super) const INTERNAL_ERROR: i32 = 0x84;
