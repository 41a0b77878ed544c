//! Requests with keys, on a connection on which it may be uncertain that they are requests.
//!
//! After a loss, and from a connection's middle, the client's stream is found again where a packet
//! begins as a request does. Content may look like that, too. What is read from there on is only
//! surmised to be requests until the server answers one of them: then all are. If the client goes on
//! in a way that requests do not, none is, and no word of them is kept.

use crate::context::Context;
use crate::exchange::Exchange;
use crate::keyed::{Detail, KeyedExchanges};

/// The requests of a connection that are not over.
pub(crate) struct Requests<T> {
    pub certain: KeyedExchanges<T>,
    surmised: KeyedExchanges<T>,
    is_surmised: bool,
}

impl<T: Detail> Default for Requests<T> {
    fn default() -> Self {
        let (certain, surmised) = (KeyedExchanges::default(), KeyedExchanges::default());
        Self { certain, surmised, is_surmised: false }
    }
}

impl<T: Detail> Requests<T> {
    /// What the client says from here on may be content that looks like requests.
    pub(crate) fn surmise(&mut self) {
        self.is_surmised = true;
    }

    /// True until the server has answered one that is surmised, or they were forgotten.
    pub(crate) fn are_surmised(&self) -> bool {
        self.is_surmised
    }

    /// The client's stream was misunderstood: what was surmised were no requests.
    pub(crate) fn forget_surmised(&mut self) {
        self.surmised = KeyedExchanges::default();
        self.is_surmised = false;
    }

    /// The requests of the client's stream as it is understood now: those that are surmised, if any
    /// are.
    pub(crate) fn current(&mut self) -> &mut KeyedExchanges<T> {
        if self.is_surmised { &mut self.surmised } else { &mut self.certain }
    }

    /// A request came. Gives false if it can be none: a key is not used again before the reply.
    pub(crate) fn push(&mut self, key: u32, exchange: Exchange<T>, cx: &mut Context<'_>) -> bool {
        if !self.is_surmised {
            self.certain.push(key, exchange, cx);
            return true;
        }
        let may_be_one = !self.surmised.contains(key) && !self.surmised.is_full();
        if may_be_one {
            self.surmised.push(key, exchange, cx);
        }
        may_be_one
    }

    /// True if it is surmised that there is a request with this key.
    pub(crate) fn surmises(&self, key: u32) -> bool {
        self.is_surmised && self.surmised.contains(key)
    }

    /// The server answers the request with this key. If that is surmised, all are requests.
    pub(crate) fn answered(&mut self, key: u32, cx: &mut Context<'_>) {
        if self.surmises(key) {
            for (key, exchange) in self.surmised.take_all() {
                self.certain.push(key, exchange, cx);
            }
            self.is_surmised = false;
        }
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.certain.held_bytes() + self.surmised.held_bytes()
    }
}
