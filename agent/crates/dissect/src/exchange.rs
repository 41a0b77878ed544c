//! Requests and their replies on one connection, in their order.

use crate::context::Context;
use crate::label::Label;
use crate::literal::Literals;
use crate::memory::of_queue;
use std::collections::VecDeque;

/// More requests than this do not wait on one connection. (Clients load millions of rows or keys in
/// one go, but the sockets' buffers hold no more of them than this.)
pub(crate) const MOST: usize = 16 << 10;

/// A request and what is known of its reply. `T` is what the protocol must know to read the reply.
pub(crate) struct Exchange<T> {
    pub arrival_ns: i64,
    pub request_end_ns: i64,
    pub bytes_in: u64,
    pub label: Label,
    pub id_hash: Option<u64>,
    pub literals: Literals,
    pub may_wait_ns: Option<i64>,
    pub reply_start_ns: Option<i64>,
    pub bytes_out: u64,
    pub status: Option<i32>,
    pub detail: T,
}

impl<T> Exchange<T> {
    /// A request whose bytes so far came from `arrival_ns` to `request_end_ns`.
    pub(crate) fn new(
        arrival_ns: i64,
        request_end_ns: i64,
        bytes_in: u64,
        label: Label,
        detail: T,
    ) -> Self {
        Self {
            arrival_ns,
            request_end_ns,
            bytes_in,
            label,
            id_hash: None,
            literals: Literals::default(),
            may_wait_ns: None,
            reply_start_ns: None,
            bytes_out: 0,
            status: None,
            detail,
        }
    }

    /// More of the request came.
    pub(crate) fn request_grew(&mut self, at_ns: i64, bytes: usize) {
        self.request_end_ns = at_ns;
        self.bytes_in += bytes as u64;
    }

    /// The request goes on with another, which has no reply of its own.
    pub(crate) fn join(&mut self, later: &Self) {
        self.request_grew(later.request_end_ns, later.bytes_in as usize);
        self.id_hash = later.id_hash.or(self.id_hash);
        self.literals.append(&later.literals);
    }

    /// Some of the reply came, beginning at `start_ns`.
    pub(crate) fn reply_grew(&mut self, start_ns: i64, bytes: u64) {
        self.reply_start_ns.get_or_insert(start_ns);
        self.bytes_out += bytes;
    }
}

/// The exchanges of a connection that are not over.
pub(crate) struct Exchanges<T> {
    waiting: VecDeque<Exchange<T>>,
    /// The replies of so many, the oldest ones, may be among those that were lost.
    uncertain: usize,
    /// When it was last known that replies were lost.
    lost_ns: i64,
    /// Too many waited: whose replies come is not known any more.
    overrun: bool,
}

impl<T> Default for Exchanges<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), uncertain: 0, lost_ns: i64::MIN, overrun: false }
    }
}

impl<T> Exchanges<T> {
    /// A request came.
    pub(crate) fn push(&mut self, exchange: Exchange<T>, cx: &mut Context<'_>) {
        if self.waiting.len() >= MOST {
            self.overrun = true;
            self.abandon(cx);
        }
        if self.overrun {
            return cx.visit(&exchange, None);
        }
        let is_uncertain = self.was_before_loss(&exchange);
        self.waiting.push_back(exchange);
        if is_uncertain {
            self.uncertain = self.waiting.len();
        }
    }

    /// A request came, and the caller sees to it that not too many wait.
    pub(crate) fn add(&mut self, exchange: Exchange<T>) {
        self.waiting.push_back(exchange);
    }

    /// Replies were lost, which was known at `seen_ns`: those of all that wait may be among them.
    pub(crate) fn lost_replies(&mut self, seen_ns: i64) {
        self.uncertain = self.waiting.len();
        self.lost_ns = self.lost_ns.max(seen_ns);
    }

    /// True if a request waited behind a hole of the client's while replies were found to be lost:
    /// its own may be among them.
    pub(crate) fn was_before_loss(&self, exchange: &Exchange<T>) -> bool {
        exchange.request_end_ns < self.lost_ns
    }

    /// How many may have been answered unseen.
    pub(crate) fn uncertain(&self) -> usize {
        self.uncertain
    }

    /// Whose replies come is known again. Gives how many may have been answered unseen.
    pub(crate) fn settle(&mut self) -> usize {
        std::mem::take(&mut self.uncertain)
    }

    /// Those that may have been answered unseen were.
    pub(crate) fn abandon_uncertain(&mut self, cx: &mut Context<'_>) {
        for _ in 0..self.settle() {
            self.replied(None, cx);
        }
    }

    /// The exchange whose request came last.
    pub(crate) fn last(&mut self) -> Option<&mut Exchange<T>> {
        self.waiting.back_mut()
    }

    /// Takes out the exchange whose request came last.
    pub(crate) fn pop_last(&mut self) -> Option<Exchange<T>> {
        let last = self.waiting.pop_back();
        self.uncertain = self.uncertain.min(self.waiting.len());
        last
    }

    /// The exchange whose reply is due.
    pub(crate) fn first(&mut self) -> Option<&mut Exchange<T>> {
        self.waiting.front_mut()
    }

    /// Every one, the oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Exchange<T>> {
        self.waiting.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What is remembered of them.
    pub(crate) fn held_bytes(&self) -> usize {
        of_queue(&self.waiting)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The first exchange is over: its reply ended at `departure_ns`, or its end was not seen.
    pub(crate) fn replied(&mut self, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        if let Some(exchange) = self.waiting.pop_front() {
            cx.visit(&exchange, departure_ns);
        }
    }

    /// No more replies will be seen.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>) {
        self.uncertain = 0;
        while !self.is_empty() {
            self.replied(None, cx);
        }
    }
}
