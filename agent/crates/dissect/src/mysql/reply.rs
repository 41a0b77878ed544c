//! A reply's packets, to its last one.

use super::command::Expected;
use super::fields::Fields;
use super::packets::{FULL, Packet};

const OK: u8 = 0x00;
const WANTS_FILE: u8 = 0xfb;
const EOF: u8 = 0xfe;
const ERR: u8 = 0xff;

/// An EOF packet; an OK packet that stands for one has at least 7 bytes.
const EOF_LENGTH: usize = 5;

/// "Error" of MariaDB's progress reports.
const PROGRESS: u64 = 0xffff;

const MORE_RESULTS: u64 = 0x0008;
const CURSOR_EXISTS: u64 = 0x0040;

/// How far the reply got with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// More packets follow.
    More,
    /// The client has to send a file first.
    WantsFile,
    /// That was the last packet. 0, or the error's code.
    Done(i32),
    /// That packet does not belong to the reply: it ended the one before.
    Stray,
    /// That packet cannot be part of the reply.
    Broken,
    /// What would tell whether that was the last packet was not captured.
    Unseen,
}

/// A statement that the server prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    pub number: u32,
    pub parameters: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the reply, a result set, or the result of sending a file.
    #[default]
    First,
    /// So many definitions still follow.
    Definitions(u64),
    /// Between definitions and rows.
    AfterDefinitions,
    Rows,
    /// So many definitions of parameters still follow, then those of columns.
    Parameters(u64, u64),
    /// Between the definitions of parameters and of columns.
    AfterParameters(u64),
    /// So many definitions of a prepared statement's columns still follow.
    Columns(u64),
    /// After them.
    AfterColumns,
}

/// Where the reply stands, and whether definitions end with an EOF packet: the login tells
/// (CLIENT_DEPRECATE_EOF), and so do the packets themselves.
#[derive(Default)]
pub(super) struct Reply {
    state: State,
    begun: bool,
    /// The sequence number of the next packet.
    next: u8,
    pub definitions_end: Option<bool>,
    pub prepared: Option<Prepared>,
}

impl Reply {
    /// The next packet begins a reply.
    pub(super) fn restart(&mut self) {
        self.state = State::First;
        self.begun = false;
    }

    /// True from a result's first packet to its last.
    pub(super) fn is_in_result(&self) -> bool {
        matches!(self.state, State::Definitions(_) | State::AfterDefinitions | State::Rows)
    }

    /// The sequence number of the EOF packet between definitions and rows, if it may yet come.
    pub(super) fn definitions_eof(&self) -> Option<u8> {
        match self.state {
            _ if self.definitions_end == Some(false) => None,
            State::Definitions(left) => Some(self.next.wrapping_add(left as u8)),
            State::AfterDefinitions => Some(self.next),
            _ => None,
        }
    }

    /// Takes the reply's next packet. `first` is the sequence number that the first one must have.
    pub(super) fn packet(&mut self, packet: &Packet<'_>, expected: Expected, first: u8) -> Outcome {
        if !self.begun {
            if packet.sequence != first {
                return self.stray(packet);
            }
            self.begun = true;
            self.prepared = None;
        } else if self.state != State::First && packet.sequence != self.next {
            // Another reply's: this one's end went by unseen.
            return Outcome::Broken;
        }
        self.next = packet.last_sequence.wrapping_add(1);
        let outcome = match self.state {
            _ if self.is_undecided(packet) => Outcome::Unseen,
            _ if packet.first() == ERR => error(packet),
            State::First => self.first(packet, expected),
            State::Definitions(left) => self.definition(left),
            State::AfterDefinitions => self.after_definitions(packet),
            State::Rows => self.row(packet),
            State::Parameters(left, columns) => self.parameter(left, columns),
            State::AfterParameters(columns) => self.after_parameters(packet, columns),
            State::Columns(left) => self.column(left),
            State::AfterColumns => Outcome::Done(0),
        };
        if let Outcome::Done(_) = outcome {
            self.restart();
        }
        outcome
    }

    /// True if the packet's first byte, which was not captured, tells what the packet is.
    fn is_undecided(&self, packet: &Packet<'_>) -> bool {
        let is_told = matches!(
            self.state,
            State::Definitions(_) | State::Parameters(..) | State::Columns(_) | State::AfterColumns
        );
        !is_told && packet.prefix.is_empty() && packet.length > 0
    }

    /// The EOF of a prepared statement's definitions, if nobody told that it would come.
    fn stray(&mut self, packet: &Packet<'_>) -> Outcome {
        if is_eof(packet) && packet.sequence > 1 {
            self.definitions_end = Some(true);
            return Outcome::Stray;
        }
        Outcome::Broken
    }

    fn first(&mut self, packet: &Packet<'_>, expected: Expected) -> Outcome {
        match (expected, packet.first()) {
            (Expected::Login, OK) => Outcome::Done(0),
            (Expected::Login, _) => Outcome::More,
            (Expected::Ok | Expected::Line | Expected::Nothing | Expected::Replication, _) => {
                Outcome::Done(0)
            }
            (Expected::Rows, _) => self.row(packet),
            (Expected::Prepared, _) => self.prepare(packet),
            (Expected::Results, OK | EOF) => self.result_end(packet),
            (Expected::Results, WANTS_FILE) => Outcome::WantsFile,
            (Expected::Results, _) => self.result_set(packet),
        }
    }

    /// The number of columns, and with MariaDB's MARIADB_CLIENT_CACHE_METADATA one more byte: do
    /// their definitions follow, or does the client know them?
    fn result_set(&mut self, packet: &Packet<'_>) -> Outcome {
        let mut fields = Fields(packet.prefix);
        match fields.length() {
            Some(columns) if columns > 0 && packet.length <= 10 => {
                let follow = fields.integer(1) != Some(0);
                self.state =
                    if follow { State::Definitions(columns) } else { State::AfterDefinitions };
                Outcome::More
            }
            _ => Outcome::Broken,
        }
    }

    fn definition(&mut self, left: u64) -> Outcome {
        self.state = if left > 1 { State::Definitions(left - 1) } else { State::AfterDefinitions };
        Outcome::More
    }

    fn after_definitions(&mut self, packet: &Packet<'_>) -> Outcome {
        self.state = State::Rows;
        if !is_eof(packet) {
            self.definitions_end = Some(false);
            return self.row(packet);
        }
        self.definitions_end = Some(true);
        // With a cursor the rows come when they are fetched.
        match flags(packet) {
            None => Outcome::Unseen,
            Some(flags) if flags & CURSOR_EXISTS != 0 => self.result_end(packet),
            Some(_) => Outcome::More,
        }
    }

    /// A row may begin with FE too, but then it has 16 MiB.
    fn row(&mut self, packet: &Packet<'_>) -> Outcome {
        self.state = State::Rows;
        if packet.first() == EOF && packet.length > 0 && packet.length < FULL {
            return self.result_end(packet);
        }
        Outcome::More
    }

    fn result_end(&mut self, packet: &Packet<'_>) -> Outcome {
        let Some(flags) = flags(packet) else { return Outcome::Unseen };
        self.state = State::First;
        if flags & MORE_RESULTS != 0 { Outcome::More } else { Outcome::Done(0) }
    }

    fn prepare(&mut self, packet: &Packet<'_>) -> Outcome {
        let mut fields = Fields(packet.prefix.get(1..).unwrap_or(&[]));
        let (Some(number), Some(columns), Some(parameters)) =
            (fields.integer(4), fields.integer(2), fields.integer(2))
        else {
            return Outcome::Broken;
        };
        self.prepared = Some(Prepared { number: number as u32, parameters: parameters as u16 });
        match (parameters, columns) {
            (0, 0) => Outcome::Done(0),
            (0, columns) => {
                self.state = State::Columns(columns);
                Outcome::More
            }
            (parameters, columns) => {
                self.state = State::Parameters(parameters, columns);
                Outcome::More
            }
        }
    }

    fn parameter(&mut self, left: u64, columns: u64) -> Outcome {
        if left > 1 {
            self.state = State::Parameters(left - 1, columns);
            return Outcome::More;
        }
        if columns > 0 {
            self.state = State::AfterParameters(columns);
            return Outcome::More;
        }
        self.definitions_over()
    }

    fn after_parameters(&mut self, packet: &Packet<'_>, columns: u64) -> Outcome {
        self.definitions_end = Some(is_eof(packet));
        self.state = State::Columns(columns);
        if is_eof(packet) { Outcome::More } else { self.column(columns) }
    }

    fn column(&mut self, left: u64) -> Outcome {
        if left > 1 {
            self.state = State::Columns(left - 1);
            return Outcome::More;
        }
        self.definitions_over()
    }

    fn definitions_over(&mut self) -> Outcome {
        self.state = State::AfterColumns;
        if self.definitions_end == Some(true) { Outcome::More } else { Outcome::Done(0) }
    }
}

fn is_eof(packet: &Packet<'_>) -> bool {
    packet.first() == EOF && packet.length == EOF_LENGTH
}

fn error(packet: &Packet<'_>) -> Outcome {
    match Fields(packet.prefix.get(1..).unwrap_or(&[])).integer(2) {
        Some(PROGRESS) => Outcome::More,
        Some(code) => Outcome::Done(code as i32),
        None if packet.whole => Outcome::Done(0),
        None => Outcome::Unseen,
    }
}

/// The server's status flags in an OK or EOF packet; none if they were not captured.
fn flags(packet: &Packet<'_>) -> Option<u64> {
    let mut fields = Fields(packet.prefix.get(1..).unwrap_or(&[]));
    let flags = if is_eof(packet) {
        fields.integer(2).and_then(|_warnings| fields.integer(2))
    } else {
        fields.length().and_then(|_rows| fields.length()).and_then(|_last_id| fields.integer(2))
    };
    flags.or(packet.whole.then_some(0))
}
