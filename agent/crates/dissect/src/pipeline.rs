//! Requests and their replies in their order, on a connection whose client may send on before it is
//! answered.
//!
//! While nothing is lost, a reply is the first request's that can have it; requests before that one
//! are answered by silence, where their protocol has that. After a loss it is in doubt whose the
//! next reply is: what waited may have been answered by what was lost, and requests that were lost
//! have replies. A client that was never seen to send on waits for its replies, so that with its
//! next request nothing else is due. Of one that sends on, all that waited are taken for answered.
//! That is too many or just right: every reply that comes while none is due takes one back, until
//! the count is right. Doubt ends once the client has asked so often while none was due, and no
//! reply came too many. Until then replies end no visit.

use crate::context::Context;
use crate::exchange::{Exchange, Exchanges, MOST};

/// After a search of so many requests for one that takes a reply, in vain, they are given up: each is
/// looked at a few times at most.
const IN_VAIN: usize = MOST;

/// So often a client that sends on must have asked while nothing was due.
const CALM: u8 = 8;

/// What a protocol knows of a request that waits for its reply.
pub(crate) trait Awaits {
    /// What it knows of a reply.
    type Told;

    /// True if it may be this request's.
    fn takes(&self, told: &Self::Told) -> bool;

    /// The status of a request to which the server has said nothing by the time it replies to a
    /// later one; none if it always replies.
    fn silence(&self) -> Option<i32> {
        None
    }

    /// True if its reply is the confirmation that channels were subscribed to, or left.
    fn is_confirmed(&self) -> bool {
        false
    }
}

/// A reply that was seen to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply<T> {
    pub start_ns: i64,
    pub end_ns: i64,
    pub bytes: u64,
    pub status: i32,
    pub told: T,
}

/// The exchanges of a connection that are not over.
pub(crate) struct Pipeline<T> {
    exchanges: Exchanges<T>,
    doubt: Option<Doubt>,
    /// The client asked while replies were due.
    sends_on: bool,
    /// How many of the exchanges are not answered by silence.
    due: usize,
    /// How many of them are confirmed.
    confirmed: usize,
    /// How many requests were looked at for replies that none of them takes.
    in_vain: usize,
}

/// It is not known whose replies come.
#[derive(Clone, Copy)]
struct Doubt {
    /// But of so many requests: they came before what was lost.
    certain: usize,
    /// So often in turn the client asked while nothing was due.
    calm: u8,
}

impl<T: Awaits> Pipeline<T> {
    /// Of a connection that is seen from its start, or from somewhere.
    pub(crate) fn new(from_start: bool) -> Self {
        let doubt = (!from_start).then_some(Doubt { certain: 0, calm: 0 });
        let exchanges = Exchanges::default();
        Self { exchanges, doubt, sends_on: false, due: 0, confirmed: 0, in_vain: 0 }
    }

    /// A request begins with a packet of the client's.
    pub(crate) fn asks(&mut self, cx: &mut Context<'_>) {
        // What may be answered by silence alone is not waited for.
        let is_due = self.due > 0;
        let Some(doubt) = &mut self.doubt else {
            self.sends_on |= is_due;
            return;
        };
        if !self.sends_on {
            self.abandon(cx);
            self.doubt = None;
        } else if !is_due {
            doubt.calm += 1;
            if doubt.calm >= CALM {
                self.doubt = None;
            }
        }
    }

    /// A request came to which the server may reply.
    pub(crate) fn push(&mut self, exchange: Exchange<T>, cx: &mut Context<'_>) {
        if self.exchanges.len() >= MOST {
            self.sends_on = true;
            self.doubt_all(cx);
        }
        let is_uncertain = self.exchanges.was_before_loss(&exchange);
        self.due += usize::from(exchange.detail.silence().is_none());
        self.confirmed += usize::from(exchange.detail.is_confirmed());
        self.exchanges.add(exchange);
        if is_uncertain {
            self.doubt_all(cx);
        }
    }

    /// True if some request is to be confirmed.
    pub(crate) fn awaits_confirmation(&self) -> bool {
        self.confirmed > 0
    }

    /// The exchange whose reply is due, if that is certain.
    pub(crate) fn first(&mut self) -> Option<&mut Exchange<T>> {
        match self.doubt {
            Some(Doubt { certain: 0, .. }) => None,
            _ => self.exchanges.first(),
        }
    }

    /// A reply ended.
    pub(crate) fn replied(&mut self, reply: &Reply<T::Told>, cx: &mut Context<'_>) {
        let Some(before) = self.exchanges.iter().position(|it| it.detail.takes(&reply.told)) else {
            self.in_vain += self.exchanges.len();
            return self.surplus(cx);
        };
        let is_certain = match &mut self.doubt {
            None => true,
            Some(doubt) => {
                let is_certain = before < doubt.certain;
                doubt.certain = doubt.certain.saturating_sub(before + 1);
                is_certain
            }
        };
        for _ in 0..before {
            self.answered_by_silence(reply.end_ns, is_certain, cx);
        }
        if let Some(exchange) = self.exchanges.first().filter(|_| is_certain) {
            exchange.reply_grew(reply.start_ns, reply.bytes);
            exchange.status = Some(reply.status);
        }
        self.over(is_certain.then_some(reply.end_ns), cx);
    }

    /// Requests were lost.
    pub(crate) fn lost_requests(&mut self) {
        let certain = self.exchanges.len();
        self.doubt.get_or_insert(Doubt { certain, calm: 0 }).calm = 0;
    }

    /// Replies were lost, or some of one, which was known at `seen_ns`.
    pub(crate) fn lost_replies(&mut self, seen_ns: i64, cx: &mut Context<'_>) {
        self.exchanges.lost_replies(seen_ns);
        self.doubt_all(cx);
    }

    fn doubt_all(&mut self, cx: &mut Context<'_>) {
        if !self.exchanges.is_empty() {
            self.doubt = Some(Doubt { certain: 0, calm: 0 });
            self.abandon(cx);
        }
    }

    /// No more replies will be seen.
    pub(crate) fn abandon(&mut self, cx: &mut Context<'_>) {
        self.exchanges.abandon(cx);
        (self.due, self.confirmed, self.in_vain) = (0, 0, 0);
    }

    /// What is remembered of them, beside what their details point to.
    pub(crate) fn held_bytes(&self) -> usize {
        self.exchanges.held_bytes()
    }

    /// The first request was told by a later one's reply that it has none.
    fn answered_by_silence(&mut self, end_ns: i64, is_certain: bool, cx: &mut Context<'_>) {
        let silence = self.exchanges.first().and_then(|exchange| {
            exchange.status = exchange.detail.silence().filter(|_| is_certain);
            exchange.status
        });
        self.over(silence.map(|_| end_ns), cx);
    }

    /// The first request is over.
    fn over(&mut self, departure_ns: Option<i64>, cx: &mut Context<'_>) {
        if let Some(Exchange { detail, .. }) = self.exchanges.first() {
            self.due -= usize::from(detail.silence().is_none());
            self.confirmed -= usize::from(detail.is_confirmed());
        }
        self.exchanges.replied(departure_ns, cx);
    }

    /// A reply came that is nobody's who waits.
    fn surplus(&mut self, cx: &mut Context<'_>) {
        match &mut self.doubt {
            Some(doubt) => {
                doubt.calm = 0;
                if self.in_vain > IN_VAIN {
                    doubt.certain = 0;
                    self.abandon(cx);
                }
            }
            None => {
                // Then those before it were not whose they seemed to be.
                self.sends_on = true;
                self.doubt = Some(Doubt { certain: 0, calm: 0 });
                self.abandon(cx);
            }
        }
    }
}
