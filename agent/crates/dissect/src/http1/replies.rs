//! The server's direction.

use super::body::{Body, Reach};
use super::head::{self, ReplyHead, Stated};
use super::reader::State;
use super::{Http1, Method, Unasked, Waits};
use crate::context::Context;
use crate::parser::Gap;
use crate::sink::Side;

impl Http1 {
    pub(super) fn reply_bytes(&mut self, at_ns: i64, mut bytes: &[u8], cx: &mut Context<'_>) {
        while !bytes.is_empty() && !self.opaque {
            let used = match self.replies.state {
                State::Lost if head::looks_like_reply(bytes) => {
                    self.resume_replies(cx);
                    0
                }
                State::Lost => return,
                State::Head => self.reply_head(at_ns, bytes, cx),
                State::Body(body) => self.reply_body(body, at_ns, bytes, cx),
            };
            bytes = &bytes[used..];
        }
    }

    pub(super) fn reply_lost(&mut self, gap: Gap, cx: &mut Context<'_>) {
        let Gap { at_ns, bytes, .. } = gap;
        let left = match self.replies.state {
            // Replies that nobody has seen the beginning of may have been lost, too.
            State::Lost if at_ns.is_none() => None,
            State::Lost => return,
            // Was it a HEAD's? Then what was lost is not its content.
            State::Body(_) if at_ns.is_none() && self.is_bare_head() => None,
            State::Body(body) => body.after_loss(bytes, at_ns.is_some()),
            State::Head => None,
        };
        let Some(body) = left else { return self.lose_replies(gap.seen_ns) };
        self.replies.state = State::Body(body);
        self.reply_grew(bytes);
        if body == Body::Length(0) {
            match at_ns {
                Some(at_ns) => self.reply_ended(at_ns, cx),
                None => {
                    self.replies.state = State::Head;
                    if self.unasked.is_none() {
                        self.exchanges.replied(None, cx);
                    }
                }
            }
        }
    }

    /// The server closed: that ends a reply without a length.
    pub(super) fn replies_ended(&mut self, last_ns: i64, cx: &mut Context<'_>) {
        if self.replies.state == State::Body(Body::UntilClose) {
            self.reply_ended(last_ns, cx);
        }
    }

    /// A request came after replies were lost: the earlier requests' replies were among them.
    pub(super) fn abandon_uncertain(&mut self, cx: &mut Context<'_>) {
        if self.replies.state == State::Lost {
            self.exchanges.abandon_uncertain(cx);
        }
        self.exchanges.settle();
    }

    fn lose_replies(&mut self, seen_ns: i64) {
        self.replies.lose();
        self.exchanges.lost_replies(seen_ns);
    }

    /// A reply begins after some were lost. It is not the one whose beginning was seen. If the last
    /// request was lost too, it is that one's: the replies of those before were among the lost.
    fn resume_replies(&mut self, cx: &mut Context<'_>) {
        self.replies.state = State::Head;
        if self.requests.state == State::Lost {
            self.exchanges.abandon_uncertain(cx);
        }
        self.exchanges.settle();
        if self.exchanges.first().is_some_and(|it| it.reply_start_ns.is_some()) {
            self.exchanges.replied(None, cx);
        }
    }

    fn reply_head(&mut self, at_ns: i64, bytes: &[u8], cx: &mut Context<'_>) -> usize {
        let (used, complete) = self.replies.head(at_ns, bytes);
        let Some(complete) = complete else { return used };
        let Some(head) = head::reply(complete) else {
            self.lose_replies(at_ns);
            return used;
        };
        let (start_ns, size) = (self.replies.start_ns, self.replies.size);
        if matches!(head.status, 100..=199) && head.status != 101 {
            self.waits = Waits::No;
            self.replies.enter(Body::Length(0));
            self.replies.state = State::Head;
            cx.message(Side::Server, (start_ns, at_ns), size, "interim reply");
            return used;
        }
        // One that waits has asked last, and those before it are answered first.
        if self.waits == Waits::Yes && self.exchanges.len() == 1 {
            self.waits = Waits::Refused;
        }
        let mut method = Method::Other;
        let alone = self.exchanges.is_empty();
        self.unasked = alone.then_some(Unasked { end_ns: at_ns, bytes: size });
        if let Some(exchange) = self.exchanges.first() {
            exchange.reply_grew(start_ns, size);
            exchange.status = Some(i32::from(head.status));
            method = exchange.detail;
        }
        let Some(body) = body(&head, method) else {
            self.lose_replies(at_ns);
            return used;
        };
        self.replies.enter(body);
        if body == Body::Length(0) {
            self.reply_ended(at_ns, cx);
        }
        if head.status == 101 || (method == Method::Connect && head.status / 100 == 2) {
            self.become_opaque(at_ns, "upgrade", cx);
        }
        used
    }

    fn reply_body(
        &mut self,
        mut body: Body,
        at_ns: i64,
        bytes: &[u8],
        cx: &mut Context<'_>,
    ) -> usize {
        if let Some(head) = self.unasked
            && self.is_bare_head()
            && head::looks_like_reply(bytes)
        {
            self.reply_ended(head.end_ns, cx);
            return 0;
        }
        let reach = body.take(bytes);
        let used = match reach {
            Reach::Beyond => bytes.len(),
            Reach::Ended(used) => used,
            Reach::Broken => {
                self.lose_replies(at_ns);
                return bytes.len();
            }
        };
        self.replies.state = State::Body(body);
        self.reply_grew(used as u64);
        if reach != Reach::Beyond {
            self.reply_ended(at_ns, cx);
        }
        used
    }

    /// Nothing is seen yet of the content of a reply whose request was not seen.
    fn is_bare_head(&self) -> bool {
        self.unasked.is_some_and(|head| head.bytes == self.replies.size)
    }

    fn reply_grew(&mut self, bytes: u64) {
        self.replies.size += bytes;
        if self.unasked.is_none()
            && let Some(exchange) = self.exchanges.first()
        {
            exchange.bytes_out += bytes;
        }
    }

    fn reply_ended(&mut self, at_ns: i64, cx: &mut Context<'_>) {
        self.replies.state = State::Head;
        cx.message(Side::Server, (self.replies.start_ns, at_ns), self.replies.size, "reply");
        if self.unasked.is_none() {
            self.exchanges.replied(Some(at_ns), cx);
        }
    }
}

/// How the reply's content is framed (RFC 9112 section 6.3); none if that is not clear.
fn body(head: &ReplyHead, method: Method) -> Option<Body> {
    let bodiless = method == Method::Head
        || matches!(head.status, 100..=199 | 204 | 304)
        || (method == Method::Connect && head.status / 100 == 2);
    match head.stated {
        _ if bodiless => Some(Body::Length(0)),
        Stated::Length(body) => Some(body),
        Stated::Nothing | Stated::Coded => Some(Body::UntilClose),
        Stated::Unclear => None,
    }
}
