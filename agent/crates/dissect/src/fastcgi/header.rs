//! The header with which a script's output begins (RFC 3875 section 6.3).

use crate::memory::of_vec;

/// A header longer than this is not one.
const LONGEST: usize = 16 << 10;

/// A header that records cut.
#[derive(Default)]
pub(super) struct Header {
    carried: Vec<u8>,
    is_over: bool,
}

impl Header {
    /// Takes the next bytes of the output; gives the status once it is certain. `whole` is false if
    /// the bytes behind them were not captured.
    pub(super) fn take(&mut self, bytes: &[u8], whole: bool) -> Option<i32> {
        if self.is_over {
            return None;
        }
        if !self.carried.is_empty() {
            self.carried.extend_from_slice(bytes);
        }
        let header = if self.carried.is_empty() { bytes } else { &self.carried };
        let end = end(header);
        if end.is_none() && whole && header.len() < LONGEST {
            if self.carried.is_empty() {
                self.carried.extend_from_slice(bytes);
            }
            return None;
        }
        let status = status(&header[..end.unwrap_or(header.len())], end.is_some());
        *self = Self { carried: Vec::new(), is_over: true };
        status
    }

    /// What is carried over from record to record.
    pub(super) fn held_bytes(&self) -> usize {
        of_vec(&self.carried)
    }
}

/// Where the empty line begins; lines may end with a line feed alone.
fn end(header: &[u8]) -> Option<usize> {
    let is_end = |at: &usize| {
        let rest = &header[at + 1..];
        rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    };
    memchr::memchr_iter(b'\n', header).find(is_end).map(|at| at + 1)
}

/// The status that the fields state or imply; of a header that was cut only what it states.
fn status(header: &[u8], is_complete: bool) -> Option<i32> {
    let mut implied = 200;
    for line in header.split_inclusive(|&byte| byte == b'\n') {
        let Some(colon) = memchr::memchr(b':', line).filter(|_| line.ends_with(b"\n")) else {
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"status") {
            return str::from_utf8(value.get(..3)?).ok()?.parse().ok();
        }
        if name.eq_ignore_ascii_case(b"location") {
            implied = 302;
        }
    }
    is_complete.then_some(implied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_stated_or_implied() {
        for (header, expected) in [
            (&b"Status: 404 Not Found\r\nA: b\r\n\r\nstatus: 500\n"[..], Some(404)),
            (b"A: b\r\nstatus:500\r\n\r\n", Some(500)),
            (b"Content-Type: text/html\n\nhello", Some(200)),
            (b"Location: http://a/\r\n\r\n", Some(302)),
            (b"Status: x\r\n\r\n", None),
        ] {
            assert_eq!(Header::default().take(header, true), expected);
            for cut in 0..header.len() {
                let mut it = Header::default();
                let told = [it.take(&header[..cut], true), it.take(&header[cut..], true)];
                assert_eq!(told.into_iter().flatten().next(), expected, "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_header_that_lost_its_end_has_only_what_it_states() {
        assert_eq!(Header::default().take(b"Status: 404 Not Found\r\nA", false), Some(404));
        assert_eq!(Header::default().take(b"A: b\r\nStatus: 4", false), None);
        let mut it = Header::default();
        assert_eq!(it.take(b"A: b\r\n", false), None);
        assert_eq!(it.take(b"Status: 500\r\n\r\n", true), None, "that may be content");
    }
}
