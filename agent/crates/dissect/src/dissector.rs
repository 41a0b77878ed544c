//! From frames to connections: finds whose connection a segment belongs to.

use crate::connection::Connection;
use crate::context::{Context, Place, Shared};
use crate::frame::Segment;
use crate::parser::parser;
use crate::sink::{Peer, Side, Sink};
use crate::{LinkType, Salt, Server};
use foldhash::fast::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// A connection request without an answer is forgotten after this long (Linux gives up at 127 s).
const HALF_OPEN_NS: i64 = 180_000_000_000;
/// A connection that says nothing is forgotten after this long (Linux's first keep-alive probe).
const IDLE_NS: i64 = 7_200_000_000_000;
/// More connections than this are not followed: their packets are counted. (A system has some ten
/// thousand; a flood of connection requests has any number.)
const MOST_CONNECTIONS: usize = 1 << 20;
/// Forgotten connections are looked for this often.
const SWEEP_NS: i64 = 60_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Flow {
    server: usize,
    client: Peer,
}

/// Takes captured frames in the order of their capture; gives visits, messages and events.
pub struct Dissector {
    listeners: HashMap<Peer, usize, RandomState>,
    flows: HashMap<Flow, Connection, RandomState>,
    shared: Shared,
    /// Connections that were reset since the last sweep: what the other side had sent
    /// before it knew comes later and begins no connection.
    reset: HashSet<Flow, RandomState>,
    connections: i64,
    swept_ns: i64,
    filtered: bool,
    crowded_out: u64,
    most_connections: usize,
}

impl Dissector {
    /// A dissector for these servers' connections. `salt` keys the hashes of ids and literals.
    pub fn new(servers: Vec<Server>, salt: Salt) -> Self {
        let listeners = servers
            .iter()
            .enumerate()
            .map(|(number, server)| (Peer { address: server.address, port: server.port }, number))
            .collect();
        Self {
            listeners,
            flows: HashMap::default(),
            reset: HashSet::default(),
            shared: Shared::new(servers, salt),
            connections: 0,
            swept_ns: i64::MIN,
            filtered: false,
            crowded_out: 0,
            most_connections: MOST_CONNECTIONS,
        }
    }

    /// Takes frames that a filter has cut as [`crate::bulk`] says.
    pub fn behind_filter(self) -> Self {
        Self { filtered: true, ..self }
    }

    /// Takes a frame captured at `at_ns`. What is not a TCP segment of a known server is ignored.
    pub fn frame(&mut self, at_ns: i64, link: LinkType, frame: &[u8], sink: &mut dyn Sink) {
        let Some(segment) = Segment::parse(link, frame) else { return };
        let segment = if self.filtered { segment.filtered() } else { segment };
        // Damaged files tell any time; their differences must be times too.
        let at_ns = at_ns.clamp(0, i64::MAX / 2);
        let Some((flow, from)) = self.flow(&segment) else { return };
        self.sweep(at_ns, sink);
        if segment.syn && from == Side::Client {
            self.replace(flow, segment.sequence, sink);
        }
        let is_full = self.flows.len() >= self.most_connections;
        let connection = match self.flows.entry(flow) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if !may_be_first(&segment) => return,
            Entry::Vacant(_) if !segment.syn && self.reset.contains(&flow) => return,
            Entry::Vacant(_) if is_full => {
                self.crowded_out += 1;
                return;
            }
            Entry::Vacant(place) => {
                self.reset.remove(&flow);
                let protocol = self.shared.servers[flow.server].protocol;
                let number = self.connections;
                self.connections += 1;
                place.insert(Connection::new(
                    Place { connection: number, server: flow.server, client: flow.client },
                    parser(protocol, segment.syn),
                    at_ns,
                ))
            }
        };
        let mut cx = Context { place: connection.place, shared: &mut self.shared, sink };
        if !connection.segment(from, at_ns, &segment, &mut cx) {
            self.close(flow, sink);
            if segment.rst && self.reset.len() < MOST_CONNECTIONS {
                self.reset.insert(flow);
            }
        }
    }

    /// The capture is over: hands out every visit that is still open.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        let mut open: Vec<(i64, Flow)> =
            self.flows.iter().map(|(flow, it)| (it.place.connection, *flow)).collect();
        open.sort_unstable_by_key(|&(connection, _)| connection);
        for (_, flow) in open {
            self.close(flow, sink);
        }
    }

    /// Connections that are open.
    pub fn open_connections(&self) -> usize {
        self.flows.len()
    }

    /// Packets that would have opened a connection while as many as are followed were open.
    pub fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    fn flow(&self, segment: &Segment<'_>) -> Option<(Flow, Side)> {
        let (source, destination) = (segment.source, segment.destination);
        if let Some(&server) = self.listeners.get(&destination) {
            return Some((Flow { server, client: source }, Side::Client));
        }
        let &server = self.listeners.get(&source)?;
        Some((Flow { server, client: destination }, Side::Server))
    }

    /// Ends what went on on these ports if this SYN opens another connection there.
    fn replace(&mut self, flow: Flow, syn: u32, sink: &mut dyn Sink) {
        if self.flows.get(&flow).is_some_and(|it| it.is_replaced_by(syn)) {
            self.close(flow, sink);
        }
    }

    fn close(&mut self, flow: Flow, sink: &mut dyn Sink) {
        if let Some(mut connection) = self.flows.remove(&flow) {
            let shared = &mut self.shared;
            connection.finish(&mut Context { place: connection.place, shared, sink });
        }
    }

    fn sweep(&mut self, at_ns: i64, sink: &mut dyn Sink) {
        if at_ns < self.swept_ns.saturating_add(SWEEP_NS) {
            return;
        }
        self.swept_ns = at_ns;
        self.reset.clear();
        let stale: Vec<Flow> = self
            .flows
            .iter()
            .filter(|(_, it)| {
                let allowed = if it.answered { IDLE_NS } else { HALF_OPEN_NS };
                at_ns - it.last_ns > allowed
            })
            .map(|(flow, _)| *flow)
            .collect();
        for flow in stale {
            self.close(flow, sink);
        }
    }
}

/// True if a connection may begin with this segment. The last acknowledgments of one that is over
/// begin none.
fn may_be_first(segment: &Segment<'_>) -> bool {
    !segment.rst && (segment.syn || segment.length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{Event, Message, Visit};
    use crate::{Protocol, Server};
    use etherparse::PacketBuilder;

    struct Nobody;

    impl Sink for Nobody {
        fn visit(&mut self, _: &Visit<'_>) {}
        fn event(&mut self, _: &Event<'_>) {}
        fn message(&mut self, _: &Message<'_>) {}
    }

    fn dissector() -> Dissector {
        let address = [10, 0, 0, 1].into();
        let protocol = Protocol::Http1;
        let server =
            Server { name: "it.1".into(), address, port: 1, protocol, pass_through: false };
        Dissector::new(vec![server], Salt::new([0; 16]))
    }

    fn from_port(port: u16, syn: bool, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64);
        let tcp = builder.tcp(port, 1, if payload.is_empty() { 7 } else { 9_000 }, 1);
        let tcp = if syn { tcp.syn() } else { tcp };
        tcp.write(&mut frame, payload).expect("a vector takes all");
        frame
    }

    #[test]
    fn a_flood_of_connection_requests_is_counted_and_not_remembered() {
        let mut dissector = dissector();
        dissector.most_connections = 10;
        for port in 100..200 {
            dissector.frame(0, LinkType::Raw, &from_port(port, true, b""), &mut Nobody);
        }
        assert_eq!((dissector.open_connections(), dissector.crowded_out()), (10, 90));
        dissector.frame(HALF_OPEN_NS + 1, LinkType::Raw, &from_port(200, true, b""), &mut Nobody);
        assert_eq!(dissector.open_connections(), 1, "the flood is over and forgotten");
    }

    #[test]
    fn what_waits_behind_holes_is_counted_and_given_up_with_its_connection() {
        let mut dissector = dissector();
        for port in 100..110 {
            dissector.frame(0, LinkType::Raw, &from_port(port, true, b""), &mut Nobody);
            let early = from_port(port, false, &[b'x'; 1_000]);
            dissector.frame(0, LinkType::Raw, &early, &mut Nobody);
        }
        assert_eq!(dissector.shared.waiting.bytes(), 10_000);
        dissector.finish(&mut Nobody);
        assert_eq!(dissector.shared.waiting.bytes(), 0);
    }

    #[test]
    fn times_of_damaged_files_are_times() {
        let mut dissector = dissector();
        for at_ns in [i64::MAX, i64::MIN, 0, i64::MAX] {
            for port in 100..102 {
                dissector.frame(at_ns, LinkType::Raw, &from_port(port, true, b""), &mut Nobody);
                let early = from_port(port, false, b"early");
                dissector.frame(at_ns, LinkType::Raw, &early, &mut Nobody);
            }
        }
    }
}
