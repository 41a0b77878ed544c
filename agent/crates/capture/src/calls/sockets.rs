//! The kernel's table of TCP sockets in this network namespace (proc_pid_net(5)).

use anyhow::{Context, Result};
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use std::net::{IpAddr, SocketAddr};
use tierlab_dissect::Peer;

/// Sockets, as they were a moment ago.
pub(super) struct Sockets {
    listeners: Vec<Listener>,
    /// Those that processes hold. What waits for its end after them may be tens of thousands on a
    /// busy host, and nobody knows whose it was.
    connections: Vec<Connection>,
}

#[derive(Clone, Copy)]
pub(super) struct Listener {
    at: Peer,
    pub inode: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Connection {
    pub local: Peer,
    pub remote: Peer,
    pub inode: u64,
}

impl Sockets {
    pub(super) fn read() -> Result<Self> {
        let old = tcp().context("cannot read /proc/net/tcp")?;
        // There is none where the kernel has no IPv6.
        let new = tcp6().unwrap_or_default();
        Ok(Self::of(old.iter().chain(&new)))
    }

    fn of<'a>(entries: impl Iterator<Item = &'a TcpNetEntry>) -> Self {
        let mut sockets = Self { listeners: Vec::new(), connections: Vec::new() };
        for entry in entries.filter(|entry| entry.inode != 0) {
            let (local, inode) = (peer(entry.local_address), entry.inode);
            if entry.state == TcpState::Listen {
                sockets.listeners.push(Listener { at: local, inode });
            } else if entry.remote_address.port() != 0 {
                let remote = peer(entry.remote_address);
                sockets.connections.push(Connection { local, remote, inode });
            }
        }
        sockets
    }

    /// The ends of connections at their clients.
    pub(super) fn calling(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(|it| self.listening(it.local).is_none())
    }

    /// Who listens there.
    pub(super) fn listening(&self, at: Peer) -> Option<&Listener> {
        let is_there = |address: IpAddr| address == at.address || address.is_unspecified();
        self.listeners.iter().find(|it| it.at.port == at.port && is_there(it.at.address))
    }
}

fn peer(address: SocketAddr) -> Peer {
    Peer { address: canonical(address.ip()), port: address.port() }
}

/// An IPv4 address in IPv6's form is the IPv4 address.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}
