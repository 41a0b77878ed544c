//! The message by which a session with PostgreSQL begins.
//!
//! Source: PostgreSQL's documentation, "Message Formats", StartupMessage.

/// Version 3.0 of the protocol.
const PROTOCOL: u32 = 3 << 16;

/// Asks for a session. The server has one of its connections in use from then on, and asks for the
/// password.
pub fn startup(user: &str, database: &str) -> Vec<u8> {
    let parameters = format!("user\0{user}\0database\0{database}\0\0");
    let length = 8 + parameters.len() as u32;
    let head = [length.to_be_bytes(), PROTOCOL.to_be_bytes()].concat();
    [head, parameters.into_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_length_counts_itself() {
        let message = startup("rubis", "r");
        assert_eq!(message[..8], [0, 0, 0, 31, 0, 3, 0, 0]);
        assert_eq!(message.len(), 31);
        assert!(message.ends_with(b"database\0r\0\0"));
    }
}
