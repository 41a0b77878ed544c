//! What a proxy says before its client does: the header of the PROXY protocol, version 1 or 2
//! (<https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>). No message is behind it.

use crate::memory::of_vec;

/// A line of version 1 is no longer, its end included.
const LONGEST_LINE: usize = 107;

/// How version 1 begins.
const LINES: [&[u8]; 3] = [b"PROXY TCP4 ", b"PROXY TCP6 ", b"PROXY UNKNOWN"];

/// How version 2 begins.
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// The signature, version and command, protocols, and the length of what follows.
const HEADER: usize = 16;

/// What a client's first bytes are.
#[derive(Debug, PartialEq, Eq)]
enum First {
    /// A header of so many bytes, or as much of it as is there.
    Header(usize),
    /// Too few to tell.
    Unknown,
    Other,
}

/// A client's first bytes, of which it is not known yet whether a header is among them.
#[derive(Default)]
pub(crate) struct Preamble {
    /// Bytes that may begin a header, and when they came.
    pub begun: Vec<u8>,
    pub begun_ns: i64,
    /// So much of a header is to come.
    left: usize,
}

impl Preamble {
    /// Takes the client's next bytes. Gives what is behind the header once that is over, or all if there is
    /// none: then what had begun is the client's own, too.
    pub(crate) fn rest<'b>(&mut self, at_ns: i64, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if self.left == 0 {
            let known = self.begun.len();
            if known == 0 {
                self.begun_ns = at_ns;
            }
            let room = (LONGEST_LINE - known).min(bytes.len());
            self.begun.extend_from_slice(&bytes[..room]);
            match first(&self.begun) {
                First::Unknown => return None,
                First::Other => {
                    self.begun.truncate(known);
                    return Some(bytes);
                }
                First::Header(length) => {
                    self.begun.clear();
                    self.left = length - known;
                }
            }
        }
        let taken = self.left.min(bytes.len());
        self.left -= taken;
        (self.left == 0).then_some(&bytes[taken..])
    }

    /// What is carried over from packet to packet.
    pub(crate) fn held_bytes(&self) -> usize {
        of_vec(&self.begun)
    }
}

fn first(bytes: &[u8]) -> First {
    if bytes.starts_with(SIGNATURE)
        && let Some([.., high, low]) = bytes.first_chunk::<HEADER>()
    {
        return First::Header(HEADER + usize::from(u16::from_be_bytes([*high, *low])));
    }
    let may_begin = |with: &&[u8]| bytes.starts_with(with) || with.starts_with(bytes);
    if !LINES.iter().chain([&SIGNATURE]).any(may_begin) {
        return First::Other;
    }
    match memchr::memchr(b'\n', bytes) {
        Some(end) if bytes.starts_with(b"PROXY") => First::Header(end + 1),
        None if bytes.len() == LONGEST_LINE => First::Other,
        _ => First::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"PROXY TCP4 192.0.2.7 192.0.2.1 56324 443\r\n";

    #[test]
    fn a_header_is_known_by_its_beginning() {
        let binary = [SIGNATURE, b"\x21\x11\0\x0c"].concat();
        assert_eq!(first(&binary), First::Header(28));
        assert_eq!(first(b"PROXY UNKNOWN\r\nGET /"), First::Header(15));
        assert_eq!(first(LINE), First::Header(LINE.len()));
        for cut in 1..LINE.len() {
            assert_eq!(first(&LINE[..cut]), First::Unknown, "cut at {cut}");
        }
        for cut in 1..binary.len() {
            assert_eq!(first(&binary[..cut]), First::Unknown, "cut at {cut}");
        }
        for other in [&b"POST / HTTP/1.1\r\n"[..], b"PROXY TCP5 ", b"\r\nGET /", b"\x50\0\0\x01"] {
            assert_eq!(first(other), First::Other, "{}", other.escape_ascii());
        }
        let endless = [LINES[0], &[b'1'; LONGEST_LINE]].concat();
        assert_eq!(first(&endless[..LONGEST_LINE]), First::Other);
    }

    #[test]
    fn what_only_begins_as_a_header_is_the_clients() {
        let mut it = Preamble::default();
        assert_eq!(it.rest(1, b"P"), None);
        assert_eq!(it.rest(2, b"RO"), None);
        assert_eq!(it.rest(3, b"PFIND /"), Some(&b"PFIND /"[..]));
        assert_eq!((it.begun_ns, &it.begun[..]), (1, &b"PRO"[..]));
    }
}
