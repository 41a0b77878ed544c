//! The servers whose messages are looked for.

use serde::Deserialize;
use std::net::IpAddr;

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.0 and HTTP/1.1 (RFC 9112).
    Http1,
    /// Apache JServ Protocol 1.3.
    Ajp13,
    /// The MySQL and MariaDB client/server protocol.
    Mysql,
    /// Anything in which the two sides take turns.
    Tcp,
}

impl Protocol {
    /// The name in plans and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Ajp13 => "ajp13",
            Self::Mysql => "mysql",
            Self::Tcp => "tcp",
        }
    }
}

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
