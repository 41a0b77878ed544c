//! The server's direction of the text protocol.

use super::command::{Asked, Family};
use super::reply::{self, Said, Told, Word};
use super::status;
use crate::context::Context;
use crate::line::Lines;
use crate::parser::Gap;
use crate::pipeline::{Pipeline, Reply};
use crate::sink::Side;

/// Of a line so much is kept: a meta command's key and flags.
const KEPT: usize = 512;

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a line.
    Line,
    /// In an item's data, with what is left of it and its line end.
    Data(u64),
    /// The same of data with which the reply ends.
    LastData(u64),
    /// Nothing is certain until a packet begins with a reply.
    Lost,
}

pub(super) struct TextReplies {
    state: State,
    lines: Lines,
    /// The reply in progress.
    start_ns: i64,
    size: u64,
    /// It has items, or other lines.
    has_items: bool,
    has_lines: bool,
    /// What it is, where data follow that.
    told: Told,
}

impl TextReplies {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            state: if from_start { State::Line } else { State::Lost },
            lines: Lines::new(KEPT),
            start_ns: 0,
            size: 0,
            has_items: false,
            has_lines: false,
            told: Told { word: Word::Value, opaque: None, key: None },
        }
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
        if self.state == State::Lost && may_begin && reply::looks_like_reply(bytes) {
            self.state = State::Line;
        }
        while !bytes.is_empty() {
            match self.state {
                State::Lost => return,
                State::Line => self.line(at_ns, &mut bytes, pipeline, cx),
                State::Data(left) | State::LastData(left) => {
                    let taken = (bytes.len() as u64).min(left);
                    bytes = &bytes[taken as usize..];
                    self.data(at_ns, taken, pipeline, cx);
                }
            }
        }
    }

    pub(super) fn lost(&mut self, gap: Gap, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        match (self.state, gap.at_ns) {
            (State::Data(left), _) if gap.bytes <= left => {
                self.data(gap.at_ns.unwrap_or_default(), gap.bytes, pipeline, cx);
            }
            (State::LastData(left), None) if gap.bytes < left => {
                self.data(0, gap.bytes, pipeline, cx);
            }
            (State::LastData(left), Some(at_ns)) if gap.bytes <= left => {
                self.data(at_ns, gap.bytes, pipeline, cx);
            }
            _ => self.lose(gap.seen_ns, pipeline, cx),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }

    fn lose(&mut self, seen_ns: i64, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        self.restart();
        self.state = State::Lost;
        pipeline.lost_replies(seen_ns, cx);
    }

    fn restart(&mut self) {
        self.lines.restart();
        self.size = 0;
        (self.has_items, self.has_lines) = (false, false);
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
        let Some(said) = reply::read(line.text) else { return self.lose(at_ns, pipeline, cx) };
        if said == Said::Log {
            return cx.message(Side::Server, (line.start_ns, at_ns), line.size, "log");
        }
        if self.size == 0 {
            self.start_ns = line.start_ns;
        }
        self.size += line.size;
        match said {
            Said::Item(length) => {
                self.has_items = true;
                self.state = State::Data(length + 2);
            }
            Said::Goes | Said::Log => self.has_lines = true,
            Said::Last { word, status, name, data } => {
                self.told = reply::told(line.text, word, &cx.shared.salt);
                match data {
                    Some(length) => self.state = State::LastData(length + 2),
                    None => self.over(at_ns, status, name, pipeline, cx),
                }
            }
        }
    }

    /// So much of the data came, or is known to have come.
    fn data(
        &mut self,
        at_ns: i64,
        taken: u64,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.size += taken;
        match &mut self.state {
            State::Data(left) | State::LastData(left) if *left > taken => *left -= taken,
            State::LastData(_) => self.over(at_ns, status::OK, "VA", pipeline, cx),
            _ => self.state = State::Line,
        }
    }

    /// The reply came whole.
    fn over(
        &mut self,
        end_ns: i64,
        status: i32,
        name: &'static str,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        let (start_ns, bytes, told) = (self.start_ns, self.size, self.told);
        let is_empty = told.word == Word::End && !self.has_items && !self.has_lines;
        let is_get = pipeline.first().is_some_and(|it| it.detail.family == Family::Get);
        let status = if is_empty && is_get { status::KEY_NOT_FOUND } else { status };
        self.restart();
        self.state = State::Line;
        cx.message(Side::Server, (start_ns, end_ns), bytes, name);
        pipeline.replied(&Reply { start_ns, end_ns, bytes, status, told }, cx);
    }
}
