//! What is asked and answered on a connection, and whose replies come.

use super::statements::Statements;
use crate::context::Context;
use crate::exchange::{Exchanges, MOST};
use crate::label::Label;

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Login,
    /// Something with a ReadyForQuery of its own: a Query or a FunctionCall.
    Query,
    Execute,
    /// What comes before an Execute; more of it may follow.
    Steps(First),
    /// The same once a Flush or a Sync ended it, or a Sync alone.
    Ended,
}

/// The message that an extended query begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Parse(Label),
    Bind,
    Describe,
    Close,
}

/// What the protocol must know to read a reply.
pub(super) struct Asked {
    pub kind: Kind,
    /// So many of Parse, Bind, Describe and Close are not answered.
    pub due: u32,
    /// So many Executes are not completed.
    pub executes: u32,
    /// A ReadyForQuery ends the reply.
    pub syncs: bool,
    /// The client asked for the reply with a Flush.
    pub is_flushed: bool,
    /// Something behind it was lost.
    pub is_cut: bool,
    /// An Execute was completed then, but has neither a Sync yet nor a Flush: its reply may go on, and
    /// another Execute may join it.
    pub completed_ns: Option<i64>,
    /// The server ignores this request's Sync, because it copies in; the client sends another.
    pub syncs_again: bool,
    /// A hash of everything that was asked.
    pub content: u64,
}

/// What is asked and answered.
#[derive(Default)]
pub(super) struct Session {
    pub exchanges: Exchanges<Asked>,
    pub statements: Statements,
    /// It is not known whose replies come, until the server waits and the client asks.
    pub adrift: bool,
    /// Requests were lost: some of the exchanges may be parts of one, until then, too.
    pub in_doubt: bool,
    /// So many ReadyForQuery are due until nothing is, since more waited than are remembered.
    overrun: Option<usize>,
    /// The server's last message said that it waits.
    pub is_ready: bool,
    /// An error made the server skip what comes before the next Sync; its status.
    pub skipped: Option<Skipped>,
}

#[derive(Clone, Copy)]
pub(super) struct Skipped {
    pub status: Option<i32>,
}

impl Asked {
    pub(super) fn of(kind: Kind) -> Self {
        Self {
            kind,
            due: 0,
            executes: 0,
            syncs: false,
            is_flushed: false,
            is_cut: false,
            completed_ns: None,
            syncs_again: false,
            content: 0,
        }
    }
}

impl Session {
    /// Replies were lost, which was known at `seen_ns`: those of the exchanges that wait may be among
    /// them.
    pub(super) fn lost_replies(&mut self, seen_ns: i64) {
        self.exchanges.lost_replies(seen_ns);
        self.is_ready = false;
        self.skipped = None;
        self.overrun = None;
    }

    /// A request comes. If too many wait, none of them will be known by its reply.
    pub(super) fn make_room(&mut self, cx: &mut Context<'_>) {
        if self.exchanges.len() >= MOST {
            let syncing = self.syncing(MOST);
            self.overrun.get_or_insert(syncing);
            self.exchanges.abandon(cx);
            (self.adrift, self.is_ready) = (true, false);
            self.skipped = None;
        }
    }

    /// A request has a Sync, or needs none: a ReadyForQuery is due.
    pub(super) fn syncs(&mut self) {
        if let Some(due) = &mut self.overrun {
            *due += 1;
        }
    }

    /// A ReadyForQuery came. True if the server waits, as far as is known: it may be in the middle of
    /// what was asked.
    pub(super) fn waits(&mut self) -> bool {
        let Some(due) = &mut self.overrun else { return true };
        *due = due.saturating_sub(1);
        let waits = *due == 0 && self.exchanges.last().is_none_or(|it| it.detail.syncs);
        if waits {
            self.overrun = None;
        }
        waits
    }

    /// Requests were lost, and with them the end of an extended query and its Sync.
    pub(super) fn lost_requests(&mut self, cx: &mut Context<'_>) {
        self.in_doubt = true;
        self.overrun = None;
        self.statements.lost();
        let Some(exchange) = self.exchanges.last() else { return };
        exchange.detail.is_cut = true;
        if let Kind::Steps(_) = exchange.detail.kind {
            exchange.detail.kind = Kind::Ended;
            exchange.detail.syncs = true;
            exchange.label = cx.shared.labels.number("(incomplete)");
        }
    }
}
