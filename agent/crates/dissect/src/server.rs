//! The servers whose messages are looked for.

use crate::{Peer, Protocol};
use serde::Deserialize;
use std::net::IpAddr;

/// One listening server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The subject in the tables, such as `web.1`.
    pub name: String,
    /// Where it listens.
    pub address: IpAddr,
    /// Where it listens.
    pub port: u16,
    /// What it speaks.
    pub protocol: Protocol,
    /// True for a server that hands each connection's bytes on to one connection of its own, such
    /// as HAProxy in TCP mode.
    #[serde(default)]
    pub pass_through: bool,
}

impl Server {
    /// Where it listens.
    pub fn endpoint(&self) -> Peer {
        Peer { address: self.address, port: self.port }
    }
}
