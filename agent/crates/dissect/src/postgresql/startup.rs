//! What a client sends first. It has no type, but a length and a code.

use crate::tls;

use super::Message;
use super::message::HEADER;

/// No longer one is accepted (MAX_STARTUP_PACKET_LENGTH).
const LONGEST: usize = 10_000;

/// The length's own bytes.
const OWN: usize = 4;

/// A length and a code.
const SHORTEST: usize = 8;

/// Instead of a version of the protocol, these ask for something else.
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSSAPI: u32 = 80_877_104;

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Startup {
    /// To encrypt what follows.
    Encryption(Encryption),
    /// That another connection's statement be cancelled.
    Cancel,
    /// To log in, with this protocol.
    Login,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    Tls,
    Gssapi,
}

impl Encryption {
    /// The server's answer if it agrees.
    pub(super) fn agreed(self) -> u8 {
        match self {
            Self::Tls => b'S',
            Self::Gssapi => b'G',
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tls => tls::NAME,
            Self::Gssapi => "gssapi",
        }
    }
}

/// The length of what follows a length and the code's first byte, which no other code has.
pub(super) fn measure(header: [u8; HEADER]) -> Option<usize> {
    let [a, b, c, d, first] = header;
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    let is_known = matches!(first, 0 | 4) && (SHORTEST..=LONGEST).contains(&length);
    is_known.then(|| length - HEADER)
}

/// What the client wants; none if that is not known.
pub(super) fn read(message: &Message<'_>) -> Option<Startup> {
    let [a, b, c, ..] = *message.prefix else { return None };
    wish(u32::from_be_bytes([message.header[4], a, b, c]))
}

/// The same of a connection's first bytes.
pub(super) fn begun(client: &[u8]) -> Option<Startup> {
    let header = client.first_chunk::<HEADER>()?;
    measure(*header)?;
    wish(u32::from_be_bytes(*client.get(OWN..)?.first_chunk()?))
}

fn wish(code: u32) -> Option<Startup> {
    match code {
        CANCEL => Some(Startup::Cancel),
        TLS => Some(Startup::Encryption(Encryption::Tls)),
        GSSAPI => Some(Startup::Encryption(Encryption::Gssapi)),
        version if version >> 16 == 3 => Some(Startup::Login),
        _ => None,
    }
}

/// True if bytes are TLS records, one after the other (RFC 8446 section 5.1).
pub(super) fn is_tls(mut bytes: &[u8]) -> bool {
    while let [20..=23, 3, 0..=4, high, low, rest @ ..] = bytes {
        match rest.get(usize::from(u16::from_be_bytes([*high, *low]))..) {
            None | Some([]) => return true,
            Some(next) => bytes = next,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Option<Startup> {
        let mut frames = crate::framed::Frames::new(measure, 100, true);
        let mut rest = bytes;
        frames.next(0, &mut rest).and_then(|message| read(&message))
    }

    #[test]
    fn the_five_forms_are_told_apart() {
        let code = |length: u8, code: u32, rest: &[u8]| {
            [&[0, 0, 0, length], &code.to_be_bytes()[..], rest].concat()
        };
        for (bytes, expected) in [
            (code(8, TLS, b""), Some(Startup::Encryption(Encryption::Tls))),
            (code(8, GSSAPI, b""), Some(Startup::Encryption(Encryption::Gssapi))),
            (code(16, CANCEL, b"\0\0\0\x07keys"), Some(Startup::Cancel)),
            (code(16, 3 << 16, b"user\0me\0"), Some(Startup::Login)),
            (code(9, 3 << 16 | 2, b"\0"), Some(Startup::Login)),
            (code(9, 2 << 16, b"\0"), None),
            (b"GET / HTTP/1.1\r\n\r\n".to_vec(), None),
        ] {
            assert_eq!(read_all(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn tls_is_known_by_its_records() {
        assert!(is_tls(b"\x16\x03\x01\x02\0\x01 and so on"));
        assert!(is_tls(b"\x17\x03\x03\0\x01a\x17\x03\x03\0\x02bc"));
        assert!(!is_tls(b"\x17\x03\x03\0\x01a, not a record"));
        assert!(!is_tls(b"Q\0\0\0\x04"));
    }
}
