//! Visits for tests.

use crate::visit::{Span, Visit};

/// Starts a visit of the number `visit`.
pub fn visit(visit: i64) -> Builder {
    Builder(Visit {
        visit,
        server: 0,
        protocol: 0,
        lent: false,
        connection: 0,
        span: Span { arrival_ns: 0, departure_ns: 0 },
        ended_ns: 0,
        request_end_ns: 0,
        reply_start_ns: None,
        closed_ns: None,
        may_wait_ns: None,
        label: 0,
        status: None,
        bytes_in: 0,
        bytes_out: 0,
        upstream: None,
        id: None,
        literals: Box::default(),
        endpoints: 0,
        work: None,
    })
}

/// A visit in the making.
pub struct Builder(Visit);

impl Builder {
    pub fn at(mut self, server: u16) -> Self {
        self.0.server = server;
        self
    }

    pub fn on(mut self, connection: i64) -> Self {
        self.0.connection = connection;
        self
    }

    pub fn lent(mut self) -> Self {
        self.0.lent = true;
        self
    }

    pub fn during(mut self, arrival_ns: i64, departure_ns: i64) -> Self {
        self.0.span = Span { arrival_ns, departure_ns };
        self.0.ended_ns = departure_ns;
        self.0.request_end_ns = arrival_ns;
        self.0.reply_start_ns = Some(departure_ns);
        self
    }

    /// Its departure was not seen; the capture gave it up then.
    pub fn given_up(mut self, at_ns: i64) -> Self {
        self.0.span.departure_ns = i64::MAX;
        (self.0.ended_ns, self.0.reply_start_ns) = (at_ns, None);
        self
    }

    pub fn id(mut self, id: u64) -> Self {
        self.0.id = Some(id);
        self
    }

    pub fn upstream(mut self, connection: i64) -> Self {
        self.0.upstream = Some(connection);
        self
    }

    pub fn label(mut self, label: u32) -> Self {
        self.0.label = label;
        self
    }

    pub fn build(self) -> Visit {
        self.0
    }
}
