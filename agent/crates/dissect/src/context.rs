//! What a parser works in: the connection it reads and what all connections share.

use crate::exchange::Exchange;
use crate::label::Labels;
use crate::memory::Memory;
use crate::pairing::Clue;
use crate::sink::{Event, EventKind, Message, Peer, Side, Sink, Visit};
use crate::sql::{self, Recent, Recents, Statement};
use crate::{Salt, Server};
use std::sync::Arc;

/// What all connections share.
pub(crate) struct Shared {
    pub servers: Arc<[Server]>,
    pub salt: Salt,
    pub labels: Labels,
    /// Some server passes through.
    pub passes: bool,
    pub recents: Recents,
    pub memory: Memory,
    /// For decoded values.
    pub scratch: Vec<u8>,
    /// For labels in the making.
    pub text: String,
}

impl Shared {
    pub(crate) fn new(servers: Arc<[Server]>, salt: Salt, memory: Memory) -> Self {
        let passes = servers.iter().any(|server| server.pass_through);
        let (labels, recents) = (Labels::new(memory.part(8)), Recents::new());
        let (scratch, text) = (Vec::new(), String::new());
        Self { servers, salt, labels, passes, recents, memory, scratch, text }
    }

    /// The label and what else was carried of a statement of which nothing was lost.
    pub(crate) fn statement(&mut self, statement: Statement<'_>) -> Recent {
        let key = self.recents.key(statement);
        if let Some(known) = self.recents.get(key) {
            return known;
        }
        let recent = self.digest("", statement, true);
        self.recents.put(key, recent);
        recent
    }

    /// The same behind a word of the protocol's. A statement of which the end was lost has a digest
    /// of its own that would be wrong.
    pub(crate) fn digest(&mut self, before: &str, statement: Statement<'_>, whole: bool) -> Recent {
        self.text.clear();
        self.text.push_str(before);
        let digest = sql::digest(statement, &self.salt, &mut self.scratch, &mut self.text);
        let text = if whole { &self.text } else { "(incomplete)" };
        Recent { label: self.labels.number(text), digest }
    }

    /// What is remembered of no connection in particular.
    pub(crate) fn held_bytes(&self) -> usize {
        let scratch = self.scratch.capacity() + self.text.capacity();
        self.labels.held_bytes() + self.recents.held_bytes() + scratch
    }
}

/// The connection that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub connection: i64,
    pub server: usize,
    pub client: Peer,
}

/// Where a parser stands and where its results go.
pub(crate) struct Context<'a> {
    pub place: Place,
    pub shared: &'a mut Shared,
    pub sink: &'a mut dyn Sink,
    /// When the connection was over; None while it goes on.
    pub closed_ns: Option<i64>,
}

impl Context<'_> {
    /// An exchange is over.
    pub(crate) fn visit<T>(&mut self, exchange: &Exchange<T>, departure_ns: Option<i64>) {
        let Self { place, shared, sink, closed_ns } = self;
        // Where a capture's clock went back, a time before the arrival tells nothing.
        let since_arrival = |time: Option<i64>| time.filter(|&it| it >= exchange.arrival_ns);
        let reply_start_ns = since_arrival(exchange.reply_start_ns);
        let departure_ns = since_arrival(departure_ns);
        let closed_ns = since_arrival(*closed_ns).filter(|_| departure_ns.is_none());
        sink.visit(&Visit {
            server: place.server,
            connection: place.connection,
            client: place.client,
            arrival_ns: exchange.arrival_ns,
            request_end_ns: exchange.request_end_ns.max(exchange.arrival_ns),
            reply_start_ns,
            departure_ns: departure_ns.max(reply_start_ns.filter(|_| departure_ns.is_some())),
            closed_ns,
            may_wait_ns: exchange.may_wait_ns,
            label: shared.labels.text(exchange.label),
            status: exchange.status,
            bytes_in: exchange.bytes_in as i64,
            bytes_out: exchange.bytes_out as i64,
            id_hash: exchange.id_hash,
            literals: exchange.literals.hashes(),
        });
    }

    /// A message ended.
    pub(crate) fn message(
        &mut self,
        from: Side,
        (start_ns, end_ns): (i64, i64),
        bytes: u64,
        kind: &'static str,
    ) {
        self.sink.message(&Message {
            connection: self.place.connection,
            server: self.place.server,
            client: self.place.client.into(),
            from,
            start_ns,
            end_ns: end_ns.max(start_ns),
            bytes,
            kind,
        });
    }

    /// Something helps to pair connections, if there are any to pair.
    pub(crate) fn clue(&mut self, clue: impl FnOnce(&Shared, Place) -> Clue) {
        if self.shared.passes {
            self.sink.clue(clue(self.shared, self.place));
        }
    }

    /// Something happened.
    pub(crate) fn event(&mut self, at_ns: i64, what: EventKind) {
        self.sink.event(&Event {
            at_ns,
            server: self.place.server,
            client: self.place.client.into(),
            connection: self.place.connection,
            what,
        });
    }

    /// The salted hash of a request id.
    pub(crate) fn id_hash(&self, id: &[u8]) -> Option<u64> {
        let id = id.trim_ascii();
        (!id.is_empty()).then(|| self.shared.salt.hash(id))
    }
}
