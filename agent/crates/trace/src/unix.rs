//! UNIX stream sockets as connections of TCP: what a server reads and writes there becomes segments
//! for the dissector, at addresses that stand for the sockets' paths.

use crate::event::{Direction, Ends, Event, Role};
use crate::plan::Listener;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use tierlab_dissect::{Dissector, Peer, Segment, Server, Sink, connection_hash};

/// Addresses under a prefix for local use (RFC 4193) stand for sockets; nobody can have them by chance
/// in a trial, as the global id is not random.
fn address(kind: u16, number: u64) -> IpAddr {
    Ipv6Addr::from(0xfd74_696c_6162_0000_u128 << 64 | u128::from(kind) << 64 | u128::from(number))
        .into()
}

const SERVERS: u16 = 1;
const CLIENTS: u16 = 2;
const PORT: u16 = 1;
/// Reads and writes of a server whose client was not seen yet: a greeting, or a first request.
const MOST_WAITING: usize = 16;

/// The servers that listen at UNIX sockets, at the addresses that stand for these, and the others.
pub fn servers(listeners: &[Listener]) -> (Vec<Server>, Vec<String>) {
    let at_sockets = listeners.iter().filter_map(|it| Some((it, it.socket.clone()?)));
    let server = |(number, (it, path)): (usize, (&Listener, String))| {
        let server = Server {
            name: it.name.clone(),
            address: address(SERVERS, number as u64),
            port: PORT,
            protocol: it.protocol,
            pass_through: false,
        };
        (server, path)
    };
    at_sockets.enumerate().map(server).unzip()
}

/// The text of a bound path: an abstract name begins with `@`.
fn text(path: &[u8]) -> String {
    match path {
        [0, name @ ..] => format!("@{}", String::from_utf8_lossy(name)),
        path => {
            let end = path.iter().position(|&byte| byte == 0).unwrap_or(path.len());
            String::from_utf8_lossy(&path[..end]).into_owned()
        }
    }
}

/// A connection between two UNIX sockets.
struct Connection {
    server: usize,
    client: Peer,
    hash: u64,
    /// The inode at either end, once it was seen to speak.
    inodes: [Option<u64>; 2],
    /// What the server read and wrote before its client was seen: which way, how many bytes, the first
    /// of them, and when.
    waiting: Vec<(Direction, u32, Vec<u8>, i64)>,
    first_ns: i64,
    /// Whether the dissector knows of it, and the next byte's number either way.
    begun: bool,
    next: [u32; 2],
    /// What the client wrote and the server has not read: up to which byte, and when.
    written: VecDeque<(u64, i64)>,
    client_bytes: u64,
    server_bytes: u64,
    last_reply_ns: i64,
    last_ns: i64,
}

/// All connections of UNIX sockets.
pub struct UnixSockets {
    servers: Vec<Server>,
    paths: Vec<String>,
    subjects: Vec<String>,
    /// By the two ends' addresses in the kernel, the client's first.
    connections: FxHashMap<(u64, u64), Connection>,
    /// Sockets that were connected before the tracing began.
    before: FxHashSet<u64>,
    next: u64,
    /// Events at sockets of servers that nobody named.
    pub elsewhere: u64,
}

impl UnixSockets {
    /// `subjects` are the plan's; `before` has the inodes of sockets that are connected already.
    pub fn new(listeners: &[Listener], subjects: Vec<String>, before: FxHashSet<u64>) -> Self {
        let (servers, paths) = servers(listeners);
        let connections = FxHashMap::default();
        Self { servers, paths, subjects, connections, before, next: 0, elsewhere: 0 }
    }

    /// Takes an event at a UNIX socket: gives its connection as [`connection_hash`] has it, and what
    /// the server read or wrote to the dissector. None if the server is none of those named.
    pub fn take(
        &mut self,
        event: &Event<'_>,
        at_ns: i64,
        dissector: &mut Dissector,
        sink: &mut dyn Sink,
    ) -> Option<u64> {
        let Ends::Unix { peer, inode, path, payload } = event.ends else { return None };
        let Some(server) = self.server(event, path) else {
            self.elsewhere += 1;
            return None;
        };
        let is_server = event.role == Role::Server;
        let ends = if is_server { (peer, event.socket) } else { (event.socket, peer) };
        let side = usize::from(is_server);
        let known = self.connections.get(&ends);
        let is_same = known.is_some_and(|it| it.inodes[side].is_none_or(|known| known == inode));
        if !is_same {
            if let Some(mut before) = self.connections.remove(&ends) {
                before.end(Direction::Sent, before.last_ns, &self.servers, dissector, sink);
                before.end(Direction::Received, before.last_ns, &self.servers, dissector, sink);
            }
            let client = Peer { address: address(CLIENTS, self.next), port: PORT };
            self.next += 1;
            let hash = connection_hash(client, self.servers[server].endpoint());
            // Of one that stood before, the first bytes seen may be anywhere in a message.
            let begun = self.before.contains(&inode);
            let it = Connection {
                server,
                client,
                hash,
                inodes: [None; 2],
                waiting: Vec::new(),
                first_ns: at_ns,
                begun,
                next: [1; 2],
                written: VecDeque::new(),
                client_bytes: 0,
                server_bytes: 0,
                last_reply_ns: i64::MIN,
                last_ns: at_ns,
            };
            self.connections.insert(ends, it);
        }
        let connection = self.connections.get_mut(&ends)?;
        connection.inodes[side] = Some(inode);
        connection.last_ns = at_ns;
        let servers = &self.servers;
        if is_server && connection.inodes[0].is_none() {
            // Who calls is not known yet: a server may greet first. What nobody traced asks, as
            // Tierlab's own polls of a database, is no visit.
            if connection.waiting.len() < MOST_WAITING {
                let payload = payload.to_vec();
                connection.waiting.push((event.direction, event.bytes, payload, at_ns));
            }
            return Some(connection.hash);
        }
        if !connection.begun {
            connection.begun = true;
            let first = Segment { syn: true, sequence: 0, ..connection.segment(false, servers) };
            dissector.segment_at(connection.first_ns, first, sink);
        }
        for (direction, bytes, payload, at_ns) in std::mem::take(&mut connection.waiting) {
            connection.passed((direction, bytes, &payload), at_ns, servers, dissector, sink);
        }
        match (event.role, event.direction, event.bytes) {
            // A read of nothing: the other end has closed.
            (Role::Client, Direction::Received, 0) => {
                connection.end(Direction::Sent, at_ns, servers, dissector, sink);
            }
            (Role::Client, Direction::Sent, bytes) => connection.wrote(u64::from(bytes), at_ns),
            (Role::Client, Direction::Received, _) => {}
            (Role::Server, direction, bytes) => {
                connection.passed((direction, bytes, payload), at_ns, servers, dissector, sink);
            }
        }
        Some(connection.hash)
    }

    /// Which server an event is at: by the process that listens where it is that one's, else by the
    /// path, which may be another's in another container.
    fn server(&self, event: &Event<'_>, path: &[u8]) -> Option<usize> {
        let path = text(path);
        let mut found = None;
        for at in (0..self.paths.len()).filter(|&at| self.paths[at] == path) {
            if event.role == Role::Server
                && self.subjects.get(event.subject) == Some(&self.servers[at].name)
            {
                return Some(at);
            }
            found.get_or_insert(at);
        }
        found
    }

    /// These inodes are sockets that were connected before the tracing began.
    pub fn known_before(&mut self, inodes: FxHashSet<u64>) {
        self.before = inodes;
    }

    /// Forgets connections that have been silent since then.
    pub fn forget(&mut self, since_ns: i64) {
        self.connections.retain(|_, it| it.last_ns > since_ns);
    }
}

impl Connection {
    /// The server read or wrote these bytes, of which the first are known.
    fn passed(
        &mut self,
        (direction, bytes, payload): (Direction, u32, &[u8]),
        at_ns: i64,
        servers: &[Server],
        dissector: &mut Dissector,
        sink: &mut dyn Sink,
    ) {
        if bytes == 0 {
            return self.end(direction, at_ns, servers, dissector, sink);
        }
        let came_ns = self.came(direction, u64::from(bytes), at_ns);
        let back = direction == Direction::Sent;
        let segment = Segment { payload, length: bytes, ..self.segment(back, servers) };
        let next = &mut self.next[usize::from(back)];
        *next = next.wrapping_add(bytes);
        dissector.segment_at(came_ns, segment, sink);
    }

    /// An empty segment from the client, or `back` from the server.
    fn segment<'a>(&self, back: bool, servers: &[Server]) -> Segment<'a> {
        let (client, server) = (self.client, servers[self.server].endpoint());
        let (source, destination) = if back { (server, client) } else { (client, server) };
        let sequence = self.next[usize::from(back)];
        Segment { sequence, ..Segment::empty(source, destination) }
    }

    fn wrote(&mut self, bytes: u64, at_ns: i64) {
        self.client_bytes += bytes;
        self.written.push_back((self.client_bytes, at_ns));
    }

    /// When bytes that the server reads were written by the client; all others when they are seen. A
    /// time before the last reply shows that the two ends were counted from different beginnings.
    fn came(&mut self, direction: Direction, bytes: u64, at_ns: i64) -> i64 {
        if direction == Direction::Sent {
            self.last_reply_ns = at_ns;
            return at_ns;
        }
        let begins = self.server_bytes;
        self.server_bytes += bytes;
        let first = self.written.iter().find(|&&(end, _)| end > begins).map(|&(_, at_ns)| at_ns);
        while self.written.front().is_some_and(|&(end, _)| end <= self.server_bytes) {
            self.written.pop_front();
        }
        match first {
            Some(first) if first >= self.last_reply_ns && first <= at_ns => first,
            _ => {
                self.written.clear();
                self.client_bytes = self.server_bytes;
                at_ns
            }
        }
    }

    /// One direction has ended.
    fn end(
        &mut self,
        direction: Direction,
        at_ns: i64,
        servers: &[Server],
        dissector: &mut Dissector,
        sink: &mut dyn Sink,
    ) {
        let segment = self.segment(direction == Direction::Sent, servers);
        dissector.segment_at(at_ns, Segment { fin: true, ..segment }, sink);
    }
}
