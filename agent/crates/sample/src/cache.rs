//! Table `cache`: what a cache or store of keys and values counts of itself, asked for over its UNIX
//! socket, or at a port of its own at which the tracer does not look.

mod memcached;
mod reading;
mod redis;
mod statistics;

use crate::counter::grown;
use crate::plan::{CacheProtocol, CacheServer, Plan};
use crate::polls::{self, Answer, Link, Polls};
use crate::sampler::{NotMeasured, Place};
use memcached::Memcached;
use reading::Counters;
pub use reading::Reading;
use redis::Redis;
use tierlab_record::tables::{Cache, CacheRow};
use tierlab_record::{RecordError, Table};

/// Asks every cache of the plan. Few systems have one: without, the table is there and empty.
pub fn start(
    plan: &Plan,
    place: Place<'_>,
) -> Result<Result<Polls<Reading>, NotMeasured>, RecordError> {
    let servers = plan.caches.iter().map(|it| (it.subject.clone(), link_to(it)));
    Polls::start(servers, plan.database_interval_ns, place)
}

/// A connection that is made when it is first read.
fn link_to(server: &CacheServer) -> Box<dyn Link<Reading>> {
    match server.protocol {
        CacheProtocol::Memcached => Box::new(Memcached::new(server)),
        CacheProtocol::Redis => Box::new(Redis::new(server)),
    }
}

impl polls::Reading for Reading {
    type Table = Cache;

    fn push(&self, before: &Self, answer: Answer<'_>, table: &mut Cache) {
        let Self { levels, counters } = self;
        let count = |of: fn(&Counters) -> Option<u64>| grown(of(&before.counters), of(counters), 1);
        table.push(CacheRow {
            t_ns: answer.t_ns,
            dt_ns: answer.dt_ns,
            subject: answer.subject,
            poll_ns: answer.poll_ns,
            connections: levels.connections,
            blocked: levels.blocked,
            items: levels.items,
            memory: levels.memory,
            memory_limit: levels.memory_limit,
            commands: count(|it| it.commands),
            hits: count(|it| it.hits),
            misses: count(|it| it.misses),
            evictions: count(|it| it.evictions),
            expired: count(|it| it.expired),
            bytes_in: count(|it| it.bytes_in),
            bytes_out: count(|it| it.bytes_out),
            refused_connections: count(|it| it.refused_connections),
        });
    }
}
