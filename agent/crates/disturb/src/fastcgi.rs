//! A request in FastCGI that is begun and never goes on.
//!
//! Source: FastCGI Specification 1.0 (Open Market, 1996), sections 3.3 and 5.1.

const VERSION: u8 = 1;
const BEGIN_REQUEST: u8 = 1;
const PARAMS: u8 = 4;
const RESPONDER: u8 = 1;
const PARAMS_BYTES: u8 = 200;

/// A request's beginning, and the head of its parameters, of which none follows: whoever reads it can
/// only wait, and has nothing to run once it is given up.
pub fn begun() -> Vec<u8> {
    let mut bytes = record(BEGIN_REQUEST, 8).to_vec();
    bytes.extend([0, RESPONDER, 0, 0, 0, 0, 0, 0]);
    bytes.extend(record(PARAMS, PARAMS_BYTES));
    bytes
}

/// A record's head, of request 1.
fn record(kind: u8, length: u8) -> [u8; 8] {
    [VERSION, kind, 0, 1, 0, length, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_a_request_and_announces_parameters_that_never_come() {
        let bytes = begun();
        assert_eq!(bytes[..16], [1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[16..], [1, 4, 0, 1, 0, PARAMS_BYTES, 0, 0]);
    }
}
