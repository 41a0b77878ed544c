//! HTTP/2 without TLS (RFC 9113), by prior knowledge, as services speak it with each other. Many
//! requests are under way side by side: each frame says whose it is. The fields of requests and replies
//! refer to what was said before (HPACK, RFC 7541): after a loss some of them are not known.
//!
//! Pushed replies are read over. `Upgrade: h2c`, which RFC 9113 took out, is not read.

mod block;
mod field;
mod frame;
mod head;
mod hpack;
mod losses;
mod primitive;
mod streams;
mod table;

use crate::context::Context;
use crate::framed::{self, Frames};
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
use crate::tls;
use block::Blocks;
use frame::*;
use streams::Streams;

type Frame<'a> = framed::Frame<'a, HEADER>;

/// Header blocks, and forms, are read up to this length.
const LONGEST: usize = 64 << 10;

/// One side of a connection.
struct Direction {
    frames: Frames<HEADER>,
    blocks: Blocks,
}

impl Direction {
    fn new(from_start: bool) -> Self {
        let frames = Frames::new(measure, LONGEST, from_start);
        Self { frames, blocks: Blocks::new() }
    }

    fn keeping(self, keep_of: framed::Keep<HEADER>) -> Self {
        Self { frames: self.frames.keeping(keep_of), ..self }
    }

    /// Takes up a lost stream where a packet begins with a frame. True if it does.
    fn resume(&mut self, bytes: &[u8]) -> bool {
        let resumes = self.frames.is_lost() && looks_like_frames(bytes);
        if resumes {
            self.frames.resume();
        }
        resumes
    }

    fn held_bytes(&self) -> usize {
        self.frames.held_bytes() + self.blocks.held_bytes()
    }
}

/// A connection that speaks HTTP/2.
pub(crate) struct Http2 {
    requests: Direction,
    replies: Direction,
    streams: Streams,
    /// How much of the client's preface is still to come.
    preface: &'static [u8],
    other: Option<&'static str>,
}

impl Parser for Http2 {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Direction::new(from_start),
            replies: Direction::new(from_start).keeping(keep_of_reply),
            streams: Streams::default(),
            preface: if from_start { PREFACE } else { &[] },
            other: None,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                if !self.preface.is_empty() && !self.take_preface(&mut bytes) {
                    return;
                }
                if self.requests.resume(bytes) {
                    // Content may look like frames, too (see [`crate::surmised`]).
                    self.requests.frames.measure = measure_request;
                    self.streams.surmise();
                }
                self.request_bytes(at_ns, bytes, cx);
            }
            Side::Server => {
                self.replies.resume(bytes);
                self.reply_bytes(at_ns, bytes, cx);
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                let has_begun = self.preface.is_empty();
                self.preface = &[];
                match self.requests.frames.skip_of_request(gap).filter(|_| has_begun) {
                    Some(at_ns) => self.request_bytes(at_ns, &[], cx),
                    None => self.lose_requests(),
                }
            }
            Side::Server => {
                let goes_on = self.replies.frames.skip_of_reply(gap);
                if self.replies.frames.is_lost() {
                    self.streams.doubt(gap.seen_ns);
                    self.replies.blocks.lost();
                } else if let Some(at_ns) = goes_on {
                    self.reply_bytes(at_ns, &[], cx);
                }
            }
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.streams.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.other
    }

    fn held_bytes(&self) -> usize {
        let directions = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + directions + self.streams.held_bytes()
    }
}

impl Http2 {
    fn request_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let Direction { frames, blocks } = &mut self.requests;
        while let Some(frame) = frames.next(at_ns, &mut bytes) {
            request(&frame, blocks, &mut self.streams, cx);
        }
        if self.streams.are_surmised() && self.requests.frames.is_lost() {
            self.lose_requests();
        }
    }

    fn reply_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        // Where the client is in the middle of a frame, it may be none at all.
        let is_whole = self.requests.frames.in_progress() == 0;
        let Direction { frames, blocks } = &mut self.replies;
        while let Some(frame) = frames.next(at_ns, &mut bytes) {
            if is_whole {
                self.streams.believe(stream(frame.header), cx);
            }
            reply(&frame, blocks, &mut self.streams, cx);
        }
        if !self.streams.are_surmised() {
            self.requests.frames.measure = measure;
        }
    }

    fn lose_requests(&mut self) {
        self.requests.frames.lose();
        self.requests.blocks.lost();
        self.streams.forget_surmised();
    }

    /// Takes what of the preface there is; false if these bytes are none.
    fn take_preface(&mut self, bytes: &mut &[u8]) -> bool {
        let taken = self.preface.len().min(bytes.len());
        let (expected, to_come) = self.preface.split_at(taken);
        if bytes[..taken] != *expected {
            let is_tls = bytes.starts_with(&tls::HANDSHAKE);
            self.other = Some(if is_tls { tls::NAME } else { "unknown" });
            return false;
        }
        self.preface = to_come;
        *bytes = &bytes[taken..];
        true
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    client.starts_with(PREFACE) || (looks_like_frames(client) && looks_like_frames(server))
}

/// A frame of the client's.
fn request(frame: &Frame<'_>, blocks: &mut Blocks, streams: &mut Streams, cx: &mut Context<'_>) {
    let kind = frame.header[3];
    let name = if frame.whole { name(kind) } else { "cut" };
    cx.message(Side::Client, (frame.start_ns, frame.end_ns), frame.size(), name);
    match kind {
        HEADERS | CONTINUATION => {
            if let Some(block) = blocks.take(frame) {
                streams.asked(&block, &blocks.head, cx);
            }
        }
        DATA => streams.carried(frame, cx),
        RST_STREAM => streams.given_up(stream(frame.header), cx),
        _ => {}
    }
}

/// A frame of the server's.
fn reply(frame: &Frame<'_>, blocks: &mut Blocks, streams: &mut Streams, cx: &mut Context<'_>) {
    let kind = frame.header[3];
    cx.message(Side::Server, (frame.start_ns, frame.end_ns), frame.size(), name(kind));
    match kind {
        HEADERS | PUSH_PROMISE | CONTINUATION => {
            if let Some(block) = blocks.take(frame) {
                streams.answered(&block, &blocks.head, cx);
            }
        }
        DATA => streams.returned(frame, cx),
        RST_STREAM => streams.reset(stream(frame.header), frame.end_ns, cx),
        GOAWAY => {
            if let Some(last) = last_stream(frame) {
                streams.refused_beyond(last, cx);
            }
        }
        _ => {}
    }
}
