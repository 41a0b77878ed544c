//! Table `database`: a database server's own counters, asked for over its UNIX socket (no message of
//! it is on the wire that the tracer sees).

mod link;
mod mariadb;
mod postgresql;
mod postgresql_session;
mod reading;

use crate::counter::grown;
use crate::plan::Plan;
use crate::polls::{self, Answer, Polls};
use crate::sampler::{NotMeasured, Place};
use reading::Counters;
pub use reading::Reading;
use tierlab_record::tables::{Database, DatabaseRow};
use tierlab_record::{RecordError, Table};

const NS_PER_MS: i64 = 1_000_000;

/// Logs in to every server of the plan.
pub fn start(
    plan: &Plan,
    place: Place<'_>,
) -> Result<Result<Polls<Reading>, NotMeasured>, RecordError> {
    let servers = plan.databases.iter().map(|it| (it.subject.clone(), link::to(it)));
    if plan.databases.is_empty() {
        return Ok(Err(NotMeasured("the system has no database that Tierlab sets up".to_owned())));
    }
    Polls::start(servers, plan.database_interval_ns, place)
}

impl polls::Reading for Reading {
    type Table = Database;

    fn push(&self, before: &Self, answer: Answer<'_>, table: &mut Database) {
        let Self { levels, counters } = self;
        let count = |of: fn(&Counters) -> Option<u64>, unit| {
            grown(of(&before.counters), of(counters), unit)
        };
        table.push(DatabaseRow {
            t_ns: answer.t_ns,
            dt_ns: answer.dt_ns,
            subject: answer.subject,
            poll_ns: answer.poll_ns,
            threads_connected: levels.threads_connected,
            threads_running: levels.threads_running,
            idle_in_transaction: levels.idle_in_transaction,
            row_lock_waiting: levels.row_lock_waiting,
            row_lock_waits: count(|it| it.row_lock_waits, 1),
            row_lock_time_ns: count(|it| it.row_lock_time_ms, NS_PER_MS),
            table_lock_waiting: levels.table_lock_waiting,
            table_lock_waits: count(|it| it.table_lock_waits, 1),
            log_waits: count(|it| it.log_waits, 1),
            pending_fsyncs: levels.pending_fsyncs,
            pending_reads: levels.pending_reads,
            pending_writes: levels.pending_writes,
            data_reads: count(|it| it.data_reads, 1),
            data_writes: count(|it| it.data_writes, 1),
            data_fsyncs: count(|it| it.data_fsyncs, 1),
            buffer_pool_hits: count(|it| it.buffer_pool_hits, 1),
            buffer_pool_waits: count(|it| it.buffer_pool_waits, 1),
            temporary_bytes: count(|it| it.temporary_bytes, 1),
            checkpoints_running: levels.checkpoints_running,
            checkpoint_age: levels.checkpoint_age,
            pages_flushed: count(|it| it.pages_flushed, 1),
            vacuums_running: levels.vacuums_running,
            workers_running: levels.workers_running,
            aborted_connections: count(|it| it.aborted_connections, 1),
            refused_connections: count(|it| it.refused_connections, 1),
        });
    }
}
