//! One side's header blocks, which HEADERS or PUSH_PROMISE begin and CONTINUATION may go on
//! (RFC 9113 section 4.3).

use super::Frame;
use super::frame::{self, CONTINUATION, HEADERS, PUSH_PROMISE};
use super::head::Head;
use super::hpack::Decoder;
use crate::memory::{empty, of_vec};

/// Of a block no more is read: its first fields are what matters. Peers allow 8 to 64 KiB.
const LONGEST: usize = 64 << 10;

/// A block of which more frames may come.
struct Begun {
    stream: u32,
    start_ns: i64,
    size: u64,
    ends_stream: bool,
    is_promise: bool,
    whole: bool,
}

/// A block that is complete; its fields are the [`Blocks::head`] until the next.
pub(super) struct Block {
    pub stream: u32,
    pub start_ns: i64,
    pub end_ns: i64,
    pub size: u64,
    /// The side says no more in this stream.
    pub ends_stream: bool,
    /// Nothing of it was lost.
    pub whole: bool,
}

/// The blocks of one side, which must be read in their order.
pub(super) struct Blocks {
    pub head: Head,
    decoder: Decoder,
    begun: Option<Begun>,
    carried: Vec<u8>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { head: Head::default(), decoder: Decoder::new(), begun: None, carried: Vec::new() }
    }

    /// Takes a HEADERS, PUSH_PROMISE or CONTINUATION. A promise's block is read and not given: what
    /// was not asked for is no visit.
    pub(super) fn take(&mut self, frame: &Frame<'_>) -> Option<Block> {
        let mut begun = self.begin_or_go_on(frame)?;
        let fragment = frame::content(frame).filter(|_| begun.whole).unwrap_or(&[]);
        begun.whole &= frame.whole && frame.prefix.len() == frame.length;
        let ends = frame::ends_headers(frame.header);
        let room = LONGEST.saturating_sub(self.carried.len()).min(fragment.len());
        begun.whole &= room == fragment.len();
        if !ends || !self.carried.is_empty() {
            self.carried.extend_from_slice(&fragment[..room]);
        }
        if !ends {
            self.begun = Some(begun);
            return None;
        }
        let head = &mut self.head;
        head.clear();
        let block = if self.carried.is_empty() { &fragment[..room] } else { &self.carried };
        self.decoder.read(block, begun.whole, |field, value| head.see(field, value));
        empty(&mut self.carried);
        let Begun { stream, start_ns, size, ends_stream, is_promise, whole } = begun;
        let end_ns = frame.end_ns;
        (!is_promise).then_some(Block { stream, start_ns, end_ns, size, ends_stream, whole })
    }

    /// Frames went by unseen.
    pub(super) fn lost(&mut self) {
        self.begun = None;
        empty(&mut self.carried);
        self.decoder.forget();
    }

    pub(super) fn held_bytes(&self) -> usize {
        of_vec(&self.carried) + self.head.held_bytes() + self.decoder.held_bytes()
    }

    /// The block that this frame belongs to, with the frame's size; none if its beginning was not seen.
    fn begin_or_go_on(&mut self, frame: &Frame<'_>) -> Option<Begun> {
        let stream = frame::stream(frame.header);
        let before = self.begun.take();
        let is_continued = frame.header[3] == CONTINUATION;
        if before.as_ref().is_some_and(|it| !is_continued || it.stream != stream)
            || before.is_none() && is_continued
        {
            self.lost();
        }
        let mut begun = match frame.header[3] {
            CONTINUATION => before.filter(|it| it.stream == stream)?,
            HEADERS | PUSH_PROMISE => Begun {
                stream,
                start_ns: frame.start_ns,
                size: 0,
                ends_stream: frame::ends_stream(frame.header),
                is_promise: frame.header[3] == PUSH_PROMISE,
                whole: true,
            },
            _ => return None,
        };
        begun.size += frame.size();
        Some(begun)
    }
}
