//! The protocols: one folder each, and one line in the table below.

use crate::ajp13::{self, Ajp13};
use crate::fastcgi::{self, Fastcgi};
use crate::filter::Bulk;
use crate::http1::{self, Http1};
use crate::http2::{self, Http2};
use crate::memcached::{self, Memcached};
use crate::mysql::{self, Mysql};
use crate::parser::Parser;
use crate::postgresql::{self, Postgresql};
use crate::redis::{self, Redis};
use crate::turns::Turns;
use serde::Deserialize;

macro_rules! protocols {
    ($($(#[$doc:meta])* $protocol:ident = $name:literal: $about:expr;)*) => {
        /// What a server speaks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum Protocol {
            $($(#[$doc])* #[serde(rename = $name)] $protocol,)*
        }

        impl Protocol {
            /// Every one.
            pub const ALL: &[Self] = &[$(Self::$protocol),*];

            /// The name in plans and tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$protocol => $name,)*
                }
            }

            fn about(self) -> About {
                match self {
                    $(Self::$protocol => $about,)*
                }
            }
        }
    };
}

protocols! {
    /// HTTP/1.0 and HTTP/1.1 (RFC 9112).
    Http1 = "http1": About::read_by::<Http1>().known_by(http1::is_spoken).cut(http1::BULK);
    /// HTTP/2 without TLS, by prior knowledge (RFC 9113).
    Http2 = "http2": About::read_by::<Http2>().known_by(http2::is_spoken);
    /// Apache JServ Protocol 1.3.
    Ajp13 = "ajp13": About::read_by::<Ajp13>().known_by(ajp13::is_spoken).cut(ajp13::BULK);
    /// The MySQL and MariaDB client/server protocol.
    Mysql = "mysql": About::read_by::<Mysql>().known_by(mysql::is_spoken).cut(mysql::BULK).lent();
    /// PostgreSQL's frontend/backend protocol, version 3.
    Postgresql = "postgresql": About::read_by::<Postgresql>().known_by(postgresql::is_spoken).lent();
    /// FastCGI 1.0.
    Fastcgi = "fastcgi": About::read_by::<Fastcgi>().known_by(fastcgi::is_spoken).cut(fastcgi::BULK);
    /// memcached's text and binary protocols.
    Memcached = "memcached": About::read_by::<Memcached>().known_by(memcached::is_spoken).cut(memcached::BULK);
    /// RESP2 and RESP3, which Redis speaks.
    Redis = "redis": About::read_by::<Redis>().known_by(redis::is_spoken).cut(redis::BULK);
    /// Anything in which the two sides take turns.
    Tcp = "tcp": About::read_by::<Turns>();
}

/// What is to be known of a protocol.
struct About {
    parser: fn(bool) -> Box<dyn Parser>,
    is_spoken: fn(&[u8], &[u8]) -> bool,
    bulk: Option<Bulk>,
    is_lent: bool,
}

impl About {
    fn read_by<P: Parser + 'static>() -> Self {
        let parser = |from_start| Box::new(P::new(from_start)) as Box<dyn Parser>;
        Self { parser, is_spoken: |_, _| false, bulk: None, is_lent: false }
    }

    /// Whether it is spoken where client and server say this, first or in the middle.
    fn known_by(self, is_spoken: fn(&[u8], &[u8]) -> bool) -> Self {
        Self { is_spoken, ..self }
    }

    /// A capture's filter may cut some of its packets.
    fn cut(self, bulk: Bulk) -> Self {
        Self { bulk: Some(bulk), ..self }
    }

    /// See [`Protocol::is_lent`].
    fn lent(self) -> Self {
        Self { is_lent: true, ..self }
    }
}

impl Protocol {
    /// True if a connection is lent to one request at a time for as many messages as that needs, as
    /// a database's is.
    pub fn is_lent(self) -> bool {
        self.about().is_lent
    }

    /// True if client and server say this in it: first, or from where a message of each begins.
    pub(crate) fn is_spoken(self, client: &[u8], server: &[u8]) -> bool {
        (self.about().is_spoken)(client, server)
    }

    /// A parser for a connection that is seen from its start, or from somewhere.
    pub(crate) fn parser(self, from_start: bool) -> Box<dyn Parser> {
        (self.about().parser)(from_start)
    }

    /// What of it a capture's filter may cut.
    pub(crate) fn bulk(self) -> Option<Bulk> {
        self.about().bulk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_is_known_by_its_name() {
        for &protocol in Protocol::ALL {
            let name =
                serde::de::value::StrDeserializer::<serde::de::value::Error>::new(protocol.name());
            assert_eq!(Protocol::deserialize(name), Ok(protocol));
        }
    }
}
