//! The kernel's table of TCP sockets in this network namespace (proc_pid_net(5)).

use anyhow::{Context, Result};
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use std::net::{IpAddr, SocketAddr};
use tierlab_dissect::Peer;

/// Sockets, as they were a moment ago.
pub(super) struct Sockets {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub local: Peer,
    pub remote: Peer,
    pub listens: bool,
    /// Both ends are known, whatever became of it since.
    pub is_connection: bool,
    /// None of one that no process holds any more.
    pub inode: Option<u64>,
}

impl Sockets {
    pub(super) fn read() -> Result<Self> {
        let old = tcp().context("cannot read /proc/net/tcp")?;
        // There is none where the kernel has no IPv6.
        let new = tcp6().unwrap_or_default();
        Ok(Self { entries: old.iter().chain(&new).map(entry).collect() })
    }

    /// The ends of connections at their clients.
    pub(super) fn calling(&self) -> impl Iterator<Item = &Entry> {
        let is_calling = |it: &&Entry| it.is_connection && self.listening(it.local).is_none();
        self.entries.iter().filter(is_calling)
    }

    /// Who listens there.
    pub(super) fn listening(&self, at: Peer) -> Option<&Entry> {
        let is_at = |it: &&Entry| {
            let address = it.local.address;
            let is_there = address == at.address || address.is_unspecified();
            it.listens && it.local.port == at.port && is_there
        };
        self.entries.iter().find(is_at)
    }
}

fn entry(found: &TcpNetEntry) -> Entry {
    let listens = found.state == TcpState::Listen;
    Entry {
        local: peer(found.local_address),
        remote: peer(found.remote_address),
        listens,
        is_connection: !listens && found.remote_address.port() != 0,
        inode: Some(found.inode).filter(|&inode| inode != 0),
    }
}

fn peer(address: SocketAddr) -> Peer {
    Peer { address: canonical(address.ip()), port: address.port() }
}

/// An IPv4 address in IPv6's form is the IPv4 address.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}
