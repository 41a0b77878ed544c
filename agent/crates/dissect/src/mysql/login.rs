//! The start of a connection: the server's greeting and the client's answer.

use super::fields::Fields;

/// Everything after the login is compressed.
pub(super) const COMPRESS: u64 = 1 << 5 | 1 << 26;
/// TLS follows.
pub(super) const SSL: u64 = 1 << 11;
/// Definitions and rows end without EOF packets.
pub(super) const DEPRECATE_EOF: u64 = 1 << 24;
/// COM_QUERY has bound values before its text.
pub(super) const QUERY_ATTRIBUTES: u64 = 1 << 27;

/// What matters of a server's greeting (protocol 10).
pub(super) struct Greeting {
    /// What the server can do.
    pub capabilities: u64,
    /// The random bytes that the client answers with its password.
    pub scramble: Vec<u8>,
}

/// Reads a greeting; none if it is anything else, such as an error.
pub(super) fn greeting(payload: &[u8]) -> Option<Greeting> {
    let mut fields = Fields(payload);
    if fields.integer(1)? != 10 {
        return None;
    }
    fields.terminated()?; // version
    fields.integer(4)?; // thread
    let mut scramble = fields.bytes(8)?.to_vec();
    fields.integer(1)?; // filler
    let low = fields.integer(2)?;
    let Some(_character_set_and_status) = fields.bytes(3) else {
        return Some(Greeting { capabilities: low, scramble });
    };
    let high = fields.integer(2)?;
    let scramble_length = fields.integer(1)? as usize;
    fields.bytes(10)?; // reserved
    let rest = scramble_length.saturating_sub(9).max(12).min(fields.0.len());
    scramble.extend_from_slice(fields.bytes(rest)?);
    Some(Greeting { capabilities: low | high << 16, scramble })
}

/// What a client's answer sets, as far as MySQL has it too.
pub(super) fn client_capabilities(payload: &[u8]) -> Option<u64> {
    Fields(payload).integer(4)
}

/// True if the client only asks for TLS: the answer stops before the user's name.
pub(super) fn asks_for_tls(payload: &[u8]) -> bool {
    payload.len() == 32 && client_capabilities(payload).is_some_and(|it| it & SSL != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A greeting of MariaDB 10.11, shortened.
    const GREETING: &[u8] = b"\x0a5.5.5-10.11\0\x07\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\
        \xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0mysql_native_password\0";

    #[test]
    fn a_greeting_is_read() {
        let greeting = greeting(GREETING).expect("a greeting");
        assert_eq!(greeting.scramble, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.capabilities, 0x81ff_f7fe);
        assert_ne!(greeting.capabilities & DEPRECATE_EOF, 0);
    }

    #[test]
    fn an_error_is_no_greeting() {
        assert!(super::greeting(b"\xff\x10\x04Too many connections").is_none());
        assert!(super::greeting(&GREETING[..20]).is_none());
    }

    #[test]
    fn a_wish_for_tls_is_seen() {
        let mut answer = [0; 32];
        answer[1] = 0x08;
        assert!(asks_for_tls(&answer));
        assert!(!asks_for_tls(&[&answer[..], b"root\0"].concat()));
    }
}
