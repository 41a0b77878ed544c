//! Reassembly of one direction by sequence numbers (RFC 9293 section 3.4).
//!
//! In-order bytes are handed on where they lie. What comes early is copied and waits. A hole is
//! given up as lost once its receiver has acknowledged it (so it went by unseen), or once too much
//! waits behind it (so acknowledgments are not captured). Where the sender goes on elsewhere, the
//! stream does too: what lies between was not captured.

use super::waiting::Waiting;

/// No more than this is under way between two hosts (Linux lets a receiver's buffer grow to 6 MiB):
/// what lies farther off is no hole and nothing that was sent again.
pub(crate) const NEAR: u32 = 16 << 20;

/// Sequence numbers that are this much ahead are behind.
const BEHIND: u32 = 1 << 31;

/// No segment comes later than this after the ones behind it (Linux sends again for a quarter of an
/// hour). Where time goes back farther, it was wrong.
pub(crate) const LATEST_NS: i64 = 900_000_000_000;

/// What is handed on, in the stream's order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// The next bytes. Times never go back: early bytes count from when the hole was filled.
    Bytes { at_ns: i64, bytes: &'a [u8] },
    /// The next bytes were not captured. If they are more than half of all sequence numbers, the
    /// stream went back instead, and how many are missing is not known.
    Lost { at_ns: i64, bytes: u32 },
    /// The next bytes were cut off by the capture's snap length. `ends` is [`Data::ends`].
    Cut { at_ns: i64, bytes: u32, ends: bool },
}

/// What a segment brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data<'a> {
    pub at_ns: i64,
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// How much it was.
    pub length: u32,
    /// The capture's filter saw a reply's end in the part that it cut off.
    pub ends: bool,
}

impl Data<'_> {
    /// Without its first bytes.
    fn from(self, first: u32) -> Self {
        let bytes = self.bytes.get(first as usize..).unwrap_or(&[]);
        Self { bytes, length: self.length - first, ..self }
    }
}

/// How a segment stood to the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It continued the stream, or carried nothing.
    InOrder,
    /// It came before its predecessor.
    Early,
    /// It brought what was missing, this long after the hole was seen.
    Filled { after_ns: i64 },
    /// This many of its bytes were known already.
    Repeated { bytes: u32 },
}

/// Where a sequence number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Nobody knows where the stream stands.
    Unknown,
    /// It is the next one.
    Next,
    /// It may be a late one, or an early one.
    Near,
    /// It is not one of this stream, or much of the stream was not captured.
    Far,
}

/// One direction of a connection.
#[derive(Default)]
pub(crate) struct Stream {
    /// The sequence number of the next byte; none until one is known.
    next: Option<u32>,
    waiting: Waiting,
    hole_since_ns: i64,
    last_ns: i64,
    end: Option<u32>,
}

impl Stream {
    /// Starts at the byte after a SYN with this sequence number.
    pub(crate) fn open(&mut self, syn: u32) {
        self.next = Some(syn.wrapping_add(1));
    }

    /// Where a sequence number lies.
    pub(crate) fn place(&self, sequence: u32) -> Placed {
        let Some(next) = self.next else { return Placed::Unknown };
        let (ahead, behind) = (sequence.wrapping_sub(next), next.wrapping_sub(sequence));
        match ahead.min(behind) {
            0 => Placed::Next,
            1..=NEAR => Placed::Near,
            _ => Placed::Far,
        }
    }

    /// True if a sequence number is the next one or lies behind it, however far; none if nobody knows
    /// where the stream stands.
    pub(crate) fn is_ahead(&self, sequence: u32) -> Option<bool> {
        self.next.map(|next| sequence.wrapping_sub(next) < BEHIND)
    }

    /// True if a sequence number lies behind the FIN.
    pub(crate) fn is_behind_end(&self, sequence: u32) -> bool {
        self.end.is_some_and(|end| (1..BEHIND).contains(&sequence.wrapping_sub(end)))
    }

    /// The sequence number after the last one, that of the FIN among them.
    pub(crate) fn reached(&self) -> Option<u32> {
        self.next.map(|next| next.wrapping_add(u32::from(self.is_over())))
    }

    /// The stream ends at this sequence number (that of the FIN).
    pub(crate) fn end_at(&mut self, sequence: u32) {
        self.end = Some(sequence);
    }

    /// True once every byte up to the FIN was handed on or given up.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some() && self.end == self.next
    }

    /// Takes a segment. No more than `room` bytes may wait behind a hole from now on.
    pub(crate) fn segment(
        &mut self,
        sequence: u32,
        data: Data<'_>,
        room: usize,
        on: &mut impl FnMut(Piece<'_>),
    ) -> Arrival {
        let next = *self.next.get_or_insert(sequence);
        let ahead = sequence.wrapping_sub(next);
        if data.length == 0 {
            return Arrival::InOrder;
        }
        if ahead == 0 {
            let hole = !self.waiting.is_empty();
            self.hand_on(data, on);
            if !hole {
                return Arrival::InOrder;
            }
            let after_ns = data.at_ns - self.hole_since_ns;
            self.hand_on_waiting(data.at_ns, on);
            return Arrival::Filled { after_ns };
        }
        let behind = next.wrapping_sub(sequence);
        if ahead <= NEAR {
            if self.waiting.is_empty() {
                self.hole_since_ns = data.at_ns;
            }
            self.waiting.add(next, sequence, data);
            while self.waiting.is_too_much(room) {
                self.give_up_hole(data.at_ns, on);
            }
            return Arrival::Early;
        }
        if behind <= NEAR {
            return self.repeated(behind, data, on);
        }
        self.jump(sequence, data, on);
        Arrival::InOrder
    }

    /// What is remembered, beside the stream itself.
    pub(crate) fn held_bytes(&self) -> usize {
        self.waiting.held_bytes()
    }

    /// The stream goes on elsewhere.
    fn jump(&mut self, sequence: u32, data: Data<'_>, on: &mut impl FnMut(Piece<'_>)) {
        self.finish(on);
        if let Some(next) = self.next {
            self.lose(data.at_ns, sequence.wrapping_sub(next), on);
        }
        self.hand_on(data, on);
    }

    /// Takes a segment that begins `behind` bytes before what is wanted next.
    fn repeated(&mut self, behind: u32, data: Data<'_>, on: &mut impl FnMut(Piece<'_>)) -> Arrival {
        let length = data.length;
        if behind >= length {
            // A keep-alive probe repeats one byte at most (RFC 9293 section 3.8.4).
            let probe = behind == 1 && length == 1;
            return if probe { Arrival::InOrder } else { Arrival::Repeated { bytes: length } };
        }
        self.hand_on(data.from(behind), on);
        self.hand_on_waiting(data.at_ns, on);
        Arrival::Repeated { bytes: behind }
    }

    /// The receiver has everything before `acknowledgment`: what is missing of it went by unseen.
    pub(crate) fn acknowledged(
        &mut self,
        acknowledgment: u32,
        at_ns: i64,
        on: &mut impl FnMut(Piece<'_>),
    ) {
        // The FIN takes a sequence number of its own, which is no byte.
        let upto = match self.end {
            Some(end) if acknowledgment == end.wrapping_add(1) => end,
            _ => acknowledgment,
        };
        let Some(next) = self.next else {
            self.next = Some(upto);
            return;
        };
        let missing = upto.wrapping_sub(next);
        if missing == 0 || missing >= BEHIND {
            return;
        }
        while let Some(next) = self.next {
            let missing = upto.wrapping_sub(next);
            if missing == 0 || missing >= BEHIND {
                return;
            }
            match self.waiting.first() {
                Some(first) if first.sequence.wrapping_sub(next) <= missing => {
                    self.give_up_hole(at_ns, on);
                }
                _ => self.lose(at_ns, missing, on),
            }
        }
    }

    /// Nothing more will come here: what waits is handed on with its holes.
    pub(crate) fn finish(&mut self, on: &mut impl FnMut(Piece<'_>)) {
        while !self.waiting.is_empty() {
            self.give_up_hole(self.last_ns, on);
        }
    }

    fn give_up_hole(&mut self, at_ns: i64, on: &mut impl FnMut(Piece<'_>)) {
        if let (Some(first), Some(next)) = (self.waiting.first(), self.next) {
            let missing = first.sequence.wrapping_sub(next);
            // What waited was not late: the hole was only seen to be one at its own time.
            self.lose(first.at_ns, missing, on);
            self.hand_on_waiting(at_ns, on);
        }
    }

    fn lose(&mut self, at_ns: i64, bytes: u32, on: &mut impl FnMut(Piece<'_>)) {
        self.next = self.next.map(|next| next.wrapping_add(bytes));
        on(Piece::Lost { at_ns: self.time(at_ns), bytes });
    }

    fn hand_on(&mut self, data: Data<'_>, on: &mut impl FnMut(Piece<'_>)) {
        let at_ns = self.time(data.at_ns);
        self.next = self.next.map(|next| next.wrapping_add(data.length));
        let captured = data.bytes.len().min(data.length as usize);
        if captured > 0 {
            on(Piece::Bytes { at_ns, bytes: &data.bytes[..captured] });
        }
        let cut = data.length - captured as u32;
        if cut > 0 {
            on(Piece::Cut { at_ns, bytes: cut, ends: data.ends });
        }
    }

    /// A time that does not go back, but for one that was wrong.
    fn time(&mut self, at_ns: i64) -> i64 {
        if !(0..=LATEST_NS).contains(&(self.last_ns - at_ns)) {
            self.last_ns = at_ns;
        }
        self.last_ns
    }

    /// Hands on what waits and is not early any more.
    fn hand_on_waiting(&mut self, at_ns: i64, on: &mut impl FnMut(Piece<'_>)) {
        while let (Some(first), Some(next)) = (self.waiting.first(), self.next) {
            let behind = next.wrapping_sub(first.sequence);
            if behind >= BEHIND {
                self.hole_since_ns = at_ns;
                return;
            }
            if let Some(segment) = self.waiting.take_first()
                && behind < segment.length
            {
                self.hand_on(segment.data().from(behind), on);
            }
        }
    }
}
