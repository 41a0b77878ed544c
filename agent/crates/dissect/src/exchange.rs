//! Requests and their replies on one connection, in their order.

use crate::context::Context;
use crate::label::Label;
use crate::literal::Literals;
use crate::memory::of_queue;
use std::collections::VecDeque;

/// More requests than this do not wait for a reply on one connection; a stream that says so is not
/// what it seems.
const MOST: usize = 1024;

/// A request and what is known of its reply. `T` is what the protocol must know to read the reply.
pub(crate) struct Exchange<T> {
    pub arrival_ns: i64,
    pub request_end_ns: i64,
    pub bytes_in: u64,
    pub label: Label,
    pub id_hash: Option<u64>,
    pub literals: Literals,
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

    /// Some of the reply came, beginning at `start_ns`.
    pub(crate) fn reply_grew(&mut self, start_ns: i64, bytes: u64) {
        self.reply_start_ns.get_or_insert(start_ns);
        self.bytes_out += bytes;
    }
}

/// The exchanges of a connection that are not over.
pub(crate) struct Exchanges<T>(VecDeque<Exchange<T>>);

impl<T> Default for Exchanges<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Exchanges<T> {
    /// A request came.
    pub(crate) fn push(&mut self, exchange: Exchange<T>, cx: &mut Context<'_>) {
        if self.0.len() >= MOST {
            self.replied(None, cx);
        }
        self.0.push_back(exchange);
    }

    /// A request came, and the caller sees to it that not too many wait.
    pub(crate) fn add(&mut self, exchange: Exchange<T>) {
        self.0.push_back(exchange);
    }

    /// The exchange whose request came last.
    pub(crate) fn last(&mut self) -> Option<&mut Exchange<T>> {
        self.0.back_mut()
    }

    /// The exchange whose reply is due.
    pub(crate) fn first(&mut self) -> Option<&mut Exchange<T>> {
        self.0.front_mut()
    }

    /// Every one, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exchange<T>> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is remembered of them.
    pub(crate) fn held_bytes(&self) -> usize {
        of_queue(&self.0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The first exchange is over: its reply ended at `departure_ns`, or its end was not seen.
    pub(crate) fn replied(&mut self, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        if let Some(exchange) = self.0.pop_front() {
            cx.visit(&exchange, departure_ns);
        }
    }

    /// No more replies will be seen.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>) {
        while !self.is_empty() {
            self.replied(None, cx);
        }
    }
}
