//! One TCP connection: two streams, and the parser that reads them.

mod belonging;

use crate::closed::{End, Ends};
use crate::context::{Context, Place};
use crate::frame::Segment;
use crate::memory::of_box;
use crate::pairing::Clue;
use crate::parser::{Gap, Parser};
use crate::preamble::Preamble;
use crate::sink::{EventKind, Side};
use crate::tcp::{Arrival, Data, LATEST_NS, Piece, Placed, Stream};
use crate::turns::Turns;
use crate::{Protocol, tls};

/// Bytes that fill a hole later than this were sent again; sooner, they only took another way.
/// (Wireshark's rule, without its estimate of the round trip.)
const SENT_AGAIN_NS: i64 = 3_000_000;

/// No more than this part of the memory waits behind the holes of one stream.
const WAITING_PART: usize = 32;

/// Of a connection that is seen from its middle, so many packets are looked at for TLS.
const LOOKED_AT: u8 = 16;

/// A connection in progress.
pub(crate) struct Connection {
    pub place: Place,
    /// The number of the last frame.
    pub last_seen: i64,
    /// Its time.
    pub last_seen_ns: i64,
    /// It was seen to be opened.
    from_start: bool,
    /// When the client's first SYN was sent, and how often it came again.
    syn_ns: i64,
    syns_again: u32,
    client: Half,
    server: Half,
    /// None once it is over, or where it was not seen.
    preamble: Option<Preamble>,
    /// So many more packets may show that it is encrypted, as its beginning was not seen.
    may_be_tls: u8,
    /// None until there is something to read: most of a flood of connections never says anything.
    parser: Option<Box<dyn Parser>>,
    held_bytes: usize,
}

#[derive(Default)]
struct Half {
    stream: Stream,
    /// The sequence number of the SYN.
    syn: Option<u32>,
    last_byte_ns: i64,
    /// When all of it had come, and that it was the last.
    ended_ns: Option<i64>,
}

/// One direction as it is read.
struct Reading<'a> {
    from: Side,
    from_start: bool,
    last_byte_ns: &'a mut i64,
    preamble: &'a mut Option<Preamble>,
    may_be_tls: &'a mut u8,
    parser: &'a mut Option<Box<dyn Parser>>,
}

impl Connection {
    /// A connection of which this is the first segment.
    pub(crate) fn new(place: Place, first: &Segment<'_>, cx: &mut Context<'_>) -> Self {
        let held_bytes = of_box::<Self>();
        cx.shared.memory.changed(0, held_bytes);
        Self {
            place,
            last_seen: 0,
            last_seen_ns: 0,
            from_start: first.syn,
            syn_ns: 0,
            syns_again: 0,
            client: Half::default(),
            server: Half::default(),
            preamble: first.syn.then(Preamble::default),
            may_be_tls: if first.syn { 0 } else { LOOKED_AT },
            parser: None,
            held_bytes,
        }
    }

    /// True once either side said anything.
    pub(crate) fn has_spoken(&self) -> bool {
        self.parser.is_some()
    }

    /// What is remembered of it.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Takes a segment. Returns false once the connection is over.
    pub(crate) fn segment(
        &mut self,
        from: Side,
        at_ns: i64,
        segment: &Segment<'_>,
        cx: &mut Context<'_>,
    ) -> bool {
        self.last_seen_ns = at_ns;
        if segment.syn {
            self.synchronise(from, at_ns, segment, cx);
        }
        if let Some(acknowledgment) = segment.acknowledgment {
            self.acknowledge(from, at_ns, acknowledgment, cx);
        }
        self.data(from, at_ns, segment, cx);
        self.count_memory(cx);
        let has_ended = |half: &Half| half.ended_ns.is_some();
        let is_over = segment.rst || (has_ended(&self.client) && has_ended(&self.server));
        !is_over
    }

    /// Nothing more of this connection will be seen.
    pub(crate) fn finish(&mut self, cx: &mut Context<'_>) {
        // No reply comes from who has said its last.
        cx.closed_ns = self.server.ended_ns.or(cx.closed_ns);
        for from in [Side::Client, Side::Server] {
            let (stream, mut reading) = self.half(from);
            stream.finish(&mut |piece| reading.hand_on(piece, cx));
            reading.begin(cx);
        }
        if let Some(parser) = &mut self.parser {
            parser.finish(cx);
        }
        cx.shared.memory.changed(self.held_bytes, 0);
        cx.clue(|_, place| Clue::Closed { connection: place.connection });
    }

    /// How far the two sides got; `reset` is the one that broke off.
    pub(crate) fn ends(&self, reset: Option<Side>) -> Ends {
        let end = |half: &Half, side| {
            End::of(&half.stream, half.ended_ns.is_some() || reset == Some(side))
        };
        Ends { client: end(&self.client, Side::Client), server: end(&self.server, Side::Server) }
    }

    fn count_memory(&mut self, cx: &mut Context<'_>) {
        let parser = self.parser.as_ref().map_or(0, |it| it.held_bytes())
            + self.preamble.as_ref().map_or(0, Preamble::held_bytes);
        let streams = self.client.stream.held_bytes() + self.server.stream.held_bytes();
        let held_bytes = of_box::<Self>() + streams + parser;
        cx.shared.memory.changed(self.held_bytes, held_bytes);
        self.held_bytes = held_bytes;
    }

    fn half(&mut self, from: Side) -> (&mut Stream, Reading<'_>) {
        let half = match from {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        let (from_start, parser) = (self.from_start, &mut self.parser);
        let (preamble, last_byte_ns) = (&mut self.preamble, &mut half.last_byte_ns);
        let may_be_tls = &mut self.may_be_tls;
        (&mut half.stream, Reading { from, from_start, last_byte_ns, preamble, may_be_tls, parser })
    }

    fn synchronise(&mut self, from: Side, at_ns: i64, segment: &Segment<'_>, cx: &mut Context<'_>) {
        let half = match from {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        let is_again = half.syn.replace(segment.sequence).is_some();
        if half.stream.place(segment.sequence) == Placed::Unknown {
            half.stream.open(segment.sequence);
        }
        match (from, is_again) {
            (Side::Client, false) => self.syn_ns = at_ns,
            (Side::Client, true) => {
                self.syns_again += 1;
                let (first_ns, attempt) = (self.syn_ns, self.syns_again);
                cx.event(at_ns, EventKind::SynRetransmission { first_ns, attempt });
            }
            (Side::Server, _) => {}
        }
    }

    fn acknowledge(&mut self, from: Side, at_ns: i64, acknowledgment: u32, cx: &mut Context<'_>) {
        let of = match from {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        };
        let (stream, mut reading) = self.half(of);
        stream.acknowledged(acknowledgment, at_ns, &mut |piece| reading.hand_on(piece, cx));
    }

    fn data(&mut self, from: Side, at_ns: i64, segment: &Segment<'_>, cx: &mut Context<'_>) {
        // A SYN takes a sequence number of its own, before the first byte.
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let data =
            Data { at_ns, bytes: segment.payload, length: segment.length, ends: segment.tells_end };
        let room = cx.shared.memory.part(WAITING_PART);
        let (stream, mut reading) = self.half(from);
        let arrival = stream.segment(sequence, data, room, &mut |piece| reading.hand_on(piece, cx));
        if segment.fin {
            stream.end_at(sequence.wrapping_add(segment.length));
        }
        if stream.is_over() {
            self.end(from, at_ns, cx);
        }
        let (bytes, captured_before) = match arrival {
            Arrival::Repeated { bytes } => (bytes, true),
            Arrival::Filled { after_ns } if (SENT_AGAIN_NS..LATEST_NS).contains(&after_ns) => {
                (segment.length, false)
            }
            _ => return,
        };
        let bytes = u64::from(bytes);
        cx.event(at_ns, EventKind::Retransmission { from, bytes, captured_before });
    }

    fn end(&mut self, from: Side, at_ns: i64, cx: &mut Context<'_>) {
        let half = match from {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        if half.ended_ns.is_some() {
            return;
        }
        half.ended_ns = Some(at_ns);
        if let Some(parser) = &mut self.parser {
            let last_byte_ns = half.last_byte_ns;
            cx.closed_ns = self.server.ended_ns;
            parser.ended(from, last_byte_ns, cx);
        }
    }
}

impl Reading<'_> {
    fn hand_on(&mut self, piece: Piece<'_>, cx: &mut Context<'_>) {
        let from = self.from;
        match piece {
            Piece::Bytes { at_ns, bytes } => {
                *self.last_byte_ns = at_ns;
                let rest = match self.preamble {
                    Some(preamble) if from == Side::Client => preamble.rest(at_ns, bytes),
                    _ => Some(bytes),
                };
                let Some(rest) = rest else { return };
                self.begin(cx);
                if !rest.is_empty() {
                    self.read(from, at_ns, rest, cx);
                }
            }
            Piece::Cut { at_ns, bytes, ends } => {
                *self.last_byte_ns = at_ns;
                let bytes = u64::from(bytes);
                self.lose(Gap { at_ns: Some(at_ns), seen_ns: at_ns, bytes, ends }, cx);
            }
            Piece::Lost { at_ns, bytes } => {
                let known = if bytes < 1 << 31 { u64::from(bytes) } else { 0 };
                cx.event(at_ns, EventKind::Gap { from, bytes: known });
                let bytes = u64::from(bytes);
                self.lose(Gap { at_ns: None, seen_ns: at_ns, bytes, ends: false }, cx);
            }
        }
    }

    /// No preamble comes any more; what the client said instead of one goes first. (A server may greet
    /// before there is any.)
    fn begin(&mut self, cx: &mut Context<'_>) {
        let is_over = |it: &mut Preamble| self.from == Side::Client || !it.begun.is_empty();
        if let Some(Preamble { begun, begun_ns, .. }) = self.preamble.take_if(is_over)
            && !begun.is_empty()
        {
            self.read(Side::Client, begun_ns, &begun, cx);
        }
    }

    fn read(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        let is_tls = self.shows_tls(bytes, cx);
        let parser = self.parser(cx);
        if !is_tls {
            parser.bytes(from, at_ns, bytes, cx);
        }
        if let Some(reason) = if is_tls { Some(tls::NAME) } else { parser.other() } {
            parser.finish(cx);
            cx.event(at_ns, EventKind::Opaque { reason });
            *parser = Box::new(Turns::labelled(reason));
            parser.bytes(from, at_ns, bytes, cx);
        }
    }

    /// True once, if these bytes are TLS' and the connection's beginning was not seen.
    fn shows_tls(&mut self, bytes: &[u8], cx: &Context<'_>) -> bool {
        if *self.may_be_tls == 0 {
            return false;
        }
        *self.may_be_tls -= 1;
        // Of other bytes no more is read than when they came.
        let is_read = cx.shared.servers[cx.place.server].protocol != Protocol::Tcp;
        let is_tls = is_read && tls::is_records(bytes);
        if is_tls {
            *self.may_be_tls = 0;
        }
        is_tls
    }

    fn lose(&mut self, gap: Gap, cx: &mut Context<'_>) {
        self.begin(cx);
        let from = self.from;
        self.parser(cx).lost(from, gap, cx);
    }

    fn parser(&mut self, cx: &Context<'_>) -> &mut Box<dyn Parser> {
        let protocol = cx.shared.servers[cx.place.server].protocol;
        self.parser.get_or_insert_with(|| protocol.parser(self.from_start))
    }
}
