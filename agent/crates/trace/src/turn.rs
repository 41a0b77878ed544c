//! What a thread did at a socket: it served a request, or sent a call.

use crate::event::{Event, Times};

/// What a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A thread read a request and wrote its reply.
    Served,
    /// A thread sent a call.
    Called,
    /// A thread was held back by its control group's quota.
    Throttled,
    /// A thread was stopped.
    Stopped,
}

impl Kind {
    /// The value in the column `kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Called => "called",
            Self::Throttled => "throttled",
            Self::Stopped => "stopped",
        }
    }
}

/// Whether the thread had nothing else to do meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// It worked on this request alone.
    Alone,
    /// It had another request under way.
    Shared,
    /// Another thread went on with this one.
    HandedOn,
    /// It called after it had written of the reply.
    AfterReply,
}

impl Sharing {
    /// The value in the column `shared`.
    pub fn as_number(self) -> i16 {
        match self {
            Self::Alone => 0,
            Self::Shared => 1,
            Self::AfterReply => 2,
            Self::HandedOn => 3,
        }
    }
}

/// A thread's turn at a socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its number in this run; of a call 0.
    pub turn: i64,
    /// Which kind it is.
    pub kind: Kind,
    /// Whose thread: a place in the plan's subjects.
    pub subject: usize,
    /// The connection, as [`tierlab_dissect::connection_hash`] has it.
    pub connection: u64,
    /// The process.
    pub process: u32,
    /// The thread.
    pub thread: u32,
    /// Who works on requests there: the thread, or the goroutine that it ran.
    pub worker: u64,
    /// When it began to read the request, or sent the call; since the epoch.
    pub begin_ns: i64,
    /// When somebody last wrote of the reply.
    pub end_ns: Option<i64>,
    /// Who wrote of the reply first, and when that worker last did.
    pub replied: Option<(u64, i64)>,
    /// The thread called or replied while another call of its own had no reply.
    pub overlaps: bool,
    /// Of a call: the turn that its thread worked on.
    pub serves: Option<i64>,
    /// Whether the thread had that to itself.
    pub sharing: Sharing,
    /// The thread's times at the beginning.
    pub before: Times,
    /// The thread's times at the end.
    pub after: Times,
    /// The system call in which it slept longest for other things in between.
    pub longest_call: Option<u32>,
}

impl Turn {
    /// Of an event, without a number.
    pub fn of(event: &Event<'_>, kind: Kind, at_ns: i64, connection: u64) -> Self {
        Self {
            turn: 0,
            kind,
            subject: event.subject,
            connection,
            process: event.process,
            thread: event.thread,
            worker: event.worker,
            begin_ns: at_ns,
            end_ns: None,
            replied: None,
            overlaps: event.overlaps,
            serves: None,
            sharing: Sharing::Alone,
            before: event.times,
            after: event.times,
            longest_call: None,
        }
    }
}
