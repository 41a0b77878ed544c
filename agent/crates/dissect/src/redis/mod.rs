//! RESP2 and RESP3, the protocol of Redis and of those that speak as it does
//! (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).
//!
//! A visit is a command, whose label is its name with that of its subcommand. Its reply is the next
//! one: what a server pushes (RESP3) or publishes to who subscribed (RESP2), and what it tells a
//! monitor, are messages and no replies. A command in a transaction ends with its `+QUEUED`, the
//! transaction with EXEC's reply; a blocking command when there is something for it: how long it may wait
//! for that is its client's wish, and no work of the server's. Status is 0, or
//! 1 for a null (there is no such key), or 2 for an error.

mod bulk;
mod command;
mod modules;
mod names;
mod replies;
mod requests;
mod subcommands;
mod value;
mod wait;

use crate::context::Context;
use crate::memory::of_box;
use crate::parser::{Gap, Parser};
use crate::pipeline::Pipeline;
use crate::sink::Side;
pub(crate) use bulk::BULK;
use command::Asked;
use replies::Replies;
use requests::Requests;

/// A connection that speaks RESP.
pub(crate) struct Redis {
    requests: Requests,
    replies: Replies,
    pipeline: Pipeline<Asked>,
    /// A reply may begin: the client said something since the server did.
    is_asked: bool,
}

/// Whether a connection with these first bytes, or bytes of its middle, speaks it.
pub(crate) fn is_spoken(client: &[u8], server: &[u8]) -> bool {
    requests::looks_like_command(client) && (server.is_empty() || replies::looks_like_reply(server))
}

impl Parser for Redis {
    fn new(from_start: bool) -> Self {
        Self {
            requests: Requests::new(from_start),
            replies: Replies::new(from_start),
            pipeline: Pipeline::new(from_start),
            is_asked: false,
        }
    }

    fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.is_asked = true;
                self.requests.bytes(at_ns, bytes, &mut self.pipeline, cx);
            }
            Side::Server => {
                let may_begin = std::mem::take(&mut self.is_asked);
                self.replies.bytes(at_ns, bytes, may_begin, &mut self.pipeline, cx);
            }
        }
    }

    fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.is_asked = true;
                self.requests.lost(gap, &mut self.pipeline, cx);
            }
            Side::Server => self.replies.lost(gap, &mut self.pipeline, cx),
        }
    }

    fn ended(&mut self, _from: Side, _last_ns: i64, _cx: &mut Context<'_>) {}

    fn finish(&mut self, cx: &mut Context<'_>) {
        self.pipeline.abandon(cx);
    }

    fn other(&self) -> Option<&'static str> {
        self.requests.other()
    }

    fn held_bytes(&self) -> usize {
        let values = self.requests.held_bytes() + self.replies.held_bytes();
        of_box::<Self>() + values + self.pipeline.held_bytes()
    }
}
