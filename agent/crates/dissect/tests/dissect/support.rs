//! Conversations as captured frames, and what the dissector made of them.

use etherparse::PacketBuilder;
use std::net::Ipv4Addr;
use tierlab_dissect::{
    Clue, Dissector, Event, EventKind, LinkType, Message, Pairing, Protocol, Salt, Server, Side,
    Sink, Visit,
};

/// Each packet is captured this long after the one before.
pub const STEP_NS: i64 = 1_000;

pub fn salt() -> Salt {
    Salt::new([42; 16])
}

pub fn server(name: &str, protocol: Protocol, last: u8, pass_through: bool) -> Server {
    let address = Ipv4Addr::new(127, 0, last, 1).into();
    Server { name: name.into(), address, port: 1000 + u16::from(last), protocol, pass_through }
}

/// A captured frame and its time.
pub type Frame = (i64, Vec<u8>);

/// A TCP connection whose two ends are both played here.
pub struct Conversation {
    server: (Ipv4Addr, u16),
    client: (Ipv4Addr, u16),
    /// The next sequence number of the client and of the server.
    pub next: [u32; 2],
    pub now_ns: i64,
    pub frames: Vec<Frame>,
}

impl Conversation {
    /// Client port `port`, no packet yet. Sequence numbers wrap soon.
    pub fn silent(server: &Server, port: u16, now_ns: i64) -> Self {
        let std::net::IpAddr::V4(address) = server.address else { panic!("IPv4 only") };
        Self {
            server: (address, server.port),
            client: (Ipv4Addr::LOCALHOST, port),
            next: [u32::MAX - 20, u32::MAX - 50],
            now_ns,
            frames: Vec::new(),
        }
    }

    /// After a handshake.
    pub fn open(server: &Server, port: u16, now_ns: i64) -> Self {
        let mut it = Self::silent(server, port, now_ns);
        it.syn();
        it.packet(Side::Server, "SA", &[]);
        it.next[1] = it.next[1].wrapping_add(1);
        it.ack(Side::Client);
        it
    }

    pub fn syn(&mut self) {
        self.packet(Side::Client, "S", &[]);
        self.next[0] = self.next[0].wrapping_add(1);
    }

    /// Sends bytes in one packet, which the other side acknowledges. Gives the packet's time.
    pub fn say(&mut self, from: Side, bytes: &[u8]) -> i64 {
        let at_ns = self.send(from, bytes);
        self.ack(other(from));
        at_ns
    }

    /// Sends bytes in packets of `size`, not acknowledged. Gives the first and last packets' times.
    pub fn say_in(&mut self, from: Side, size: usize, bytes: &[u8]) -> (i64, i64) {
        let times: Vec<i64> = bytes.chunks(size).map(|chunk| self.send(from, chunk)).collect();
        (times[0], times[times.len() - 1])
    }

    /// Sends bytes in one packet.
    pub fn send(&mut self, from: Side, bytes: &[u8]) -> i64 {
        let at_ns = self.packet(from, "A", bytes);
        let next = &mut self.next[index(from)];
        *next = next.wrapping_add(bytes.len() as u32);
        at_ns
    }

    /// Sends bytes that are not captured.
    pub fn lose(&mut self, from: Side, bytes: &[u8]) {
        self.send(from, bytes);
        self.frames.pop();
    }

    pub fn ack(&mut self, from: Side) {
        self.packet(from, "A", &[]);
    }

    pub fn fin(&mut self, from: Side) {
        self.packet(from, "FA", &[]);
        let next = &mut self.next[index(from)];
        *next = next.wrapping_add(1);
    }

    pub fn rst(&mut self, from: Side) {
        self.packet(from, "R", &[]);
    }

    /// Captures one packet of `from` at its next sequence number.
    pub fn packet(&mut self, from: Side, flags: &str, payload: &[u8]) -> i64 {
        self.now_ns += STEP_NS;
        let (source, destination) = match from {
            Side::Client => (self.client, self.server),
            Side::Server => (self.server, self.client),
        };
        let (sequence, acknowledged) = (self.next[index(from)], self.next[index(other(from))]);
        let mut builder = PacketBuilder::ipv4(source.0.octets(), destination.0.octets(), 64).tcp(
            source.1,
            destination.1,
            sequence,
            65_535,
        );
        for flag in flags.chars() {
            builder = match flag {
                'S' => builder.syn(),
                'A' => builder.ack(acknowledged),
                'F' => builder.fin(),
                _ => builder.rst(),
            };
        }
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).expect("a vector takes all");
        self.frames.push((self.now_ns, frame));
        self.now_ns
    }
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Server)
}

fn other(side: Side) -> Side {
    if side == Side::Client { Side::Server } else { Side::Client }
}

/// A visit that owns its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub server: String,
    pub connection: i64,
    pub arrival_ns: i64,
    pub request_end_ns: i64,
    pub reply_start_ns: Option<i64>,
    pub departure_ns: Option<i64>,
    pub closed_ns: Option<i64>,
    pub may_wait_ns: Option<i64>,
    pub label: String,
    pub status: Option<i32>,
    pub bytes: (i64, i64),
    pub upstream: Option<i64>,
    pub id_hash: Option<u64>,
    pub literals: Vec<u64>,
}

/// Everything that came out.
#[derive(Debug)]
pub struct Results {
    servers: Vec<Server>,
    pairing: Pairing,
    pub visits: Vec<Seen>,
    /// Who, what, how many bytes, first and last time.
    pub messages: Vec<(Side, &'static str, u64, i64, i64)>,
    pub events: Vec<(i64, EventKind)>,
}

impl Results {
    /// Nothing yet of these servers.
    pub fn of(servers: &[Server]) -> Self {
        Self {
            servers: servers.to_vec(),
            pairing: Pairing::new(servers, 1 << 20),
            visits: Vec::new(),
            messages: Vec::new(),
            events: Vec::new(),
        }
    }

    pub fn labels(&self) -> Vec<&str> {
        self.visits.iter().map(|visit| visit.label.as_str()).collect()
    }

    pub fn kinds(&self, from: Side) -> Vec<&'static str> {
        self.messages.iter().filter(|it| it.0 == from).map(|it| it.1).collect()
    }

    pub fn happened(&self) -> Vec<EventKind> {
        self.events.iter().map(|it| it.1).collect()
    }
}

impl Sink for Results {
    fn visit(&mut self, visit: &Visit<'_>) {
        self.visits.push(Seen {
            server: self.servers[visit.server].name.clone(),
            connection: visit.connection,
            arrival_ns: visit.arrival_ns,
            request_end_ns: visit.request_end_ns,
            reply_start_ns: visit.reply_start_ns,
            departure_ns: visit.departure_ns,
            closed_ns: visit.closed_ns,
            may_wait_ns: visit.may_wait_ns,
            label: visit.label.to_owned(),
            status: visit.status,
            bytes: (visit.bytes_in, visit.bytes_out),
            upstream: self.pairing.visited(visit.connection),
            id_hash: visit.id_hash,
            literals: visit.literals.to_vec(),
        });
    }

    fn event(&mut self, event: &Event) {
        self.events.push((event.at_ns, event.what));
    }

    fn message(&mut self, it: &Message) {
        self.messages.push((it.from, it.kind, it.bytes, it.start_ns, it.end_ns));
    }

    fn clue(&mut self, clue: Clue) {
        self.pairing.clue(clue);
    }
}

/// Dissects frames in their order of time.
pub fn dissect(servers: &[Server], frames: &[Frame]) -> Results {
    let mut frames: Vec<&Frame> = frames.iter().collect();
    frames.sort_by_key(|frame| frame.0);
    take(servers, frames)
}

/// Dissects frames as they come, whatever their times.
pub fn dissect_as_captured(servers: &[Server], frames: &[Frame]) -> Results {
    take(servers, frames.iter().collect())
}

fn take(servers: &[Server], frames: Vec<&Frame>) -> Results {
    let mut dissector = Dissector::new(servers.to_vec(), salt());
    let mut results = Results::of(servers);
    for (at_ns, frame) in frames {
        dissector.frame(*at_ns, LinkType::Raw, frame, &mut results);
    }
    dissector.finish(&mut results);
    results
}
