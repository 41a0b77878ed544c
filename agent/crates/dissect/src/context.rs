//! What a parser works in: the connection it reads and what all connections share.

use crate::exchange::Exchange;
use crate::label::Labels;
use crate::pairing::Pairing;
use crate::sink::{Event, Happening, Message, Peer, Side, Sink, Visit};
use crate::sql::Recents;
use crate::{Salt, Server};

/// What all connections share.
pub(crate) struct Shared {
    pub servers: Vec<Server>,
    pub salt: Salt,
    pub labels: Labels,
    pub pairing: Pairing,
    pub visits: i64,
    pub recents: Recents,
    pub waiting: Waiting,
    /// For decoded values.
    pub scratch: Vec<u8>,
    /// For labels in the making.
    pub text: String,
}

impl Shared {
    pub(crate) fn new(servers: Vec<Server>, salt: Salt) -> Self {
        let pairing = Pairing::new(&servers);
        let (scratch, text) = (Vec::new(), String::new());
        let (labels, recents) = (Labels::new(), Recents::new());
        let waiting = Waiting::default();
        Self { servers, salt, labels, pairing, visits: 0, recents, waiting, scratch, text }
    }
}

/// No more bytes than this wait behind holes, of all connections together.
const MOST_WAITING_BYTES: usize = 256 << 20;

/// How many bytes wait behind holes.
#[derive(Default)]
pub(crate) struct Waiting(usize);

impl Waiting {
    /// As many as may wait for a stream of which so many wait now.
    pub(crate) fn room(&self, of_stream: usize) -> usize {
        MOST_WAITING_BYTES.saturating_sub(self.0) + of_stream
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.0
    }

    /// As many waited for a connection as the first number says, now as many as the second.
    pub(crate) fn changed(&mut self, before: usize, now: usize) {
        self.0 = self.0 - before + now;
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
}

impl Context<'_> {
    /// An exchange is over.
    pub(crate) fn visit<T>(&mut self, exchange: &Exchange<T>, departure_ns: Option<i64>) {
        let Self { place, shared, sink } = self;
        let upstream = shared.pairing.visited(place.connection);
        sink.visit(&Visit {
            visit: shared.visits,
            server: &shared.servers[place.server],
            connection: place.connection,
            arrival_ns: exchange.arrival_ns,
            request_end_ns: exchange.request_end_ns,
            reply_start_ns: exchange.reply_start_ns,
            departure_ns,
            label: shared.labels.text(exchange.label),
            status: exchange.status,
            bytes_in: exchange.bytes_in as i64,
            bytes_out: exchange.bytes_out as i64,
            upstream,
            id_hash: exchange.id_hash,
            literals: exchange.literals.hashes(),
        });
        shared.visits += 1;
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
            server: &self.shared.servers[self.place.server],
            client: self.place.client.into(),
            from,
            start_ns,
            end_ns,
            bytes,
            kind,
        });
    }

    /// Something happened.
    pub(crate) fn event(&mut self, at_ns: i64, what: Happening) {
        self.sink.event(&Event {
            at_ns,
            server: &self.shared.servers[self.place.server],
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
