//! The client's direction of the text protocol.

use super::command::{self, Asked, Command, Family};
use crate::context::Context;
use crate::exchange::Exchange;
use crate::line::Lines;
use crate::parser::Gap;
use crate::pipeline::Pipeline;
use crate::sink::Side;

/// Of a line so much is kept: as many keys as are hashed.
const KEPT: usize = 4 << 10;

/// Where the stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or in a command line.
    Line,
    /// In a data block, with what is left of it and its line end.
    Data(u64),
    /// Nothing is certain until a packet begins with a command.
    Lost,
}

pub(super) struct TextRequests {
    state: State,
    lines: Lines,
    /// The command whose data block comes, and how much of it came.
    command: Option<Command>,
    start_ns: i64,
    size: u64,
    last_ns: i64,
    /// The end of the one in progress was lost.
    lacks_end: bool,
    /// A command was read, or the connection's beginning was not seen.
    has_begun: bool,
    is_foreign: bool,
}

impl TextRequests {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            state: if from_start { State::Line } else { State::Lost },
            lines: Lines::new(KEPT),
            command: None,
            start_ns: 0,
            size: 0,
            last_ns: 0,
            lacks_end: false,
            has_begun: !from_start,
            is_foreign: false,
        }
    }

    /// The connection began with something else than a command.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    pub(super) fn bytes(
        &mut self,
        at_ns: i64,
        mut bytes: &[u8],
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        if self.state == State::Lost && command::looks_like_command(bytes) {
            self.state = State::Line;
        }
        if self.state == State::Line && !self.lines.has_begun() {
            pipeline.asks(cx);
        }
        (self.last_ns, self.lacks_end) = (at_ns, false);
        while !bytes.is_empty() && !self.is_foreign {
            match self.state {
                State::Lost => return,
                State::Line => self.line(at_ns, &mut bytes, pipeline, cx),
                State::Data(left) => {
                    let taken = (bytes.len() as u64).min(left);
                    bytes = &bytes[taken as usize..];
                    self.data(at_ns, taken, left - taken, pipeline, cx);
                }
            }
        }
    }

    pub(super) fn lost(&mut self, gap: Gap, pipeline: &mut Pipeline<Asked>, cx: &mut Context<'_>) {
        self.has_begun = true;
        match self.state {
            // A command whose end was lost is one all the same.
            State::Data(left) if gap.bytes <= left => {
                self.lacks_end = gap.at_ns.is_none();
                let at_ns = gap.at_ns.unwrap_or(self.last_ns);
                self.data(at_ns, gap.bytes, left - gap.bytes, pipeline, cx);
            }
            _ => self.lose(pipeline),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.lines.held_bytes()
    }

    fn lose(&mut self, pipeline: &mut Pipeline<Asked>) {
        self.lines.restart();
        self.command = None;
        self.state = State::Lost;
        pipeline.lost_requests();
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
            Err(_) => {
                self.is_foreign = !self.has_begun;
                return self.lose(pipeline);
            }
        };
        let command = command::read(line.text, &cx.shared.salt);
        if command.asked.family == Family::Unknown && !self.has_begun {
            self.is_foreign = true;
            return;
        }
        self.has_begun = true;
        (self.start_ns, self.size) = (line.start_ns, line.size);
        match command.data {
            Some(length) => {
                self.command = Some(command);
                self.state = State::Data(length + 2);
            }
            None => self.over(at_ns, &command, pipeline, cx),
        }
    }

    /// So much of the data block came, or is known to have come.
    fn data(
        &mut self,
        at_ns: i64,
        taken: u64,
        left: u64,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        self.size += taken;
        self.last_ns = at_ns;
        self.state = State::Data(left);
        if left == 0 {
            self.state = State::Line;
            if let Some(command) = self.command.take() {
                self.over(at_ns, &command, pipeline, cx);
            }
        }
    }

    /// A command came whole.
    fn over(
        &self,
        end_ns: i64,
        command: &Command,
        pipeline: &mut Pipeline<Asked>,
        cx: &mut Context<'_>,
    ) {
        let label = cx.shared.labels.number(command.name);
        let mut exchange = Exchange::new(self.start_ns, end_ns, self.size, label, command.asked);
        exchange.literals = command.literals;
        let kind = if self.lacks_end { "cut" } else { command.name };
        cx.message(Side::Client, (self.start_ns, end_ns), self.size, kind);
        if command.noreply || command.asked.family == Family::Quit {
            cx.visit(&exchange, None);
        } else {
            pipeline.push(exchange, cx);
        }
    }
}
