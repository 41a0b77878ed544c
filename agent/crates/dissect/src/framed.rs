//! Messages that begin with a header of so many bytes, which tells their length.

use crate::memory::{empty, of_vec};
use crate::parser::Gap;

/// A frame, or as much of it as was captured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a, const HEADER: usize> {
    pub start_ns: i64,
    pub end_ns: i64,
    pub header: [u8; HEADER],
    /// The payload's length as the header tells it.
    pub length: usize,
    /// The payload's first bytes: as many as are kept, or as were captured before a loss.
    pub prefix: &'a [u8],
    /// No byte was lost.
    pub whole: bool,
}

impl<const HEADER: usize> Frame<'_, HEADER> {
    /// Bytes on the wire.
    pub(crate) fn size(&self) -> u64 {
        (HEADER + self.length) as u64
    }
}

/// The length of the payload behind a header; none if it is no header.
pub(crate) type Measure<const HEADER: usize> = fn([u8; HEADER]) -> Option<usize>;

/// How much of a payload is kept where packets cut it, by its header.
pub(crate) type Keep<const HEADER: usize> = fn([u8; HEADER]) -> usize;

/// One direction, cut into frames.
pub(crate) struct Frames<const HEADER: usize> {
    pub measure: Measure<HEADER>,
    /// How much of a payload is kept, if a packet's end cuts it or it is longer.
    pub keep: usize,
    /// Less is kept of some.
    keep_of: Keep<HEADER>,
    header: [u8; HEADER],
    /// How much of the header is there.
    begun: usize,
    length: usize,
    /// How much of the payload went by.
    gone: usize,
    kept: Vec<u8>,
    start_ns: i64,
    /// The last byte that was seen of the frame in progress.
    pub last_ns: i64,
    damaged: bool,
    lost: bool,
}

impl<const HEADER: usize> Frames<HEADER> {
    /// A stream that begins with a header, or that may begin anywhere.
    pub(crate) fn new(measure: Measure<HEADER>, keep: usize, from_start: bool) -> Self {
        Self {
            measure,
            keep,
            keep_of: |_| usize::MAX,
            header: [0; HEADER],
            begun: 0,
            length: 0,
            gone: 0,
            kept: Vec::new(),
            start_ns: 0,
            last_ns: 0,
            damaged: false,
            lost: !from_start,
        }
    }

    /// Keeps less of a payload that packets cut, as `keep_of` says.
    pub(crate) fn keeping(self, keep_of: Keep<HEADER>) -> Self {
        Self { keep_of, ..self }
    }

    /// True while it is not known where the next frame begins.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// The next byte begins a frame.
    pub(crate) fn resume(&mut self) {
        self.lost = false;
        self.begun = 0;
    }

    /// Nothing is certain until [`Frames::resume`].
    pub(crate) fn lose(&mut self) {
        self.lost = true;
        self.begun = 0;
    }

    /// Takes the next frame off `bytes`; none if they do not complete one. After
    /// [`Frames::skip`], call it with no bytes too.
    pub(crate) fn next<'f, 'b: 'f>(
        &'f mut self,
        at_ns: i64,
        bytes: &mut &'b [u8],
    ) -> Option<Frame<'f, HEADER>> {
        if self.begun == 0 {
            empty(&mut self.kept);
            match self.whole(at_ns, bytes) {
                Some(frame) => return Some(frame),
                None if bytes.is_empty() || self.lost => return None,
                None => self.begin(at_ns),
            }
        }
        if !self.fill_header(bytes) || !self.fill_payload(at_ns, bytes) {
            return None;
        }
        self.begun = 0;
        let (header, length) = (self.header, self.length);
        let (start_ns, end_ns) = (self.start_ns, self.last_ns);
        let (prefix, whole) = (&self.kept[..], !self.damaged);
        Some(Frame { start_ns, end_ns, header, length, prefix, whole })
    }

    /// How much of the frame in progress went by.
    pub(crate) fn in_progress(&self) -> u64 {
        if self.begun < HEADER { self.begun as u64 } else { (HEADER + self.gone) as u64 }
    }

    /// Goes on over bytes that were not captured, if they are within a payload; if it is not known
    /// when they were sent, they must not be its last. Otherwise the stream is lost, and the answer
    /// false.
    pub(crate) fn skip(&mut self, at_ns: Option<i64>, lost: u64) -> bool {
        let left = (self.length - self.gone) as u64;
        let within = self.begun == HEADER && (lost < left || (lost == left && at_ns.is_some()));
        if within {
            self.damaged = true;
            self.gone += lost as usize;
            self.last_ns = at_ns.unwrap_or(self.last_ns);
        } else {
            self.lose();
        }
        within
    }

    /// Goes on over a gap in requests; gives the time at which to take up again, if it can. A request
    /// whose end was lost is one all the same: it ends for us where it was seen last.
    pub(crate) fn skip_of_request(&mut self, gap: Gap) -> Option<i64> {
        let at_ns = gap.at_ns.unwrap_or(self.last_ns);
        self.skip(Some(at_ns), gap.bytes).then_some(at_ns)
    }

    /// The same in replies, of which the end must be seen.
    pub(crate) fn skip_of_reply(&mut self, gap: Gap) -> Option<i64> {
        let goes_on = self.skip(gap.at_ns, gap.bytes);
        gap.at_ns.filter(|_| goes_on)
    }

    /// What is carried over from packet to packet.
    pub(crate) fn held_bytes(&self) -> usize {
        of_vec(&self.kept)
    }

    /// A frame that one packet holds whole, read where it lies.
    fn whole<'b>(&self, at_ns: i64, bytes: &mut &'b [u8]) -> Option<Frame<'b, HEADER>> {
        if self.lost {
            return None;
        }
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        let length = (self.measure)(*header)?;
        let payload = rest.get(..length)?;
        *bytes = &rest[length..];
        let prefix = &payload[..length.min(self.keep)];
        let (start_ns, end_ns, header) = (at_ns, at_ns, *header);
        Some(Frame { start_ns, end_ns, header, length, prefix, whole: true })
    }

    fn begin(&mut self, at_ns: i64) {
        (self.start_ns, self.last_ns) = (at_ns, at_ns);
        (self.length, self.gone) = (0, 0);
        self.damaged = false;
    }

    fn fill_header(&mut self, bytes: &mut &[u8]) -> bool {
        if self.begun == HEADER {
            return true;
        }
        let taken = bytes.len().min(HEADER - self.begun);
        let (first, rest) = bytes.split_at(taken);
        self.header[self.begun..self.begun + taken].copy_from_slice(first);
        self.begun += taken;
        *bytes = rest;
        if self.begun < HEADER {
            return false;
        }
        let Some(length) = (self.measure)(self.header) else {
            self.lose();
            return false;
        };
        self.length = length;
        true
    }

    fn fill_payload(&mut self, at_ns: i64, bytes: &mut &[u8]) -> bool {
        let taken = bytes.len().min(self.length - self.gone);
        let (payload, rest) = bytes.split_at(taken);
        if !self.damaged {
            let keep = self.keep.min((self.keep_of)(self.header));
            let room = keep.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&payload[..taken.min(room)]);
        }
        self.gone += taken;
        *bytes = rest;
        if taken > 0 || self.length == 0 {
            self.last_ns = at_ns;
        }
        self.gone == self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Frames<4> {
        Frames::new(|header| (header[3] == 7).then_some(usize::from(header[0])), 8, true)
    }

    const STREAM: &[u8] = b"\x03\0\0\x07abc\0\0\0\x07\x0a\0\0\x070123456789";

    #[test]
    fn frames_are_the_same_however_they_are_cut() {
        for cut in 0..=STREAM.len() {
            let mut frames = frames();
            let mut seen = Vec::new();
            for (at_ns, mut bytes) in [(1, &STREAM[..cut]), (2, &STREAM[cut..])] {
                while let Some(frame) = frames.next(at_ns, &mut bytes) {
                    seen.push((frame.length, frame.prefix.to_vec(), frame.start_ns, frame.end_ns));
                }
            }
            let at = |offset: usize| if offset < cut { 1 } else { 2 };
            let expected = [
                (3, b"abc".to_vec(), at(0), at(6)),
                (0, b"".to_vec(), at(7), at(10)),
                (10, b"01234567".to_vec(), at(11), at(24)),
            ];
            assert_eq!(seen, expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_loss_within_a_payload_keeps_the_frame() {
        let mut frames = frames();
        let mut bytes = &STREAM[11..18];
        assert_eq!(frames.next(1, &mut bytes), None);
        assert!(frames.skip(Some(2), 7));
        let frame = frames.next(2, &mut &b""[..]).expect("complete");
        assert_eq!((frame.length, frame.prefix, frame.end_ns), (10, &b"012"[..], 2));
    }

    #[test]
    fn a_frame_whose_end_was_lost_has_no_end() {
        let mut frames = frames();
        assert_eq!(frames.next(1, &mut &STREAM[11..18]), None);
        assert!(!frames.skip(None, 7));
        assert!(frames.is_lost());
    }

    #[test]
    fn a_loss_beyond_a_payload_loses_the_stream() {
        let mut frames = frames();
        assert!(!frames.skip(Some(1), 4));
        assert_eq!(frames.next(2, &mut &STREAM[..]), None);
        frames.resume();
        assert!(frames.next(2, &mut &STREAM[..]).is_some());
    }

    #[test]
    fn of_some_frames_nothing_is_kept_and_no_large_buffer_stays() {
        let measure =
            |header: [u8; 4]| Some(usize::from(u16::from_be_bytes([header[0], header[1]])));
        let mut frames = Frames::new(measure, 1 << 16, true).keeping(|header| match header[3] {
            0 => 0,
            _ => usize::MAX,
        });
        for (kind, kept) in [(0, 0), (1, 60_000)] {
            let stream = [&60_000_u16.to_be_bytes()[..], &[0, kind], &vec![b'x'; 60_000]].concat();
            let (first, mut rest) = stream.split_at(30_000);
            assert_eq!(frames.next(1, &mut &first[..]), None);
            let frame = frames.next(2, &mut rest).expect("complete");
            assert_eq!((frame.prefix.len(), frame.whole), (kept, true));
            assert_eq!(frames.next(2, &mut rest), None);
            assert_eq!(frames.held_bytes(), 0);
        }
    }

    #[test]
    fn no_header_loses_the_stream() {
        let mut frames = frames();
        assert_eq!(frames.next(1, &mut &b"\x01\0\0\0a"[..]), None);
        assert!(frames.is_lost());
    }
}
