//! The binary protocol: a header of 24 bytes before each command and each reply, with a key
//! (`opaque`) that the reply gives back.

use super::opcode;
use super::status;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::framed::{self, Frames};
use crate::key;
use crate::parser::Gap;
use crate::pipeline::{Awaits, Pipeline, Reply};
use crate::sink::Side;

pub(super) const HEADER: usize = 24;
pub(super) const REQUEST: u8 = 0x80;
pub(super) const REPLY: u8 = 0x81;

/// Of a command extras and key are read.
const KEPT: usize = 512;

/// A longer body is none: servers store items of up to 1 GiB.
const LONGEST: usize = (1 << 30) + KEPT;

type Frame<'a> = framed::Frame<'a, HEADER>;

/// What a reply gives back of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    opcode: u8,
    opaque: [u8; 4],
}

impl Marks {
    fn of(header: [u8; HEADER]) -> Self {
        let [.., a, b, c, d, _, _, _, _, _, _, _, _] = header;
        Self { opcode: header[1], opaque: [a, b, c, d] }
    }
}

impl Awaits for Marks {
    type Told = Self;

    fn takes(&self, told: &Self) -> bool {
        self == told
    }

    fn silence(&self) -> Option<i32> {
        opcode::is_quiet(self.opcode).then(|| match opcode::is_get(self.opcode) {
            true => status::KEY_NOT_FOUND,
            false => status::OK,
        })
    }
}

/// A connection that speaks it.
pub(super) struct Binary {
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    pipeline: Pipeline<Marks>,
    /// A reply may begin: the client said something since the server did.
    is_asked: bool,
    /// Statistics are told in several frames; when the first one began, and their bytes.
    told: Option<(i64, u64)>,
}

impl Binary {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            requests: Frames::new(measure_request, KEPT, from_start),
            replies: Frames::new(measure_reply, 0, from_start),
            pipeline: Pipeline::new(from_start),
            is_asked: false,
            told: None,
        }
    }

    pub(super) fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => self.request_bytes(at_ns, bytes, cx),
            Side::Server => self.reply_bytes(at_ns, bytes, cx),
        }
    }

    pub(super) fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => match self.requests.skip_of_request(gap) {
                Some(at_ns) => self.requests_of(at_ns, &[], cx),
                None => self.pipeline.lost_requests(),
            },
            Side::Server => match (self.replies.skip(gap.at_ns, gap.bytes), gap.at_ns) {
                (true, Some(at_ns)) => self.replies_of(at_ns, &[], cx),
                (true, None) => {}
                (false, _) => self.lost_replies(gap.seen_ns, cx),
            },
        }
    }

    pub(super) fn finish(&mut self, cx: &mut Context<'_>) {
        self.pipeline.abandon(cx);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.requests.held_bytes() + self.replies.held_bytes() + self.pipeline.held_bytes()
    }

    fn request_bytes(&mut self, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        self.is_asked = true;
        if self.requests.is_lost() && looks_like(REQUEST, bytes) {
            self.requests.resume();
        }
        if !self.requests.is_lost() && self.requests.in_progress() == 0 {
            self.pipeline.asks(cx);
        }
        self.requests_of(at_ns, bytes, cx);
    }

    fn requests_of(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let was_lost = self.requests.is_lost();
        while let Some(frame) = self.requests.next(at_ns, &mut bytes) {
            request(&frame, &mut self.pipeline, cx);
        }
        if self.requests.is_lost() && !was_lost {
            self.pipeline.lost_requests();
        }
    }

    fn reply_bytes(&mut self, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        let may_begin = std::mem::take(&mut self.is_asked);
        if self.replies.is_lost() && may_begin && looks_like(REPLY, bytes) {
            self.replies.resume();
        }
        self.replies_of(at_ns, bytes, cx);
    }

    fn replies_of(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let was_lost = self.replies.is_lost();
        while let Some(frame) = self.replies.next(at_ns, &mut bytes) {
            reply(&frame, &mut self.told, &mut self.pipeline, cx);
        }
        if self.replies.is_lost() && !was_lost {
            self.lost_replies(at_ns, cx);
        }
    }

    fn lost_replies(&mut self, seen_ns: i64, cx: &mut Context<'_>) {
        self.told = None;
        self.pipeline.lost_replies(seen_ns, cx);
    }
}

fn request(frame: &Frame<'_>, pipeline: &mut Pipeline<Marks>, cx: &mut Context<'_>) {
    let (times, size) = ((frame.start_ns, frame.end_ns), frame.size());
    let marks = Marks::of(frame.header);
    let name = opcode::name(marks.opcode);
    cx.message(Side::Client, times, size, if frame.whole { name } else { "cut" });
    let label = cx.shared.labels.number(name);
    let mut exchange = Exchange::new(times.0, times.1, size, label, marks);
    let (extras, key) = (usize::from(frame.header[4]), key_length(frame.header));
    if let Some(key) = frame.prefix.get(extras..extras + key) {
        key::literals(key, &cx.shared.salt, &mut exchange.literals);
    }
    if marks.opcode == opcode::QUITQ {
        cx.visit(&exchange, None);
    } else {
        pipeline.push(exchange, cx);
    }
}

fn reply(
    frame: &Frame<'_>,
    told: &mut Option<(i64, u64)>,
    pipeline: &mut Pipeline<Marks>,
    cx: &mut Context<'_>,
) {
    let marks = Marks::of(frame.header);
    let (end_ns, size) = (frame.end_ns, frame.size());
    cx.message(Side::Server, (frame.start_ns, end_ns), size, opcode::name(marks.opcode));
    let (start_ns, bytes) = told.take().unwrap_or((frame.start_ns, 0));
    let bytes = bytes + size;
    if marks.opcode == opcode::STAT && key_length(frame.header) > 0 {
        *told = Some((start_ns, bytes));
        return;
    }
    let status = i32::from(u16::from_be_bytes([frame.header[6], frame.header[7]]));
    pipeline.replied(&Reply { start_ns, end_ns, bytes, status, told: marks }, cx);
}

fn key_length(header: [u8; HEADER]) -> usize {
    usize::from(u16::from_be_bytes([header[2], header[3]]))
}

fn measure_request(header: [u8; HEADER]) -> Option<usize> {
    measure(REQUEST, header)
}

fn measure_reply(header: [u8; HEADER]) -> Option<usize> {
    measure(REPLY, header)
}

/// The length of the body; none if it is no header.
fn measure(magic: u8, header: [u8; HEADER]) -> Option<usize> {
    let length = u32::from_be_bytes([header[8], header[9], header[10], header[11]]) as usize;
    let is_one = header[0] == magic && header[5] == 0 && opcode::is_known(header[1]);
    let fits = (key_length(header) + usize::from(header[4])..=LONGEST).contains(&length);
    (is_one && fits).then_some(length)
}

/// True if a packet that begins so begins with a command or a reply.
pub(super) fn looks_like(magic: u8, bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|&header| measure(magic, header).is_some())
}
