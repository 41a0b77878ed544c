//! A request in FastCGI that is announced and never comes.
//!
//! Source: FastCGI Specification 1.0 (Open Market, 1996), sections 3.3 and 5.1.

const VERSION: u8 = 1;
const BEGIN_REQUEST: u8 = 1;
const BODY_BYTES: u8 = 8;

/// The head of a record that begins a request, whose body never follows: whoever reads it can only
/// wait, and has nothing to run once it is given up.
pub fn announced() -> Vec<u8> {
    vec![VERSION, BEGIN_REQUEST, 0, 1, 0, BODY_BYTES, 0, 0]
}
