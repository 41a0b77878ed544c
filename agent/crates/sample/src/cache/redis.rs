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
    asked: Asked,
}

/// The poll's own questions among the commands that the server counts: each from the next on.
#[derive(Default)]
struct Asked {
    times: u64,
    counted: u64,
}

impl Asked {
    /// Of so many commands those of others. A count that fell has started anew (a restart, CONFIG
    /// RESETSTAT), and has none of the questions before.
    fn others(&mut self, counted: u64) -> u64 {
        if counted < self.counted {
            self.times = 0;
        }
        let others = counted.saturating_sub(self.times);
        (self.times, self.counted) = (self.times + 1, counted);
        others
    }
}

impl Redis {
    /// Connects when it is first read.
    pub fn new(server: &CacheServer) -> Self {
        Self { server: server.clone(), session: None, asked: Asked::default() }
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
        Ok(reading(&text, &mut self.asked))
    }
}

fn reading(text: &str, asked: &mut Asked) -> Reading {
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
            commands: numbers.counter("total_commands_processed").map(|it| asked.others(it)),
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
        let mut asked = Asked { times: 10, counted: 90 };
        let Reading { levels, counters } = reading(text, &mut asked);
        let found = (levels.connections, levels.blocked, levels.items, levels.memory_limit);
        assert_eq!(found, (Some(2), Some(1), Some(9), None));
        assert_eq!((counters.commands, counters.hits, counters.misses), (Some(90), Some(70), None));
    }

    #[test]
    fn commands_are_those_of_others_also_after_the_count_has_started_anew() {
        let mut asked = Asked::default();
        let mut commands = |total: u64| {
            let text = format!("total_commands_processed:{total}\r\n");
            reading(&text, &mut asked).counters.commands.unwrap()
        };
        assert_eq!([100, 101, 112].map(&mut commands), [100, 100, 110]);
        assert_eq!([7, 8, 19].map(&mut commands), [7, 7, 17], "after CONFIG RESETSTAT");
        assert_eq!([0, 1].map(&mut commands), [0, 0], "after a restart");
    }
}
