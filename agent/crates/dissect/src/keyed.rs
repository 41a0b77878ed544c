//! Requests and their replies on one connection that tell by a key which belong together, so that
//! several may be under way in any order.

use crate::context::Context;
use crate::exchange::Exchange;
use crate::memory::of_vec;

/// More requests than this are not under way on one connection; a stream that says so is not what
/// it seems. (Peers allow a hundred or so, and some of HTTP/2's as many as there are.)
const MOST: usize = 1024;

/// The exchanges of a connection that are not over, the oldest first.
pub(crate) struct KeyedExchanges<T>(Vec<(u32, Exchange<T>)>);

impl<T> Default for KeyedExchanges<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> KeyedExchanges<T> {
    /// A request came. If its key is in use, the reply to the one before went by unseen.
    pub(crate) fn push(&mut self, key: u32, exchange: Exchange<T>, cx: &mut Context<'_>) {
        self.replied(key, None, cx);
        if self.0.len() >= MOST {
            let (_, oldest) = self.0.remove(0);
            cx.visit(&oldest, None);
        }
        self.0.push((key, exchange));
    }

    /// The exchange with this key.
    pub(crate) fn get(&mut self, key: u32) -> Option<&mut Exchange<T>> {
        self.0.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1)
    }

    /// Every one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exchange<T>> {
        self.0.iter().map(|it| &it.1)
    }

    /// The same, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Exchange<T>> {
        self.0.iter_mut().map(|it| &mut it.1)
    }

    /// What is remembered of them, beside what their details point to.
    pub(crate) fn held_bytes(&self) -> usize {
        of_vec(&self.0)
    }

    /// The exchange with this key is over: its reply ended at `departure_ns`, or its end was not
    /// seen.
    pub(crate) fn replied(&mut self, key: u32, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        if let Some(at) = self.0.iter().position(|it| it.0 == key) {
            let (_, exchange) = self.0.remove(at);
            cx.visit(&exchange, departure_ns);
        }
    }

    /// No replies to those of the exchanges will be seen for which `is_over` is true.
    pub(crate) fn abandon_those(
        &mut self,
        is_over: impl Fn(u32, &Exchange<T>) -> bool,
        cx: &mut Context<'_>,
    ) {
        for (_, exchange) in self.0.extract_if(.., |(key, it)| is_over(*key, it)) {
            cx.visit(&exchange, None);
        }
    }

    /// No more replies will be seen.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>) {
        for (_, exchange) in self.0.drain(..) {
            cx.visit(&exchange, None);
        }
    }
}
