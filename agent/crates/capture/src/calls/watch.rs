//! All connections, and what they come to.

use super::flow::Flow;
use super::owners::{Owners, Search};
use super::sockets::{Sockets, canonical};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use tierlab_dissect::{Peer, Segment};
use tierlab_sample::SockDiag;

/// More connections that are open at once are counted, and not looked at; nor more kinds of calls.
const MOST: usize = 20_000;

/// Calls of one program to one place: what they have in common, and how many connections.
#[derive(Debug, Serialize)]
pub(super) struct Call {
    client: IpAddr,
    pub server: SocketAddr,
    /// The program that calls, with those that started it, nearest first; none if it is not known.
    pub pids: Vec<i32>,
    /// The same of who listens.
    listeners: Vec<i32>,
    protocol: Option<&'static str>,
    #[serde(flatten)]
    counts: Counts,
}

/// What connections have in common that are told together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    client: IpAddr,
    server: Peer,
    pids: Vec<i32>,
    protocol: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    connections: u64,
    /// Of those, to which nobody answered.
    refused: u64,
    /// Of those, on which something was said.
    spoken: u64,
}

impl Counts {
    fn add(&mut self, flow: &Flow) {
        self.connections += 1;
        self.refused += u64::from(flow.was_refused());
        self.spoken += u64::from(flow.has_spoken());
    }
}

pub(super) struct Watch {
    flows: HashMap<(Peer, Peer), Flow>,
    /// Of those that are over nothing else is kept.
    over: BTreeMap<Kind, Counts>,
    listeners: HashMap<Peer, Vec<i32>>,
    owners: Owners,
    sockets: SockDiag,
    /// Those whose beginning was seen while there was no room for them.
    crowded_out: u64,
    /// The most for which there was none in one look at the table of sockets.
    most_beyond: u64,
    /// Those that are over and had no known owner because the search for it was cut.
    unattributed: u64,
}

impl Watch {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            flows: HashMap::new(),
            over: BTreeMap::new(),
            listeners: HashMap::new(),
            owners: Owners::new()?,
            sockets: SockDiag::open().context("cannot ask for sockets")?,
            crowded_out: 0,
            most_beyond: 0,
            unattributed: 0,
        })
    }

    /// Takes a segment.
    pub(super) fn segment(&mut self, segment: &Segment<'_>) {
        let (source, destination) = (plain(segment.source), plain(segment.destination));
        if segment.syn && segment.acknowledgment.is_none() {
            self.opened(source, destination, segment);
            return;
        }
        for (key, from_client) in [((source, destination), true), ((destination, source), false)] {
            if let Some(flow) = self.flows.get_mut(&key) {
                flow.segment(from_client, segment);
                if flow.is_over() {
                    self.close(key);
                }
                return;
            }
        }
    }

    /// A connection that is over makes room for others.
    fn close(&mut self, key: (Peer, Peer)) {
        let Some(flow) = self.flows.remove(&key) else { return };
        self.unattributed += u64::from(flow.is_unattributed());
        let kind = kind(key, &flow);
        if self.over.len() < MOST || self.over.contains_key(&kind) {
            self.over.entry(kind).or_default().add(&flow);
        } else {
            self.crowded_out += 1;
        }
    }

    fn opened(&mut self, client: Peer, server: Peer, segment: &Segment<'_>) {
        if self.flows.contains_key(&(client, server)) {
            return;
        }
        if self.flows.len() >= MOST {
            self.crowded_out += 1;
            return;
        }
        let mut flow = Flow::default();
        flow.segment(true, segment);
        self.search(client, server, &mut flow);
        self.flows.insert((client, server), flow);
    }

    /// Searches for the owner of a new connection.
    fn search(&mut self, client: Peer, server: Peer, flow: &mut Flow) {
        let Self { owners, sockets, .. } = self;
        let Some(answer) = owners.look_up(|| sockets.inode(client.into(), server.into())) else {
            flow.looked(None, true);
            return;
        };
        let inode = answer.ok().flatten();
        let mut search = inode.map_or_else(Search::default, |inode| owners.of_new(inode));
        flow.looked(inode.and_then(|inode| search.owners.remove(&inode)), search.is_cut);
    }

    /// Looks at the table of sockets: for connections whose beginning was not seen, and whose each is.
    pub(super) fn look(&mut self) -> Result<()> {
        let sockets = Sockets::read()?;
        let mut sought = Vec::new();
        let mut beyond = 0;
        for entry in sockets.calling() {
            let key = (entry.local, entry.remote);
            if self.flows.len() < MOST {
                self.flows.entry(key).or_default();
            }
            beyond += u64::from(!self.flows.contains_key(&key));
            if self.flows.get(&key).is_some_and(Flow::is_sought) {
                sought.push((key, entry.inode));
            }
        }
        self.most_beyond = self.most_beyond.max(beyond);
        let mut places = Vec::new();
        let over = self.over.keys().map(|it| it.server);
        for server in self.flows.keys().map(|it| it.1).chain(over) {
            if !self.listeners.contains_key(&server)
                && let Some(listener) = sockets.listening(server)
            {
                places.push((server, listener.inode));
            }
        }
        let inodes = sought.iter().map(|it| it.1).chain(places.iter().map(|it| it.1));
        let search = self.owners.of_all(inodes);
        for (key, inode) in sought {
            if let Some(flow) = self.flows.get_mut(&key) {
                let owner = search.owners.get(&inode).cloned();
                flow.looked(owner, search.is_cut);
            }
        }
        for (server, inode) in places {
            if let Some(line) = search.owners.get(&inode) {
                self.listeners.insert(server, line.clone());
            }
        }
        Ok(())
    }

    /// What all connections come to.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut counts = self.over.clone();
        for (&key, flow) in &self.flows {
            counts.entry(kind(key, flow)).or_default().add(flow);
        }
        let told = counts.into_iter().map(|(kind, counts)| Call {
            client: kind.client,
            server: kind.server.into(),
            pids: kind.pids,
            listeners: self.listeners.get(&kind.server).cloned().unwrap_or_default(),
            protocol: kind.protocol,
            counts,
        });
        told.collect()
    }

    /// At least so many connections were too many to be looked at. What the table of sockets showed of
    /// them may be those whose beginning was seen.
    pub(super) fn crowded_out(&self) -> u64 {
        self.crowded_out.max(self.most_beyond)
    }

    /// Connections without a known owner, as the search for it was cut to keep within its budget.
    pub(super) fn unattributed(&self) -> u64 {
        let open = self.flows.values().filter(|flow| flow.is_unattributed()).count();
        self.unattributed + open as u64
    }
}

fn kind((client, server): (Peer, Peer), flow: &Flow) -> Kind {
    let pids = flow.owner.clone().unwrap_or_default();
    Kind { client: client.address, server, pids, protocol: flow.protocol() }
}

fn plain(peer: Peer) -> Peer {
    Peer { address: canonical(peer.address), ..peer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn open_connections_are_seen_at_their_client_s_end() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let place = listener.local_addr().expect("bound");
        let mut client = TcpStream::connect(place).expect("listening");
        let (mut server, _) = listener.accept().expect("a client");
        client.write_all(b"?").expect("connected");
        server.read_exact(&mut [0]).expect("connected");
        let mut watch = Watch::new().expect("allowed");
        watch.look().expect("allowed");
        let calls = watch.calls();
        let call = calls.iter().find(|it| it.server == place).expect("it is seen");
        let me = std::process::id() as i32;
        assert_eq!((call.pids[0], call.listeners[0], call.counts.connections), (me, me, 1));
        assert_eq!((call.protocol, call.counts.refused), (None, 0));
        let back = client.local_addr().expect("connected");
        assert!(calls.iter().all(|it| it.server != back), "the server's end is no call");
    }

    #[test]
    fn connections_that_nobody_holds_any_more_leave_their_room_to_others() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let place = listener.local_addr().expect("bound");
        for _ in 0..50 {
            let client = TcpStream::connect(place).expect("listening");
            let (server, _) = listener.accept().expect("a client");
            // Who closes first waits for the connection's end.
            drop(client);
            drop(server);
        }
        let mut watch = Watch::new().expect("allowed");
        watch.look().expect("allowed");
        assert!(watch.calls().iter().all(|it| it.server != place));
    }

    /// The server of the connections that are told of, and a client's end of one.
    fn peer(last: u8, port: u16) -> Peer {
        Peer { address: IpAddr::from([127, 9, 9, last]), port }
    }

    fn segment(source: Peer, destination: Peer, payload: &[u8]) -> Segment<'_> {
        let length = payload.len() as u32;
        let (sequence, acknowledgment) = (1, Some(1));
        let empty = Segment::empty(source, destination);
        Segment { sequence, acknowledgment, payload, length, ..empty }
    }

    fn open(watch: &mut Watch, client: Peer, server: Peer) {
        let syn = Segment { syn: true, acknowledgment: None, ..segment(client, server, b"") };
        watch.segment(&syn);
    }

    #[test]
    fn all_are_looked_at_that_come_one_after_the_other() {
        let mut watch = Watch::new().expect("allowed");
        let server = peer(1, 6379);
        for number in 0..MOST + 1_000 {
            let client = peer(2 + (number / 60_000) as u8, (number % 60_000) as u16 + 1);
            open(&mut watch, client, server);
            watch.segment(&segment(client, server, b"*1\r\n$4\r\nPING\r\n"));
            watch.segment(&segment(server, client, b"+PONG\r\n"));
            watch.segment(&Segment { fin: true, ..segment(client, server, b"") });
            watch.segment(&Segment { fin: true, ..segment(server, client, b"") });
        }
        let calls = watch.calls();
        let [call] = &calls[..] else { panic!("{calls:?}") };
        let all = MOST as u64 + 1_000;
        assert_eq!((call.protocol, call.counts.connections), (Some("redis"), all));
        assert_eq!((call.counts.spoken, watch.crowded_out()), (all, 0));
    }

    #[test]
    fn those_for_which_there_is_no_room_are_counted() {
        let mut watch = Watch::new().expect("allowed");
        let server = peer(1, 6379);
        for number in 0..MOST + 10 {
            open(&mut watch, peer(2, number as u16 + 1), server);
        }
        assert_eq!(watch.calls()[0].counts.connections, MOST as u64);
        assert_eq!(watch.crowded_out(), 10);
        let client = peer(2, 1);
        watch.segment(&Segment { rst: true, ..segment(server, client, b"") });
        open(&mut watch, peer(3, 1), server);
        assert_eq!(watch.crowded_out(), 10, "one that is over has made room");
    }
}
