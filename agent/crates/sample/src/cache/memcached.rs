//! What memcached tells to `stats` (`doc/protocol.txt` in its sources).

use crate::cache::reading::{Counters, Levels, Reading};
use crate::cache::statistics::{Numbers, Session};
use crate::plan::CacheServer;
use crate::polls::Link;
use anyhow::{Result, bail};

const STATISTICS: [&str; 20] = [
    "curr_connections",
    "curr_items",
    "bytes",
    "limit_maxbytes",
    "get_hits",
    "get_misses",
    "evictions",
    "expired_unfetched",
    "bytes_read",
    "bytes_written",
    "rejected_connections",
    "cmd_get",
    "cmd_set",
    "cmd_touch",
    "delete_hits",
    "delete_misses",
    "incr_hits",
    "incr_misses",
    "decr_hits",
    "decr_misses",
];

/// What is counted of commands; a get of several keys counts once for each.
const COMMANDS: [&str; 9] = [
    "cmd_get",
    "cmd_set",
    "cmd_touch",
    "delete_hits",
    "delete_misses",
    "incr_hits",
    "incr_misses",
    "decr_hits",
    "decr_misses",
];

/// The poll's connection, and the port to which it is: memcached takes all of its listening sockets
/// but one for connections.
const OWN: i64 = 2;

/// A connection, made anew when it is lost.
pub struct Memcached {
    server: CacheServer,
    session: Option<Session>,
}

impl Memcached {
    /// Connects when it is first read.
    pub fn new(server: &CacheServer) -> Self {
        Self { server: server.clone(), session: None }
    }
}

impl Link<Reading> for Memcached {
    fn read(&mut self) -> Result<Reading> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.server)?,
        };
        session.send(b"stats\r\n")?;
        let mut numbers = Numbers::of(&STATISTICS);
        loop {
            let line = session.line()?;
            match line.strip_prefix("STAT ").and_then(|it| it.split_once(' ')) {
                Some((name, value)) => numbers.take(name, value),
                None if line == "END" => break,
                None => bail!("the server answers `stats` with '{line}'"),
            }
        }
        self.session = Some(session);
        Ok(reading(&numbers))
    }
}

fn reading(numbers: &Numbers<{ STATISTICS.len() }>) -> Reading {
    Reading {
        levels: Levels {
            connections: numbers.level("curr_connections").map(|count| (count - OWN).max(0)),
            blocked: None,
            items: numbers.level("curr_items"),
            memory: numbers.level("bytes"),
            memory_limit: numbers.level("limit_maxbytes"),
        },
        counters: Counters {
            commands: numbers.sum(&COMMANDS),
            hits: numbers.counter("get_hits"),
            misses: numbers.counter("get_misses"),
            evictions: numbers.counter("evictions"),
            expired: numbers.counter("expired_unfetched"),
            bytes_in: numbers.counter("bytes_read"),
            bytes_out: numbers.counter("bytes_written"),
            refused_connections: numbers.counter("rejected_connections"),
        },
    }
}
