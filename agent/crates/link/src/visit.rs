//! A visit as the linker sees it, and what the linker says of it.

use crate::names::Name;
use crate::topology::Server;

/// When a visit was at its server, in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The request's first byte arrived.
    pub arrival_ns: i64,
    /// The reply's last byte left; `i64::MAX` when that was not seen.
    pub departure_ns: i64,
}

impl Span {
    /// True when `inner` lies inside this span, give or take `slack_ns` at either end.
    pub fn contains(self, inner: Span, slack_ns: i64) -> bool {
        self.arrival_ns <= inner.arrival_ns.saturating_add(slack_ns)
            && inner.departure_ns <= self.departure_ns.saturating_add(slack_ns)
    }

    /// How long the two spans have in common, in nanoseconds; negative when they are apart.
    pub fn overlap_ns(self, other: Span) -> i64 {
        let start = self.arrival_ns.max(other.arrival_ns);
        self.departure_ns.min(other.departure_ns).saturating_sub(start)
    }
}

/// One row of `raw_visits`, with its texts interned.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The visit's own number.
    pub visit: i64,
    /// Where it was.
    pub server: Server,
    /// What was spoken there.
    pub protocol: Name,
    /// Its connection is lent to one request at a time for as many messages as that needs (a
    /// database's), so that what lies together belongs together.
    pub lent: bool,
    /// The connection that carried it.
    pub connection: i64,
    /// Its first and last moment.
    pub span: Span,
    /// When it was over: its departure or, where that was not seen, how far the capture had come
    /// when it gave the visit up.
    pub ended_ns: i64,
    /// The request's last byte arrived.
    pub request_end_ns: i64,
    /// The reply's first byte left; absent when there was none.
    pub reply_start_ns: Option<i64>,
    /// Its connection was over before it had departed.
    pub closed_ns: Option<i64>,
    /// How long its client lets it wait at the server; none where it asks for no wait.
    pub may_wait_ns: Option<i64>,
    /// Path template or SQL digest.
    pub label: Name,
    /// The protocol's status.
    pub status: Option<i32>,
    /// Size of the request.
    pub bytes_in: i64,
    /// Size of the reply.
    pub bytes_out: i64,
    /// The connection, one tier up, that this one continues (pass-through tiers).
    pub upstream: Option<i64>,
    /// Salted hash of the request id.
    pub id: Option<u64>,
    /// Salted hashes of the request's parameters or SQL literals.
    pub literals: Box<[u64]>,
    /// The two ends of its connection, as the sockets' threads name them.
    pub endpoints: u64,
    /// What threads did for it; none where they were not traced.
    pub work: Option<Box<Work>>,
}

/// What threads did for a visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// The turns in which its request was read.
    pub turns: Vec<i64>,
    /// Who sent it, where that tells its parent.
    pub caller: Option<Caller>,
    /// Who replied to it, where each worker has one request at a time.
    pub replied: Option<Replied>,
    /// What its own thread waited for.
    pub waits: Option<Waits>,
}

/// Who sent a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A worker that had read a request, in this turn.
    Turn(i64),
    /// A worker that replies to the request that it works on.
    Worker {
        /// Which one.
        worker: Worker,
        /// When it sent the call.
        at_ns: i64,
        /// It had replied to one, and read no other since.
        after_reply: bool,
    },
}

/// A process, and a thread of it or a goroutine.
pub type Worker = (i64, i64);

/// A request's reply, by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replied {
    /// Which one.
    pub worker: Worker,
    /// When the request was read, by whomever.
    pub read_ns: i64,
    /// When the worker last wrote of the reply.
    pub at_ns: i64,
}

/// A visit's time by what its thread did, in nanoseconds. All parts together are its stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The process.
    pub process: i64,
    /// The thread.
    pub thread: i64,
    /// Until a thread read the request.
    pub queued_ns: i64,
    /// By state, as `tierlab_trace::State` has them.
    pub parts: [i64; 9],
    /// The system call in which it slept longest of the last part.
    pub other_call: Option<Name>,
    /// From the last write of the reply on.
    pub sending_ns: i64,
}

impl Visit {
    /// Its span, closed even where its departure was not seen.
    pub fn stay(&self) -> Span {
        Span { departure_ns: self.ended_ns, ..self.span }
    }
}

/// How a parent was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// By an explicit mark: a request id, or a paired connection.
    Id,
    /// The kernel told which thread read the parent's request and sent the child's.
    Thread,
    /// By inference from times and contents.
    Inferred,
}

impl Means {
    /// The value in the column `link`.
    pub fn as_str(self) -> &'static str {
        match self {
            Means::Id => "id",
            Means::Thread => "thread",
            Means::Inferred => "inferred",
        }
    }
}

/// A visit's parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The parent's number.
    pub parent: i64,
    /// How it was found.
    pub means: Means,
    /// The probability that it is right.
    pub confidence: f64,
}

/// A visit and its parent, if it has one that was found.
pub type Linked = (Visit, Option<Link>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containment_allows_for_slack_and_open_ends() {
        let outer = Span { arrival_ns: 10, departure_ns: 20 };
        assert!(outer.contains(Span { arrival_ns: 10, departure_ns: 20 }, 0));
        assert!(!outer.contains(Span { arrival_ns: 9, departure_ns: 20 }, 0));
        assert!(outer.contains(Span { arrival_ns: 9, departure_ns: 21 }, 1));
        let open = Span { arrival_ns: 10, departure_ns: i64::MAX };
        assert!(open.contains(Span { arrival_ns: 15, departure_ns: i64::MAX }, 5));
        assert!(!outer.contains(Span { arrival_ns: 15, departure_ns: i64::MAX }, 5));
        assert_eq!(outer.overlap_ns(Span { arrival_ns: 25, departure_ns: 30 }), -5);
    }
}
