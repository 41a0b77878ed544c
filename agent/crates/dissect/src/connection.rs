//! One TCP connection: two streams, and the parser that reads them.

use crate::context::{Context, Place};
use crate::frame::Segment;
use crate::parser::{Gap, Parser};
use crate::sink::{Happening, Side};
use crate::tcp::{Arrival, Data, Piece, Stream};

/// Bytes that fill a hole later than this were sent again; sooner, they only took another way.
/// (Wireshark's rule, without its estimate of the round trip.)
const SENT_AGAIN_NS: i64 = 3_000_000;

/// A connection in progress.
pub(crate) struct Connection {
    pub place: Place,
    /// The sequence number and time of the client's first SYN, and how often it came again.
    syn: Option<(u32, i64, u32)>,
    /// True once the server sent anything.
    pub answered: bool,
    pub last_ns: i64,
    client: Half,
    server: Half,
    parser: Box<dyn Parser>,
}

#[derive(Default)]
struct Half {
    stream: Stream,
    last_byte_ns: i64,
    ended: bool,
}

impl Connection {
    pub(crate) fn new(place: Place, parser: Box<dyn Parser>, at_ns: i64) -> Self {
        Self {
            place,
            syn: None,
            answered: false,
            last_ns: at_ns,
            client: Half::default(),
            server: Half::default(),
            parser,
        }
    }

    /// True if a SYN with this sequence number opens another connection on the same ports.
    pub(crate) fn is_replaced_by(&self, syn: u32) -> bool {
        self.syn.is_none_or(|(known, ..)| known != syn)
    }

    /// Takes a segment. Returns false once the connection is over.
    pub(crate) fn segment(
        &mut self,
        from: Side,
        at_ns: i64,
        segment: &Segment<'_>,
        cx: &mut Context<'_>,
    ) -> bool {
        self.last_ns = at_ns;
        self.answered |= from == Side::Server;
        let waited = self.waiting_bytes();
        if segment.syn {
            self.synchronise(from, at_ns, segment, cx);
        }
        if let Some(acknowledgment) = segment.acknowledgment {
            self.acknowledge(from, at_ns, acknowledgment, cx);
        }
        self.data(from, at_ns, segment, cx);
        cx.shared.waiting.changed(waited, self.waiting_bytes());
        if segment.rst {
            return false;
        }
        !(self.client.ended && self.server.ended)
    }

    /// Nothing more of this connection will be seen.
    pub(crate) fn finish(&mut self, cx: &mut Context<'_>) {
        cx.shared.waiting.changed(self.waiting_bytes(), 0);
        for from in [Side::Client, Side::Server] {
            let (half, parser) = self.half(from);
            let last = &mut half.last_byte_ns;
            half.stream.finish(&mut |piece| hand_on(parser, from, piece, last, cx));
        }
        self.parser.finish(cx);
        cx.shared.pairing.closed(self.place.connection);
    }

    fn waiting_bytes(&self) -> usize {
        self.client.stream.waiting_bytes() + self.server.stream.waiting_bytes()
    }

    fn half(&mut self, from: Side) -> (&mut Half, &mut dyn Parser) {
        match from {
            Side::Client => (&mut self.client, self.parser.as_mut()),
            Side::Server => (&mut self.server, self.parser.as_mut()),
        }
    }

    fn synchronise(&mut self, from: Side, at_ns: i64, segment: &Segment<'_>, cx: &mut Context<'_>) {
        if from == Side::Client {
            if let Some((_, first_ns, again)) = &mut self.syn {
                *again += 1;
                let (first_ns, attempt) = (*first_ns, *again);
                cx.event(at_ns, Happening::SynRetransmission { first_ns, attempt });
            } else {
                self.syn = Some((segment.sequence, at_ns, 0));
            }
        }
        let (half, _) = self.half(from);
        if half.stream.is_unknown() {
            half.stream.open(segment.sequence);
        }
    }

    fn acknowledge(&mut self, from: Side, at_ns: i64, acknowledgment: u32, cx: &mut Context<'_>) {
        let of = match from {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let (half, parser) = self.half(of);
        let last = &mut half.last_byte_ns;
        half.stream.acknowledged(acknowledgment, at_ns, &mut |piece| {
            hand_on(parser, of, piece, last, cx);
        });
    }

    fn data(&mut self, from: Side, at_ns: i64, segment: &Segment<'_>, cx: &mut Context<'_>) {
        // A SYN takes a sequence number of its own, before the first byte.
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let data =
            Data { at_ns, bytes: segment.payload, length: segment.length, ends: segment.tells_end };
        let (half, parser) = self.half(from);
        let last = &mut half.last_byte_ns;
        let room = cx.shared.waiting.room(half.stream.waiting_bytes());
        let arrival = half
            .stream
            .segment(sequence, data, room, &mut |piece| hand_on(parser, from, piece, last, cx));
        if segment.fin {
            half.stream.end_at(sequence.wrapping_add(segment.length));
        }
        if half.stream.is_over() && !half.ended {
            half.ended = true;
            parser.ended(from, half.last_byte_ns, cx);
        }
        let bytes = match arrival {
            Arrival::Repeated { bytes } => bytes,
            Arrival::Filled { after_ns } if after_ns >= SENT_AGAIN_NS => segment.length,
            _ => return,
        };
        cx.event(at_ns, Happening::Retransmission { from, bytes: u64::from(bytes) });
    }
}

fn hand_on(
    parser: &mut dyn Parser,
    from: Side,
    piece: Piece<'_>,
    last_byte_ns: &mut i64,
    cx: &mut Context<'_>,
) {
    match piece {
        Piece::Bytes { at_ns, bytes } => {
            *last_byte_ns = at_ns;
            parser.bytes(from, at_ns, bytes, cx);
        }
        Piece::Cut { at_ns, bytes, ends } => {
            *last_byte_ns = at_ns;
            parser.lost(from, Gap { at_ns: Some(at_ns), bytes: u64::from(bytes), ends }, cx);
        }
        Piece::Lost { at_ns, bytes } => {
            cx.event(at_ns, Happening::Gap { from, bytes: u64::from(bytes) });
            parser.lost(from, Gap { at_ns: None, bytes: u64::from(bytes), ends: false }, cx);
        }
    }
}
