//! Requests and calls as an event loop sees them, and how far a request has come.

use crate::event_loop::behaviour::{Answer, Behaviour, Context, END, Output, REQUEST, START};
use crate::names::Name;
use crate::topology::Server;
use crate::visit::{Span, Visit};

/// A request that the loop works on.
#[derive(Clone, Debug)]
pub struct Request {
    /// The visit's number.
    pub visit: i64,
    /// Where.
    pub server: Server,
    /// Its label.
    pub page: Name,
    /// When it was there whole, and when its reply began to leave.
    pub span: Span,
    /// Its id.
    pub id: Option<u64>,
    /// What it was asked for.
    pub literals: Box<[u64]>,
}

impl Request {
    /// Of a visit.
    pub fn of(visit: &Visit) -> Self {
        let departure_ns = visit.reply_start_ns.unwrap_or(visit.ended_ns);
        Self {
            visit: visit.visit,
            server: visit.server,
            page: visit.label,
            span: Span { arrival_ns: visit.request_end_ns, departure_ns },
            id: visit.id,
            literals: visit.literals.clone(),
        }
    }
}

/// A call that some request made.
#[derive(Clone, Debug)]
pub struct Call {
    /// The server that is called.
    pub server: Server,
    /// Its connection carries one request's calls at a time.
    pub lent: bool,
    /// The connection.
    pub connection: i64,
    /// What was asked.
    pub label: Name,
    /// When it was sent, and when its answer was there whole.
    pub span: Span,
    /// What the answer was like.
    pub answer: Answer,
    /// The id of the request that made it, where it says so.
    pub id: Option<u64>,
    /// What it was asked for.
    pub literals: Box<[u64]>,
}

impl Call {
    /// Of a visit, whose id counts if it `has_id`.
    pub fn of(visit: &Visit, has_id: bool) -> Self {
        Self {
            server: visit.server,
            lent: visit.lent,
            connection: visit.connection,
            label: visit.label,
            span: visit.stay(),
            answer: Answer {
                status: visit.status.unwrap_or(0),
                size: (64 - (visit.bytes_out.max(0) as u64).leading_zeros()) as u8,
            },
            id: visit.id.filter(|_| has_id),
            literals: visit.literals.clone(),
        }
    }
}

/// A message that came for a request and that nothing was sent upon yet.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// When it came.
    pub at_ns: i64,
    /// The server that answers; none for a request.
    pub source: Option<Server>,
    /// The label of the call that it answers, or [`REQUEST`].
    pub label: Name,
    /// What the answer is like.
    pub answer: Answer,
}

/// How far a request has come.
#[derive(Clone, Debug)]
pub struct Progress {
    page: Name,
    /// Calls whose answer was not worked on yet.
    outstanding: u8,
    /// All calls that it made.
    pub calls: u32,
    /// What came and was not worked on, as far as is seen.
    pub waiting: Vec<Input>,
    /// The input that was worked on last, with the last output upon it.
    last: Option<Context>,
}

/// What an output is sent upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The input that the last output was sent upon.
    Last,
    /// A waiting input, by its position; those before it had no output.
    Waiting(usize),
    /// Nothing that was seen.
    Unseen,
}

impl Progress {
    /// A request that came whole at `at_ns`.
    pub fn new(page: Name, at_ns: i64) -> Self {
        let input = Input { at_ns, source: None, label: REQUEST, answer: Answer::default() };
        Self { page, outstanding: 0, calls: 0, waiting: vec![input], last: None }
    }

    /// The input or output that the next output is timed from.
    pub fn upon(&self, cause: Cause) -> Output {
        match cause {
            Cause::Last => self.last.map_or(START, |last| last.before),
            Cause::Waiting(at) => self.waiting[at].label,
            Cause::Unseen => START,
        }
    }

    /// True if some output was sent upon an input that may have another.
    pub fn has_last(&self) -> bool {
        self.last.is_some()
    }

    /// Calls `each` with what an output upon `cause` says of the program: contexts and what followed.
    pub fn steps(&self, cause: Cause, output: Output, mut each: impl FnMut(&Context, Output)) {
        if let (Some(last), Cause::Last) = (&self.last, cause) {
            each(last, output);
            return;
        }
        if let Some(last) = &self.last {
            each(last, END);
        }
        let silent = match cause {
            Cause::Waiting(at) => at,
            _ => self.waiting.len(),
        };
        for at in 0..silent {
            each(&self.context(at), END);
        }
        if let Cause::Waiting(at) = cause {
            each(&self.context(at), output);
        }
    }

    /// The logarithm of the probability of an output upon `cause`.
    pub fn log_probability(&self, cause: Cause, output: Output, behaviour: &Behaviour) -> f64 {
        let mut sum = 0.0;
        self.steps(cause, output, |context, next| {
            sum += behaviour.log_probability(context, next);
        });
        sum
    }

    /// The logarithm of the probability that nothing is sent upon the latest input.
    pub fn log_silence(&self, behaviour: &Behaviour) -> f64 {
        self.waiting
            .len()
            .checked_sub(1)
            .map_or(0.0, |at| behaviour.log_probability(&self.context(at), END))
    }

    /// Sends an output upon `cause`.
    pub fn send(&mut self, cause: Cause, output: Output) {
        let begun = match cause {
            Cause::Last => self.last,
            Cause::Waiting(at) => Some(self.context(at)),
            Cause::Unseen => None,
        };
        self.last = begun.map(|context| Context { before: output, ..context });
        let done = match cause {
            Cause::Last => 0,
            Cause::Waiting(at) => at + 1,
            Cause::Unseen => self.waiting.len(),
        };
        let answered = self.waiting.drain(..done).filter(|it| it.label != REQUEST).count();
        self.calls += 1;
        self.outstanding = self.outstanding.saturating_sub(answered as u8).saturating_add(1);
    }

    /// The context in which a waiting input is worked on, those before it having been.
    fn context(&self, at: usize) -> Context {
        let input = self.waiting[at];
        let answered = self.waiting[..=at].iter().filter(|it| it.label != REQUEST).count();
        Context {
            page: self.page,
            input: input.label,
            answer: input.answer,
            outstanding: self.outstanding.saturating_sub(answered as u8).min(3),
            before: START,
        }
    }
}
