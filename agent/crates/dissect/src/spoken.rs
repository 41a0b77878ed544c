//! Which protocol a connection speaks that nobody told us of, by what both sides say first.

use crate::{Protocol, mysql, postgresql, tls};

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spoken {
    /// One of those that can be read.
    Protocol(Protocol),
    /// TLS, whatever is in it.
    Tls,
}

impl Spoken {
    /// The name in plans and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protocol(protocol) => protocol.name(),
            Self::Tls => tls::NAME,
        }
    }
}

/// What client and server speak that have said this: their first words, or some from where a message
/// of each begins. None as long as that is not certain.
pub fn spoken(client: &[u8], server: &[u8]) -> Option<Spoken> {
    if is_tls(client, server) {
        return Some(Spoken::Tls);
    }
    let known = Protocol::ALL.iter().copied();
    known.filter(|protocol| protocol.is_spoken(client, server)).map(Spoken::Protocol).next()
}

/// A ClientHello (RFC 8446 section 5.1), application data, or a database's way to begin with one.
fn is_tls(client: &[u8], server: &[u8]) -> bool {
    let begins = |bytes: &[u8]| matches!(bytes, [22 | 23, 3, 0..=4, _, _, ..]);
    let is_record = begins(client) && (server.is_empty() || begins(server));
    is_record || mysql::asks_for_tls(client, server) || postgresql::asks_for_tls(client, server)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: &[u8] = b"\x50\0\0\0\x0a5.5.5-10.11\0\x07\0\0\0abcdefgh\0\xfe\xff\x2d\x02\0\
        \xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0mysql_native_password\0";
    const STARTUP: &[u8] = b"\0\0\0\x10\0\x03\0\0user\0me\0";
    const WISH: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";

    fn name(client: &[u8], server: &[u8]) -> &'static str {
        spoken(client, server).map_or("?", Spoken::name)
    }

    #[test]
    fn first_words_tell_the_protocol() {
        let hello = b"\x16\x03\x01\x02\0\x01";
        let login = [b"\x20\0\0\x01\x00\x08", &[0; 30][..]].concat();
        for (client, server, expected) in [
            (&b"GET / HTTP/1.1\r\n"[..], &b"HTTP/1.1 200 OK\r\n"[..], "http1"),
            (b"POST /a HTTP/1.1\r\n", b"", "http1"),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"", "http2"),
            (b"\x12\x34\0\x01\x0a", b"AB\0\x01\x09", "ajp13"),
            (&[b"\x25\0\0\x01\x05\xa2", &[0; 34][..]].concat(), GREETING, "mysql"),
            (STARTUP, b"", "postgresql"),
            (&[WISH, STARTUP].concat(), b"NR\0\0\0\x08\0\0\0\0", "postgresql"),
            (b"\x01\x01\0\x01\0\x08\0\0\0\x01\0\0\0\0\0\0", b"", "fastcgi"),
            (b"get a\r\n", b"END\r\n", "memcached"),
            (b"\x80\x0b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", b"", "memcached"),
            (b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", b"$-1\r\n", "redis"),
            (hello, b"", "tls"),
            (&login, GREETING, "tls"),
            (WISH, b"S", "tls"),
        ] {
            assert_eq!(name(client, server), expected, "{}", client.escape_ascii());
        }
    }

    #[test]
    fn what_is_said_later_tells_it_too() {
        for (client, server, expected) in [
            (&b"Q\0\0\0\x0dSELECT 1\0"[..], &b"Z\0\0\0\x05I"[..], "postgresql"),
            (b"\x09\0\0\0\x03SELECT 1", b"\x01\0\0\x01\x01", "mysql"),
            (b"\0\0\x08\x06\0\0\0\0\0........", b"\0\0\x08\x06\x01\0\0\0\0........", "http2"),
            (b"\x17\x03\x03\0\x01a", b"\x17\x03\x03\0\x01a", "tls"),
        ] {
            assert_eq!(name(client, server), expected, "{}", client.escape_ascii());
        }
    }

    #[test]
    fn nothing_is_guessed() {
        for (client, server) in [
            (&b""[..], &b""[..]),
            (b"", b"SSH-2.0-OpenSSH_9.2\r\n"),
            (b"", GREETING),
            (b"", b"220 mail ESMTP\r\n"),
            (WISH, b""),
            (b"get a\r\n", b""),
            (b"GET / HTTP/1.1\r\n", b"+OK\r\n"),
            (b"\x30\x0c\x02\x01\x01", b""),
        ] {
            assert_eq!(name(client, server), "?", "{}", client.escape_ascii());
        }
    }
}
