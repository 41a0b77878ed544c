//! Where one direction stands, and a head that a packet's end cuts.

use super::body::Body;
use crate::memory::of_vec;
use crate::tls;
use memchr::memmem;

/// A head longer than this is not one. httpd and Tomcat allow 8 KiB, proxies up to 64.
const LONGEST_HEAD: usize = 64 << 10;

/// Where one direction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Before or in a message's head.
    Head,
    /// In a message's content.
    Body(Body),
    /// Nothing is certain until a packet begins with a message.
    Lost,
}

/// One direction of the connection.
pub(super) struct Reader {
    pub state: State,
    /// The current message's first byte, and its size so far.
    pub start_ns: i64,
    pub size: u64,
    carried: Vec<u8>,
}

impl Reader {
    pub(super) fn new(from_start: bool) -> Self {
        let state = if from_start { State::Head } else { State::Lost };
        Self { state, start_ns: 0, size: 0, carried: Vec::new() }
    }

    /// The current message cannot be followed any further.
    pub(super) fn lose(&mut self) {
        self.state = State::Lost;
        self.carried.clear();
    }

    /// True if a message that begins with these bytes is one of TLS.
    pub(super) fn begins_tls(&self, bytes: &[u8]) -> bool {
        self.carried.is_empty() && bytes.starts_with(&tls::HANDSHAKE)
    }

    /// The same of HTTP/2.
    pub(super) fn begins_http2(&self, bytes: &[u8]) -> bool {
        self.carried.is_empty() && bytes.starts_with(b"PRI * HTTP/2.0")
    }

    /// Takes bytes of a head. Gives how many of them belong to it and, once it is complete, itself:
    /// read where it lies if one packet holds it whole.
    pub(super) fn head<'a>(&'a mut self, at_ns: i64, bytes: &'a [u8]) -> (usize, Option<&'a [u8]>) {
        if self.carried.is_empty() {
            let blank = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let fresh = &bytes[blank..];
            if fresh.is_empty() {
                return (blank, None);
            }
            (self.start_ns, self.size) = (at_ns, 0);
            if let Some(end) = head_end(fresh, 0) {
                self.size = end as u64;
                return (blank + end, Some(&fresh[..end]));
            }
            self.carry(fresh);
            return (bytes.len(), None);
        }
        let known = self.carried.len();
        let room = LONGEST_HEAD.saturating_sub(known).min(bytes.len());
        self.carried.extend_from_slice(&bytes[..room]);
        match head_end(&self.carried, known.saturating_sub(3)) {
            Some(end) => {
                self.size = end as u64;
                (end - known, Some(&self.carried[..end]))
            }
            None => {
                if self.carried.len() >= LONGEST_HEAD {
                    self.lose();
                }
                (bytes.len(), None)
            }
        }
    }

    /// The head was read.
    pub(super) fn enter(&mut self, body: Body) {
        self.carried.clear();
        self.state = State::Body(body);
    }

    /// What is carried over from packet to packet.
    pub(super) fn held_bytes(&self) -> usize {
        of_vec(&self.carried)
    }

    fn carry(&mut self, bytes: &[u8]) {
        if bytes.len() >= LONGEST_HEAD {
            self.lose();
        } else {
            self.carried.extend_from_slice(bytes);
        }
    }
}

/// The end of the head in `bytes`, which has none before `from`. A bare line feed ends a line too
/// (RFC 9112 section 2.2).
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let strict = memmem::find(&bytes[from..], b"\r\n\r\n").map(|at| from + at + 4);
    let within = &bytes[from..strict.unwrap_or(bytes.len())];
    memmem::find(within, b"\n\n").map(|at| from + at + 2).or(strict)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn a_head_is_found_however_it_is_cut() {
        for cut in 1..HEAD.len() {
            let mut reader = Reader::new(true);
            let rest = [&HEAD[cut..], b"BODY"].concat();
            assert_eq!(reader.head(1, &HEAD[..cut]), (cut, None));
            assert_eq!(reader.head(2, &rest), (HEAD.len() - cut, Some(HEAD)), "cut at {cut}");
            assert_eq!((reader.start_ns, reader.size), (1, HEAD.len() as u64));
        }
    }

    #[test]
    fn empty_lines_before_a_head_are_skipped() {
        let mut reader = Reader::new(true);
        let bytes = [b"\r\n\r\n", HEAD].concat();
        assert_eq!(reader.head(1, &bytes), (bytes.len(), Some(HEAD)));
    }

    #[test]
    fn a_head_without_end_is_given_up() {
        let mut reader = Reader::new(true);
        for _ in 0..100 {
            reader.head(1, &[b'x'; 1000]);
        }
        assert_eq!(reader.state, State::Lost);
    }
}
