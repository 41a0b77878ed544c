//! All connections, and what they come to.

use super::flow::Flow;
use super::owners::Owners;
use super::sockets::{Sockets, canonical};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use tierlab_dissect::{Peer, Segment};
use tierlab_record::clock::monotonic_ns;
use tierlab_sample::SockDiag;

/// More connections are counted, and not looked at.
const MOST_FLOWS: usize = 20_000;
/// Of the time no more than this part goes by with asking all processes for new connections.
const PART: i64 = 4;

/// Calls of one program to one place: what they have in common, and how many connections.
#[derive(Debug, Serialize)]
pub(super) struct Call {
    client: IpAddr,
    server: SocketAddr,
    /// The program that calls, with those that started it, nearest first; none if it is not known.
    pids: Vec<i32>,
    /// The same of who listens.
    listeners: Vec<i32>,
    protocol: Option<&'static str>,
    connections: u64,
    /// Of those, to which nobody answered.
    refused: u64,
    /// Of those, on which something was said.
    spoken: u64,
}

pub(super) struct Watch {
    flows: HashMap<(Peer, Peer), Flow>,
    listeners: HashMap<Peer, Vec<i32>>,
    owners: Owners,
    sockets: SockDiag,
    crowded_out: u64,
    /// Until then only those are asked who had sockets last.
    pause_ns: i64,
}

impl Watch {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            flows: HashMap::new(),
            listeners: HashMap::new(),
            owners: Owners::new()?,
            sockets: SockDiag::open().context("cannot ask for sockets")?,
            crowded_out: 0,
            pause_ns: 0,
        })
    }

    /// Takes a segment.
    pub(super) fn segment(&mut self, segment: &Segment<'_>) {
        let (source, destination) = (plain(segment.source), plain(segment.destination));
        if segment.syn && segment.acknowledgment.is_none() {
            self.opened(source, destination, segment);
        } else if let Some(flow) = self.flows.get_mut(&(source, destination)) {
            flow.segment(true, segment);
        } else if let Some(flow) = self.flows.get_mut(&(destination, source)) {
            flow.segment(false, segment);
        }
    }

    fn opened(&mut self, client: Peer, server: Peer, segment: &Segment<'_>) {
        if self.flows.contains_key(&(client, server)) {
            return;
        }
        if self.flows.len() >= MOST_FLOWS {
            self.crowded_out += 1;
            return;
        }
        let mut flow = Flow::default();
        flow.segment(true, segment);
        flow.looked(self.owner(client, server));
        self.flows.insert((client, server), flow);
    }

    fn owner(&mut self, client: Peer, server: Peer) -> Option<Vec<i32>> {
        let inode = self.sockets.inode(client.into(), server.into()).ok()??;
        if let Some(owner) = self.owners.soon(inode) {
            return Some(owner);
        }
        let began_ns = monotonic_ns();
        if began_ns < self.pause_ns {
            return None;
        }
        let owner = self.owners.of(&[inode]).remove(&inode);
        let now_ns = monotonic_ns();
        self.pause_ns = now_ns + (PART - 1) * (now_ns - began_ns);
        owner
    }

    /// Looks at the table of sockets: for connections whose beginning was not seen, and whose each is.
    pub(super) fn look(&mut self) -> Result<()> {
        let sockets = Sockets::read()?;
        let mut sought = Vec::new();
        for entry in sockets.calling() {
            let key = (entry.local, entry.remote);
            if self.flows.len() < MOST_FLOWS {
                self.flows.entry(key).or_default();
            }
            if self.flows.get(&key).is_some_and(Flow::is_sought) {
                sought.push((key, entry.inode));
            }
        }
        let mut places = Vec::new();
        for &(_, server) in self.flows.keys() {
            if !self.listeners.contains_key(&server)
                && let Some(listener) = sockets.listening(server)
            {
                places.push((server, listener.inode));
            }
        }
        let inodes: Vec<u64> =
            sought.iter().map(|it| it.1).chain(places.iter().map(|it| it.1)).collect();
        let found = if inodes.is_empty() { HashMap::new() } else { self.owners.of(&inodes) };
        for (key, inode) in sought {
            if let Some(flow) = self.flows.get_mut(&key) {
                flow.looked(found.get(&inode).cloned());
            }
        }
        for (server, inode) in places {
            if let Some(line) = found.get(&inode) {
                self.listeners.insert(server, line.clone());
            }
        }
        Ok(())
    }

    /// What all connections come to.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut calls: BTreeMap<_, Call> = BTreeMap::new();
        for (&(client, server), flow) in &self.flows {
            let pids = flow.owner.clone().unwrap_or_default();
            let key = (client.address, server, pids, flow.protocol());
            let call = calls.entry(key.clone()).or_insert_with(|| Call {
                client: client.address,
                server: server.into(),
                pids: key.2,
                listeners: self.listeners.get(&server).cloned().unwrap_or_default(),
                protocol: flow.protocol(),
                connections: 0,
                refused: 0,
                spoken: 0,
            });
            call.connections += 1;
            call.refused += u64::from(flow.was_refused());
            call.spoken += u64::from(flow.has_spoken());
        }
        calls.into_values().collect()
    }

    /// Connections that were too many to be looked at.
    pub(super) fn crowded_out(&self) -> u64 {
        self.crowded_out
    }
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
        assert_eq!((call.pids[0], call.listeners[0], call.connections), (me, me, 1));
        assert_eq!((call.protocol, call.refused), (None, 0));
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
}
