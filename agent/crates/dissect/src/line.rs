//! Lines of one direction of a protocol that consists of them, however packets cut them.

use crate::memory::of_vec;

/// A line longer than this is none.
const LONGEST: u64 = 1 << 20;

/// A line, or its first bytes: as many as are kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub start_ns: i64,
    /// Without its end, which is a line feed that may have a carriage return before it.
    pub text: &'a [u8],
    /// Bytes on the wire.
    pub size: u64,
}

/// The line in progress.
pub(crate) struct Lines {
    /// How much of a line is kept.
    keep: usize,
    kept: Vec<u8>,
    /// Bytes of the line in progress.
    size: u64,
    start_ns: i64,
}

impl Lines {
    /// Lines of which so many bytes matter.
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, kept: Vec::new(), size: 0, start_ns: 0 }
    }

    /// True within a line.
    pub(crate) fn has_begun(&self) -> bool {
        self.size > 0
    }

    /// The next byte begins a line.
    pub(crate) fn restart(&mut self) {
        self.size = 0;
        self.kept.clear();
    }

    /// Takes the next line off `bytes`; none if they do not complete one. False if it has no end in
    /// sight.
    pub(crate) fn next<'l, 'b: 'l>(
        &'l mut self,
        at_ns: i64,
        bytes: &mut &'b [u8],
    ) -> Result<Option<Line<'l>>, Endless> {
        let end = memchr::memchr(b'\n', bytes);
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let (part, rest) = bytes.split_at(taken);
        *bytes = rest;
        if !self.has_begun() {
            self.start_ns = at_ns;
            self.kept.clear();
            if end.is_some() {
                let text = without_end(part);
                let text = &text[..text.len().min(self.keep)];
                return Ok(Some(Line { start_ns: at_ns, text, size: taken as u64 }));
            }
        }
        let room = self.keep.saturating_sub(self.kept.len()).min(taken);
        self.kept.extend_from_slice(&part[..room]);
        self.size += taken as u64;
        if end.is_none() {
            return if self.size > LONGEST { Err(Endless) } else { Ok(None) };
        }
        let size = std::mem::take(&mut self.size);
        Ok(Some(Line { start_ns: self.start_ns, text: without_end(&self.kept), size }))
    }

    /// What is carried over from packet to packet.
    pub(crate) fn held_bytes(&self) -> usize {
        of_vec(&self.kept)
    }
}

/// A line without end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Endless;

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_however_it_is_cut() {
        const TEXT: &[u8] = b"get a b\r\nNEXT";
        for cut in 0..TEXT.len() - 4 {
            let mut lines = Lines::new(64);
            let mut first = &TEXT[..cut];
            if cut > 0 {
                assert_eq!(lines.next(1, &mut first), Ok(None), "cut at {cut}");
            }
            let mut rest = &TEXT[cut..];
            let start_ns = if cut > 0 { 1 } else { 2 };
            let line = Line { start_ns, text: b"get a b", size: 9 };
            assert_eq!(lines.next(2, &mut rest), Ok(Some(line)), "cut at {cut}");
            assert_eq!(rest, b"NEXT");
            assert!(!lines.has_begun());
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_line_is_kept() {
        let mut lines = Lines::new(5);
        assert_eq!(lines.next(1, &mut &b"0123"[..]), Ok(None));
        let line = lines.next(2, &mut &b"456789\n"[..]);
        assert_eq!(line, Ok(Some(Line { start_ns: 1, text: b"01234", size: 11 })));
        let line = lines.next(3, &mut &b"abcdefgh\n"[..]);
        assert_eq!(line, Ok(Some(Line { start_ns: 3, text: b"abcde", size: 9 })));
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut lines = Lines::new(5);
        let seen = (0..20).map(|_| lines.next(1, &mut &vec![b'x'; 100_000][..]).is_err());
        assert_eq!(seen.filter(|&endless| endless).count(), 10);
        assert!(lines.held_bytes() < 100);
    }
}
