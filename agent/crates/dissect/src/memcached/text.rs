//! The text protocol: lines, and data blocks of a length that a line tells.

use super::command::Asked;
use super::text_replies::TextReplies;
use super::text_requests::TextRequests;
use crate::context::Context;
use crate::parser::Gap;
use crate::pipeline::Pipeline;
use crate::sink::Side;

/// A connection that speaks it.
pub(super) struct Text {
    requests: TextRequests,
    replies: TextReplies,
    pipeline: Pipeline<Asked>,
    /// A reply may begin: the client said something since the server did.
    is_asked: bool,
}

impl Text {
    pub(super) fn new(from_start: bool) -> Self {
        Self {
            requests: TextRequests::new(from_start),
            replies: TextReplies::new(from_start),
            pipeline: Pipeline::new(from_start),
            is_asked: false,
        }
    }

    pub(super) fn bytes(&mut self, from: Side, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) {
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

    pub(super) fn lost(&mut self, from: Side, gap: Gap, cx: &mut Context<'_>) {
        match from {
            Side::Client => {
                self.is_asked = true;
                self.requests.lost(gap, &mut self.pipeline, cx);
            }
            Side::Server => self.replies.lost(gap, &mut self.pipeline, cx),
        }
    }

    /// True if the connection began with something else than a command.
    pub(super) fn is_foreign(&self) -> bool {
        self.requests.is_foreign()
    }

    pub(super) fn finish(&mut self, cx: &mut Context<'_>) {
        self.pipeline.abandon(cx);
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.requests.held_bytes() + self.replies.held_bytes() + self.pipeline.held_bytes()
    }
}
