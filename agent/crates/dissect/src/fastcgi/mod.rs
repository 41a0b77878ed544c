//! FastCGI 1.0 (Brown, "FastCGI Specification", Open Market, 1996). Requests of one connection may
//! be under way side by side: each record says whose it is.

mod bulk;
mod header;
mod open;
mod params;
mod record;

use crate::context::Context;
use crate::framed::{self, Frames};
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::sink::Side;
pub(crate) use bulk::BULK;
use open::Open;
use record::*;

type Record<'a> = framed::Frame<'a, HEADER>;

/// Parameters, and forms, are read up to this length.
const LONGEST: usize = 64 << 10;

/// Of an output no more is read: its header is in its first records.
const LONGEST_PREFIX: usize = 4 << 10;

/// A connection that speaks FastCGI.
pub(crate) struct Fastcgi {
    requests: Frames<HEADER>,
    replies: Frames<HEADER>,
    open: Open,
    /// A record was seen, or the connection's beginning was not.
    has_begun: bool,
}

impl Parser for Fastcgi {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Frames::new(measure, LONGEST, from_start),
            replies: Frames::new(measure, LONGEST_PREFIX, from_start),
            open: Open::default(),
            has_begun: !from_start,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.resume_requests(bytes);
                self.request_bytes(at_ns, bytes, cx);
            }
            Side::Server => {
                self.resume_replies(bytes, cx);
                self.reply_bytes(at_ns, bytes, cx);
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.has_begun = true;
                match self.requests.skip_of_request(gap) {
                    Some(at_ns) => self.request_bytes(at_ns, &[], cx),
                    None => self.lose_requests(),
                }
            }
            Side::Server => {
                if let Some(at_ns) = self.replies.skip_of_reply(gap) {
                    self.reply_bytes(at_ns, &[], cx);
                }
            }
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.open.requests.certain.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        (!self.has_begun && self.requests.is_lost()).then_some("unknown")
    }

    fn held_bytes(&self) -> usize {
        let records = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + records + self.open.held_bytes()
    }
}

impl Fastcgi {
    /// Takes up a lost stream where a packet begins with a request. Content may begin so, too: then
    /// the client goes on in another way, or the server does not answer (see [`crate::surmised`]).
    fn resume_requests(&mut self, bytes: &[u8]) {
        if !begins_request(bytes) {
            return;
        }
        let id = bytes.first_chunk().map_or(0, |&header| request_id(header));
        if self.requests.is_lost() {
            self.requests.resume();
        } else if self.requests.in_progress() > 0 || !self.open.requests.surmises(id) {
            return;
        }
        // If an id is used again, the ones before were no requests, or were answered unseen.
        self.open.requests.forget_surmised();
        self.open.requests.surmise();
        self.requests.measure = measure_request;
    }

    fn resume_replies(&mut self, bytes: &[u8], cx: &mut Context<'_>) {
        if self.replies.is_lost() && looks_like_replies(bytes) {
            self.replies.resume();
            // It may be the reply to a request that was lost, too.
            if self.requests.is_lost() {
                self.open.requests.certain.abandon(cx);
            }
        }
    }

    fn request_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let mut makes_sense = true;
        while makes_sense && let Some(record) = self.requests.next(at_ns, &mut bytes) {
            self.has_begun = true;
            makes_sense = self.open.request(&record, cx);
        }
        if self.open.requests.are_surmised() && (!makes_sense || self.requests.is_lost()) {
            self.lose_requests();
        }
    }

    fn reply_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        let were_surmised = self.open.requests.are_surmised();
        // Where the client is in the middle of a record, it may be none at all.
        let is_whole = self.requests.in_progress() == 0;
        while let Some(record) = self.replies.next(at_ns, &mut bytes) {
            let id = request_id(record.header);
            if is_whole {
                self.open.requests.answered(id, cx);
            } else if self.open.requests.surmises(id) {
                self.open.requests.forget_surmised();
            }
            self.open.reply(&record, cx);
        }
        if were_surmised && !self.open.requests.are_surmised() {
            self.requests.measure = measure;
            if !is_whole {
                self.requests.lose();
            }
        }
    }

    fn lose_requests(&mut self) {
        self.requests.lose();
        self.open.requests.forget_surmised();
    }
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    let begins = begins_request(client) || matches!(client, [1, GET_VALUES, 0, 0, ..]);
    begins && (server.is_empty() || looks_like_replies(server))
}
