//! The server's direction: replies, and what is pushed between them.

use super::command::Asked;
use super::value::{Begun, Nesting, begun};
use crate::context::Context;
use crate::line::Lines;
use crate::parser::Gap;
use crate::pipeline::{Pipeline, Reply};
use crate::sink::Side;

/// Of a line so much is kept: a kind and a length.
const KEPT: usize = 64;

/// Of the first string in an array so much is kept: the name of what is pushed.
const NAME: usize = 16;

const OK: i32 = 0;
const NULL: i32 = 1;
const ERROR: i32 = 2;

/// What a value is, as far as it tells whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Reply,
    Error,
    /// A channel was subscribed to, or left.
    Confirmation,
}

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a line.
    Line,
    /// In a string, with what is left of it and its line end.
    String(u64),
    /// Nothing is certain until a packet begins with a reply.
    Lost,
}

pub(super) struct Replies {
    state: State,
    lines: Lines,
    nesting: Nesting,
    /// The value in progress: its kind, none before it has begun.
    kind: u8,
    start_ns: i64,
    size: u64,
    is_null: bool,
    /// The beginning of its first part, if that is a string and the value an array or pushed.
    name: [u8; NAME],
    named: usize,
    /// It has parts behind that.
    is_beyond_name: bool,
    /// The last number among its parts is zero.
    is_zero: bool,
    /// The value in progress is a line of a monitor's.
    is_monitored: bool,
    /// The client has subscribed to channels.
    subscribes: bool,
}

impl Replies {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            state: if from_start { State::Line } else { State::Lost },
            lines: Lines::new(KEPT),
            nesting: Nesting::default(),
            kind: 0,
            start_ns: 0,
            size: 0,
            is_null: false,
            name: [0; NAME],
            named: 0,
            is_beyond_name: false,
            is_zero: false,
            is_monitored: false,
            subscribes: false,
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }

    /// `may_begin`: the client spoke last, so that a packet may begin with a reply.
    pub(super) fn bytes(
        &mut self,
        at_ns: i64,
        mut bytes: &[u8],
        may_begin: bool,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        if self.state == State::Lost && may_begin && looks_like_reply(bytes) {
            self.state = State::Line;
        }
        while !bytes.is_empty() {
            match self.state {
                State::Lost => return,
                State::Line => self.line(at_ns, &mut bytes, pipeline, cx),
                State::String(left) => {
                    let taken = (bytes.len() as u64).min(left);
                    let (part, rest) = bytes.split_at(taken as usize);
                    bytes = rest;
                    self.take_name(part);
                    self.string(at_ns, taken, pipeline, cx);
                }
            }
        }
    }

    pub(super) fn lost(&mut self, gap: Gap, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        let State::String(left) = self.state else { return self.lose(gap.seen_ns, pipeline, cx) };
        // The end of the last one must be seen.
        if gap.bytes < left || (gap.bytes == left && (gap.at_ns.is_some() || !self.is_last())) {
            self.string(gap.at_ns.unwrap_or_default(), gap.bytes, pipeline, cx);
        } else {
            self.lose(gap.seen_ns, pipeline, cx);
        }
    }

    fn is_last(&self) -> bool {
        self.nesting.clone().over()
    }

    fn lose(&mut self, seen_ns: i64, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        self.restart();
        self.lines.restart();
        self.state = State::Lost;
        pipeline.lost_replies(seen_ns, cx);
    }

    fn restart(&mut self) {
        self.nesting.clear();
        (self.kind, self.size, self.named) = (0, 0, 0);
        (self.is_null, self.is_beyond_name) = (false, false);
        self.state = State::Line;
    }

    fn line(
        &mut self,
        at_ns: i64,
        bytes: &mut &[u8],
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        let line = match self.lines.next(at_ns, bytes) {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(_) => return self.lose(at_ns, pipeline, cx),
        };
        let Some(what) = begun(line.text) else { return self.lose(at_ns, pipeline, cx) };
        if self.size == 0 {
            self.start_ns = line.start_ns;
        }
        // Attributes go before the value that they are about.
        if self.nesting.depth() == 0 && !matches!(what, Begun::Attributes(_)) {
            self.kind = line.text[0];
            self.is_null = matches!(line.text, b"_" | b"$-1" | b"*-1");
            self.is_monitored = is_monitored(line.text);
        }
        self.size += line.size;
        let entered = match what {
            Begun::Whole => {
                self.is_zero = line.text == b":0";
                self.is_beyond_name = self.kind != 0;
                return self.value_over(at_ns, pipeline, cx);
            }
            Begun::String(length) => {
                self.state = State::String(length + 2);
                return;
            }
            Begun::Values(values) => self.nesting.enter(values, false),
            Begun::Attributes(0) => Ok(()),
            Begun::Attributes(values) => self.nesting.enter(values, true),
        };
        if entered.is_err() {
            self.lose(at_ns, pipeline, cx);
        }
    }

    fn take_name(&mut self, part: &[u8]) {
        if self.kind != 0 && !self.is_beyond_name && self.nesting.depth() == 1 {
            let taken = part.len().min(NAME - self.named);
            self.name[self.named..self.named + taken].copy_from_slice(&part[..taken]);
            self.named += taken;
        }
    }

    /// So much of a string came, or is known to have come.
    fn string(
        &mut self,
        at_ns: i64,
        taken: u64,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.size += taken;
        match &mut self.state {
            State::String(left) if *left > taken => *left -= taken,
            _ => {
                self.is_beyond_name = self.kind != 0;
                self.state = State::Line;
                self.value_over(at_ns, pipeline, cx);
            }
        }
    }

    fn value_over(&mut self, at_ns: i64, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        if self.nesting.over() && self.kind != 0 {
            self.over(at_ns, pipeline, cx);
        }
    }

    /// The value came whole.
    fn over(&mut self, end_ns: i64, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        let (start_ns, bytes) = (self.start_ns, self.size);
        cx.message(Side::Server, (start_ns, end_ns), bytes, name(self.kind));
        let status = match (self.kind, self.is_null) {
            (b'-' | b'!', _) => ERROR,
            (_, true) => NULL,
            _ => OK,
        };
        let told = self.told(pipeline);
        self.restart();
        let Some(told) = told else { return };
        if told == Told::Confirmation
            && let Some(exchange) = pipeline.first()
            && let Asked::Confirmations(due @ 2..) = &mut exchange.detail
        {
            *due -= 1;
            return exchange.reply_grew(start_ns, bytes);
        }
        pipeline.replied(&Reply { start_ns, end_ns, bytes, status, told }, cx);
    }

    /// Whose it may be; none if it is no reply.
    fn told(&mut self, pipeline: &Pipeline<Asked>) -> Option<Told> {
        let words = &self.name[..self.named];
        let word = words.split(|&byte| byte == b'\r').next().unwrap_or(words);
        let is_pushed = self.kind == b'>';
        let awaits = pipeline.awaits_confirmation();
        match (self.kind, word) {
            (
                b'*' | b'>',
                b"subscribe" | b"psubscribe" | b"ssubscribe" | b"unsubscribe" | b"punsubscribe"
                | b"sunsubscribe",
            ) if is_pushed || self.subscribes || awaits => {
                self.subscribes = !self.is_zero;
                // Of leaving all channels the first one is the reply.
                awaits.then_some(Told::Confirmation)
            }
            (b'*', b"message" | b"pmessage" | b"smessage") if self.subscribes => None,
            _ if is_pushed || self.is_monitored => None,
            (b'-' | b'!', _) => Some(Told::Error),
            _ => Some(Told::Reply),
        }
    }
}

/// A command as a monitor is told of it: the time, database and client, and its words.
fn is_monitored(line: &[u8]) -> bool {
    let after = line.strip_prefix(b"+").unwrap_or_default();
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits >= 9 && after[digits..].first() == Some(&b'.')
}

fn name(kind: u8) -> &'static str {
    match kind {
        b'+' => "simple string",
        b'-' => "error",
        b':' => "integer",
        b'$' => "bulk string",
        b'*' => "array",
        b'_' => "null",
        b'#' => "boolean",
        b',' => "double",
        b'(' => "big number",
        b'!' => "bulk error",
        b'=' => "verbatim string",
        b'%' => "map",
        b'~' => "set",
        _ => "push",
    }
}

/// True if a packet that begins so begins with a value.
pub(super) fn looks_like_reply(bytes: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', bytes) else { return false };
    bytes[..end].strip_suffix(b"\r").is_some_and(|line| begun(line).is_some())
}
