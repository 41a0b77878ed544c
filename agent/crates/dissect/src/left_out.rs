//! Frames that brought nothing, counted by why: a capture that cannot be read must not look like no
//! traffic.

use crate::link::Unread;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

/// How many frames brought nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Captured more than once; 0 unless these are looked for.
    pub copies: u64,
    /// Other protocols than TCP.
    pub not_tcp: u64,
    /// TCP segments of servers that nobody named.
    pub of_no_server: u64,
    /// Frames that may carry a TCP segment and could not be read.
    pub unread: HashMap<Unread, u64>,
}

impl LeftOut {
    /// Frames that could not be read.
    pub fn unread_count(&self) -> u64 {
        self.unread.values().sum()
    }

    /// Adds what another dissector left out.
    pub fn add(&mut self, other: &Self) {
        self.copies += other.copies;
        self.not_tcp += other.not_tcp;
        self.of_no_server += other.of_no_server;
        for (&why, count) in &other.unread {
            *self.unread.entry(why).or_default() += count;
        }
    }
}

impl Display for Unread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkType(number) => write!(f, "link type {number}"),
            Self::EtherType(number) => write!(f, "EtherType {number:#06x}"),
            Self::Encrypted => f.write_str("encrypted"),
            Self::Fragment => f.write_str("fragment of an IP packet"),
            Self::Headers => f.write_str("cut or damaged headers"),
            Self::TooDeep => f.write_str("too many headers in each other"),
            Self::Time => f.write_str("without a time (simple packet block)"),
        }
    }
}
