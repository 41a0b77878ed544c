//! What Redis tells to `INFO` (<https://redis.io/docs/latest/commands/info/>).

use crate::cache::reading::{Counters, Levels, Reading};
use crate::cache::statistics::{Numbers, Session};
use crate::plan::CacheServer;
use crate::polls::Link;
use anyhow::{Context, Result, bail};

const STATISTICS: [&str; 12] = [
    "connected_clients",
    "blocked_clients",
    "used_memory",
    "maxmemory",
    "total_commands_processed",
    "keyspace_hits",
    "keyspace_misses",
    "evicted_keys",
    "expired_keys",
    "total_net_input_bytes",
    "total_net_output_bytes",
    "rejected_connections",
];

/// A connection, made anew when it is lost.
pub struct Redis {
    server: CacheServer,
    session: Option<Session>,
    /// How often it was asked: a question is counted once it is answered.
    asked: u64,
}

impl Redis {
    /// Connects when it is first read.
    pub fn new(server: &CacheServer) -> Self {
        Self { server: server.clone(), session: None, asked: 0 }
    }
}

impl Link<Reading> for Redis {
    fn read(&mut self) -> Result<Reading> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.server)?,
        };
        session.send(b"*1\r\n$4\r\nINFO\r\n")?;
        let head = session.line()?;
        let Some(length) = head.strip_prefix('$') else {
            bail!("the server answers INFO with '{head}'")
        };
        let length: usize = length.parse().context("the server answers INFO with no string")?;
        let text = session.text(length + 2)?;
        self.session = Some(session);
        let reading = reading(&text, self.asked);
        self.asked += 1;
        Ok(reading)
    }
}

fn reading(text: &str, asked: u64) -> Reading {
    let mut numbers = Numbers::of(&STATISTICS);
    let mut items = 0;
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        numbers.take(name, value);
        items += keys(name, value).unwrap_or_default();
    }
    Reading {
        levels: Levels {
            // Without the poll's own.
            connections: numbers.level("connected_clients").map(|count| (count - 1).max(0)),
            blocked: numbers.level("blocked_clients"),
            items: Some(items),
            memory: numbers.level("used_memory"),
            memory_limit: numbers.level("maxmemory").filter(|&limit| limit > 0),
        },
        counters: Counters {
            commands: numbers
                .counter("total_commands_processed")
                .map(|count| count.saturating_sub(asked)),
            hits: numbers.counter("keyspace_hits"),
            misses: numbers.counter("keyspace_misses"),
            evictions: numbers.counter("evicted_keys"),
            expired: numbers.counter("expired_keys"),
            bytes_in: numbers.counter("total_net_input_bytes"),
            bytes_out: numbers.counter("total_net_output_bytes"),
            refused_connections: numbers.counter("rejected_connections"),
        },
    }
}

/// The keys of a database, from a line such as `db0:keys=7,expires=0,avg_ttl=0`.
fn keys(name: &str, value: &str) -> Option<i64> {
    let is_database = name.strip_prefix("db")?.bytes().all(|byte| byte.is_ascii_digit());
    let keys = value.strip_prefix("keys=")?.split(',').next()?;
    is_database.then(|| keys.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_nothing_else_made_up() {
        let text = "# Clients\r\nconnected_clients:3\r\nblocked_clients:1\r\nmaxmemory:0\r\n\
                    total_commands_processed:100\r\nkeyspace_hits:70\r\ndb_other:keys=5\r\n\
                    db0:keys=7,expires=0,avg_ttl=0\r\ndb3:keys=2,expires=0\r\n";
        let Reading { levels, counters } = reading(text, 10);
        let found = (levels.connections, levels.blocked, levels.items, levels.memory_limit);
        assert_eq!(found, (Some(2), Some(1), Some(9), None));
        assert_eq!((counters.commands, counters.hits, counters.misses), (Some(90), Some(70), None));
    }
}
