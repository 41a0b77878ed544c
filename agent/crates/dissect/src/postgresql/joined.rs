//! What of a pipeline is one visit. The server answers all of it at its Sync, mostly in one packet: a
//! transaction's beginning and its first statement, every row of a batch, or a statement and the Close
//! of its portal would each be a visit as long as the whole.

use super::Message;
use super::requests::grew;
use super::session::{Asked, First, Kind, Session};
use crate::context::Context;

/// Statements that only prepare for the next one, by their first word.
const PREPARING: [&str; 5] = ["BEGIN", "START", "SAVEPOINT", "RELEASE", "SET"];

impl Session {
    /// The last Execute joins the one before it, if that began a transaction or is another of a batch.
    pub(super) fn join(&mut self, cx: &mut Context<'_>) {
        let belongs = {
            let mut latest = self.exchanges.iter().rev();
            let (Some(later), Some(former)) = (latest.next(), latest.next()) else { return };
            let prepares = || is_preparing(cx.shared.labels.text(former.label));
            former.detail.is_open() && (former.label == later.label || prepares())
        };
        if !belongs {
            return self.complete(cx);
        }
        let Some(later) = self.exchanges.pop_last() else { return };
        let Some(former) = self.exchanges.last() else { return };
        former.join(&later);
        (former.label, former.status) = (later.label, None);
        let asked = &mut former.detail;
        asked.executes += later.detail.executes;
        asked.due += later.detail.due;
        asked.completed_ns = None;
    }

    /// A Close: it belongs to the Execute before it.
    pub(super) fn close(&mut self, message: &Message<'_>, cx: &mut Context<'_>) {
        match self.exchanges.last() {
            Some(exchange) if exchange.detail.is_open() => {
                grew(exchange, message, cx);
                exchange.detail.due += 1;
                exchange.detail.completed_ns = None;
            }
            _ => self.step(First::Close, message, cx),
        }
    }

    /// Nothing joins an Execute that was completed: its reply has ended.
    pub(super) fn complete(&mut self, cx: &mut Context<'_>) {
        let completed = self.exchanges.first().and_then(|it| it.detail.completed_ns);
        if completed.is_some() {
            self.exchanges.replied(completed, cx);
        }
    }

    /// True if it is not known yet whether more joins the first request.
    pub(super) fn may_be_joined(&self) -> bool {
        let mut behind = self.exchanges.iter().skip(1);
        behind.all(|it| matches!(it.detail.kind, Kind::Steps(_)))
    }
}

impl Asked {
    /// True for an Execute behind which neither a Sync nor a Flush came, nor one may have been lost.
    pub(super) fn is_open(&self) -> bool {
        self.kind == Kind::Execute && !self.syncs && !self.is_flushed && !self.is_cut
    }
}

fn is_preparing(label: &str) -> bool {
    let first = label.split(' ').next().unwrap_or(label);
    PREPARING.iter().any(|it| first.eq_ignore_ascii_case(it))
}
