//! Requests and their replies on one connection that tell by a key which belong together, so that
//! several may be under way in any order.

use crate::context::Context;
use crate::exchange::Exchange;
use crate::memory::{of_map, of_queue};
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};

/// More requests than this are not under way on one connection; a stream that says so is not what
/// it seems. (Peers allow a hundred or so, and some of HTTP/2's as many as there are.)
const MOST: usize = 1024;

/// So many entries of exchanges that are over stay in the order of those that are not.
const SLACK: usize = 32;

/// What a protocol knows of a request.
pub(crate) trait Detail {
    /// What it points to.
    fn held_bytes(&self) -> usize;
}

struct Open<T> {
    number: u64,
    exchange: Exchange<T>,
}

/// The exchanges of a connection that are not over. No packet makes it visit all of them.
pub(crate) struct KeyedExchanges<T> {
    open: HashMap<u32, Open<T>, RandomState>,
    /// Numbers and keys, the oldest first; of exchanges that are over too, but not the first.
    order: VecDeque<(u64, u32)>,
    /// The last one's number.
    last: u64,
    /// What the details point to.
    details_bytes: usize,
}

impl<T> Default for KeyedExchanges<T> {
    fn default() -> Self {
        let (open, order) = (HashMap::default(), VecDeque::new());
        Self { open, order, last: 0, details_bytes: 0 }
    }
}

impl<T: Detail> KeyedExchanges<T> {
    /// A request came. If its key is in use, the reply to the one before went by unseen.
    pub(crate) fn push(&mut self, key: u32, exchange: Exchange<T>, cx: &mut Context<'_>) {
        self.replied(key, None, cx);
        if self.is_full()
            && let Some(&(_, oldest)) = self.order.front()
        {
            self.replied(oldest, None, cx);
        }
        self.add(key, exchange);
    }

    /// True if another one is one too many.
    pub(crate) fn is_full(&self) -> bool {
        self.open.len() >= MOST
    }

    /// True if an exchange has this key.
    pub(crate) fn contains(&self, key: u32) -> bool {
        self.open.contains_key(&key)
    }

    /// Changes the exchange with this key, if there is one, and gives what the change gives.
    pub(crate) fn update<R>(
        &mut self,
        key: u32,
        change: impl FnOnce(&mut Exchange<T>) -> R,
    ) -> Option<R> {
        let exchange = &mut self.open.get_mut(&key)?.exchange;
        self.details_bytes -= exchange.detail.held_bytes();
        let changed = change(exchange);
        self.details_bytes += exchange.detail.held_bytes();
        Some(changed)
    }

    /// What is remembered of them.
    pub(crate) fn held_bytes(&self) -> usize {
        of_map(&self.open) + of_queue(&self.order) + self.details_bytes
    }

    /// The exchange with this key is over: its reply ended at `departure_ns`, or its end was not
    /// seen.
    pub(crate) fn replied(&mut self, key: u32, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        if let Some(exchange) = self.remove(key) {
            cx.visit(&exchange, departure_ns);
        }
    }

    /// No replies to those of the exchanges will be seen for which `is_over` is true. Visits them all.
    pub(crate) fn abandon_those(
        &mut self,
        is_over: impl Fn(u32, &Exchange<T>) -> bool,
        cx: &mut Context<'_>,
    ) {
        let is_one = |&&(number, key): &&(u64, u32)| {
            self.open.get(&key).is_some_and(|it| it.number == number && is_over(key, &it.exchange))
        };
        let over: Vec<u32> = self.order.iter().filter(is_one).map(|it| it.1).collect();
        for key in over {
            self.replied(key, None, cx);
        }
    }

    /// No more replies will be seen.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>) {
        for (_, exchange) in self.take_all() {
            cx.visit(&exchange, None);
        }
    }

    /// Takes out all of them, the oldest first.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (u32, Exchange<T>)> + use<T> {
        let Self { mut open, order, .. } = std::mem::take(self);
        order.into_iter().filter_map(move |(number, key)| {
            open.get(&key).filter(|it| it.number == number)?;
            open.remove(&key).map(|it| (key, it.exchange))
        })
    }

    /// Takes out the exchange with this key.
    pub(crate) fn remove(&mut self, key: u32) -> Option<Exchange<T>> {
        let Open { exchange, .. } = self.open.remove(&key)?;
        self.details_bytes -= exchange.detail.held_bytes();
        let open = &self.open;
        let is_open = |&(number, key): &(u64, u32)| {
            open.get(&key).is_some_and(|it: &Open<T>| it.number == number)
        };
        while self.order.front().is_some_and(|it| !is_open(it)) {
            self.order.pop_front();
        }
        if self.order.len() > 2 * open.len() + SLACK {
            self.order.retain(is_open);
        }
        Some(exchange)
    }

    fn add(&mut self, key: u32, exchange: Exchange<T>) {
        self.last += 1;
        self.details_bytes += exchange.detail.held_bytes();
        self.order.push_back((self.last, key));
        self.open.insert(key, Open { number: self.last, exchange });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;

    impl Detail for Vec<u8> {
        fn held_bytes(&self) -> usize {
            self.len()
        }
    }

    fn add(it: &mut KeyedExchanges<Vec<u8>>, key: u32) {
        it.add(key, Exchange::new(0, 0, 0, Label::default(), vec![b'x'; 10]));
    }

    #[test]
    fn they_are_taken_in_the_order_in_which_they_came() {
        let mut it = KeyedExchanges::default();
        [7, 3, 9, 1].into_iter().for_each(|key| add(&mut it, key));
        assert!(it.remove(3).is_some() && it.remove(3).is_none());
        add(&mut it, 3);
        let keys: Vec<u32> = it.take_all().map(|it| it.0).collect();
        assert_eq!(keys, [7, 9, 1, 3]);
        assert_eq!(it.held_bytes(), 0);
    }

    #[test]
    fn what_details_point_to_is_counted_as_it_changes() {
        let mut it = KeyedExchanges::default();
        [1, 2].into_iter().for_each(|key| add(&mut it, key));
        assert_eq!(it.details_bytes, 20);
        it.update(1, |exchange| exchange.detail.push(b'x'));
        assert_eq!(it.details_bytes, 21);
        it.remove(1);
        assert_eq!(it.details_bytes, 10);
    }

    #[test]
    fn those_that_are_over_do_not_pile_up_behind_one_that_is_not() {
        let mut it = KeyedExchanges::default();
        add(&mut it, 0);
        for key in 1..10_000 {
            add(&mut it, key);
            it.remove(key);
        }
        assert!(it.order.len() <= SLACK + 3, "{}", it.order.len());
        assert!(it.contains(0));
    }
}
