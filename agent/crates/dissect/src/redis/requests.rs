//! The client's direction: arrays of strings, or a line of words.

use super::command::{Asked, Command, LONGEST, Replies};
use super::value::count;
use crate::context::Context;
use crate::exchange::Exchange;
use crate::line::Lines;
use crate::memory::of_vec;
use crate::parser::Gap;
use crate::pipeline::Pipeline;
use crate::sink::Side;
use crate::tls;

/// Of a line so much is kept.
const KEPT: usize = 1 << 10;

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in the line with which a command begins.
    First,
    /// Before or in the line that tells a word's length; so many words are due.
    Length(u64),
    /// In a word, with what is left of it and its line end; it is among those that are due.
    Word(u64, u64),
    /// Nothing is certain until a packet begins with a command.
    Lost,
}

pub(super) struct Requests {
    state: State,
    lines: Lines,
    command: Command,
    /// Of the word in progress, as far as a packet's end cut it.
    word: Vec<u8>,
    is_damaged: bool,
    /// What is lost of it is its end.
    lacks_end: bool,
    start_ns: i64,
    size: u64,
    last_ns: i64,
    replies: Replies,
    /// A command was read, or the connection's beginning was not seen.
    has_begun: bool,
    other: Option<&'static str>,
}

impl Requests {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            state: if from_start { State::First } else { State::Lost },
            lines: Lines::new(KEPT),
            command: Command::default(),
            word: Vec::new(),
            is_damaged: false,
            lacks_end: false,
            start_ns: 0,
            size: 0,
            last_ns: 0,
            replies: Replies::On,
            has_begun: !from_start,
            other: None,
        }
    }

    /// Why the connection's bytes are not RESP.
    pub(super) fn other(&self) -> Option<&'static str> {
        self.other
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.lines.held_bytes() + of_vec(&self.word)
    }

    pub(super) fn bytes(
        &mut self,
        at_ns: i64,
        mut bytes: &[u8],
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        if !self.has_begun && bytes.starts_with(&tls::HANDSHAKE) {
            self.other = Some(tls::NAME);
            return;
        }
        if self.state == State::Lost && looks_like_command(bytes) {
            self.state = State::First;
        }
        if self.state == State::First && !self.lines.has_begun() {
            pipeline.asks(cx);
        }
        while !bytes.is_empty() && self.other.is_none() {
            (self.last_ns, self.lacks_end) = (at_ns, false);
            match self.state {
                State::Lost => return,
                State::First | State::Length(_) => self.line(at_ns, &mut bytes, pipeline, cx),
                State::Word(left, due) => {
                    let taken = (bytes.len() as u64).min(left);
                    let (part, rest) = bytes.split_at(taken as usize);
                    bytes = rest;
                    self.word(at_ns, part, (left, due), pipeline, cx);
                }
            }
        }
    }

    pub(super) fn lost(&mut self, gap: Gap, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        self.has_begun = true;
        match self.state {
            // A command whose end was lost is one all the same.
            State::Word(left, due) if gap.bytes <= left => {
                self.last_ns = gap.at_ns.unwrap_or(self.last_ns);
                (self.is_damaged, self.lacks_end) = (true, gap.at_ns.is_none());
                self.size += gap.bytes;
                self.state = State::Word(left - gap.bytes, due);
                if left == gap.bytes {
                    self.word_over(self.last_ns, due, pipeline, cx);
                }
            }
            _ => self.lose(pipeline),
        }
    }

    fn lose(&mut self, pipeline: &mut Pipeline<Asked>) {
        self.lines.restart();
        self.restart();
        self.state = State::Lost;
        pipeline.lost_requests();
    }

    fn restart(&mut self) {
        self.command = Command::default();
        self.word.clear();
        self.is_damaged = false;
        self.size = 0;
        self.state = State::First;
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
            Err(_) => return self.broken(pipeline),
        };
        if self.state == State::First {
            self.start_ns = line.start_ns;
        }
        self.size += line.size;
        match (self.state, line.text.split_first()) {
            // An empty line is no command.
            (State::First, None) => self.restart(),
            (State::First, Some((b'*', digits))) => match count(digits) {
                Some(words @ 1..) => self.state = State::Length(words),
                Some(0) => self.restart(),
                None if digits.starts_with(b"-") => self.restart(),
                None => self.broken(pipeline),
            },
            (State::First, Some(_)) => {
                let is_foreign = !self.has_begun && !is_words(line.text);
                for word in line.text.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty()) {
                    self.command.word(word, true, &cx.shared.salt);
                }
                match is_foreign {
                    true => self.broken(pipeline),
                    false => self.over(at_ns, "inline command", pipeline, cx),
                }
            }
            (State::Length(due), Some((b'$', digits))) if count(digits).is_some() => {
                let length = count(digits).unwrap_or_default();
                self.state = State::Word(length + 2, due);
            }
            _ => self.broken(pipeline),
        }
    }

    /// These are no commands.
    fn broken(&mut self, pipeline: &mut Pipeline<Asked>) {
        if !self.has_begun {
            self.other = Some("unknown");
        }
        self.lose(pipeline);
    }

    /// The next part of a word or of its line end.
    fn word(
        &mut self,
        at_ns: i64,
        part: &[u8],
        (left, due): (u64, u64),
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.size += part.len() as u64;
        let left_after = left - part.len() as u64;
        if left_after == 0 && self.word.is_empty() && !self.is_damaged && part.len() >= 2 {
            // It lies whole in this packet, or is longer than what is read.
            let word = &part[..part.len() - 2];
            self.command.word(word, word.len() <= LONGEST, &cx.shared.salt);
            return self.next_word(at_ns, due, pipeline, cx);
        }
        let room = (LONGEST + 3).saturating_sub(self.word.len()).min(part.len());
        self.word.extend_from_slice(&part[..room]);
        self.state = State::Word(left_after, due);
        if left_after == 0 {
            self.word_over(at_ns, due, pipeline, cx);
        }
    }

    /// A word that packets cut is over.
    fn word_over(
        &mut self,
        at_ns: i64,
        due: u64,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        let length = self.word.len().saturating_sub(2);
        let whole = !self.is_damaged && length <= LONGEST;
        self.command.word(&self.word[..length], whole, &cx.shared.salt);
        self.word.clear();
        self.is_damaged = false;
        self.next_word(at_ns, due, pipeline, cx);
    }

    fn next_word(
        &mut self,
        at_ns: i64,
        due: u64,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.state = State::Length(due - 1);
        if due == 1 {
            self.over(at_ns, "command", pipeline, cx);
        }
    }

    /// A command came whole.
    fn over(
        &mut self,
        end_ns: i64,
        kind: &'static str,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.has_begun = true;
        let kind = if self.lacks_end { "cut" } else { kind };
        cx.message(Side::Client, (self.start_ns, end_ns), self.size, kind);
        let label = self.command.label(cx);
        let asked = self.command.asked();
        let mut exchange = Exchange::new(self.start_ns, end_ns, self.size, label, asked);
        exchange.literals = self.command.literals;
        exchange.may_wait_ns = self.command.may_wait_ns();
        if self.command.replicates() {
            self.other = Some("replication");
        }
        match self.is_replied_to() {
            true => pipeline.push(exchange, cx),
            false => cx.visit(&exchange, None),
        }
        self.restart();
    }

    /// Whether the server replies to the command, which may change that.
    fn is_replied_to(&mut self) -> bool {
        let before = self.replies;
        match self.command.turns_replies() {
            Some(now) => self.replies = now,
            None if before == Replies::Skip => self.replies = Replies::On,
            None => {}
        }
        match self.command.turns_replies() {
            Some(now) => now == Replies::On,
            None => before == Replies::On,
        }
    }
}

/// True if a packet that begins so begins with a command.
pub(super) fn looks_like_command(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n').map(|it| it.strip_suffix(b"\r"));
    let words = lines.next().flatten().and_then(|it| count(it.strip_prefix(b"*")?));
    let name = lines.next().flatten().and_then(|it| count(it.strip_prefix(b"$")?));
    words.is_some_and(|it| it > 0) && name.is_some_and(|it| (1..=64).contains(&it))
}

fn is_words(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b'\t' || byte >= b' ')
}
