//! What PostgreSQL is asked: one prepared statement over its statistics functions.
//!
//! It is logged in to the database `postgres`, not to the application's: the pages that it looks up,
//! and its entry among the counted statements, lie apart from the application's. It takes 0.3 ms of the
//! server's CPU time at 16 connections, 0.4 at 64 and 0.6 at 200 (bench/sample/polls.py).

use crate::database::postgresql_session::Session;
use crate::database::reading::{Counters, Levels, Reading};
use crate::plan::DatabaseServer;
use crate::polls::Link;
use anyhow::Result;

const OWN_DATABASE: &str = "postgres";

/// "The Cumulative Statistics System" in PostgreSQL's documentation says what the functions tell, and
/// which events are waited for.
///
/// The functions below the views: `pg_stat_activity` itself joins each row with its database and role.
/// How often the log waited for its buffers is counted from version 14 on.
fn question(major_version: u32) -> String {
    let flushed = match major_version {
        17.. => "pg_stat_get_checkpointer_buffers_written()",
        _ => "pg_stat_get_bgwriter_buf_written_checkpoints()",
    };
    let log_waits = match major_version {
        14.. => "(SELECT wal_buffers_full FROM pg_stat_get_wal())",
        _ => "NULL::bigint",
    };
    format!(
        "
    SELECT
      count(*) FILTER (WHERE client),
      count(*) FILTER (WHERE client AND state IN ('active', 'fastpath function call')
                         AND wait_event IS DISTINCT FROM 'ClientRead'),
      count(*) FILTER (WHERE client AND state LIKE 'idle in transaction%'),
      count(*) FILTER (WHERE client AND locked AND of_row),
      count(*) FILTER (WHERE client AND locked AND NOT of_row),
      count(*) FILTER (WHERE wait_event IN ('DataFileSync', 'DataFileImmediateSync')),
      count(*) FILTER (WHERE wait_event = 'DataFileRead'),
      count(*) FILTER (WHERE wait_event IN ('DataFileWrite', 'DataFileExtend')),
      count(*) FILTER (WHERE backend_type = 'checkpointer'
                         AND wait_event IS DISTINCT FROM 'CheckpointerMain'),
      (SELECT count(*) FROM pg_stat_get_progress_info('VACUUM')),
      count(*) FILTER (WHERE backend_type = 'parallel worker'),
      {flushed}, {log_waits},
      min(pages.fetched - pages.hit), min(pages.hit), min(pages.temporary)
    FROM (SELECT state, wait_event, backend_type,
                 backend_type = 'client backend' AS client,
                 coalesce(wait_event_type = 'Lock', false) AS locked,
                 coalesce(wait_event IN ('transactionid', 'tuple', 'spectoken'), false) AS of_row
            FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid()) AS sessions,
         (SELECT sum(pg_stat_get_db_blocks_fetched(oid))::bigint AS fetched,
                 sum(pg_stat_get_db_blocks_hit(oid))::bigint AS hit,
                 sum(pg_stat_get_db_temp_bytes(oid))::bigint AS temporary
            FROM pg_database WHERE datname <> current_database()) AS pages"
    )
}

/// A connection, made anew when it is lost.
pub struct PostgreSql {
    server: DatabaseServer,
    session: Option<Session>,
}

impl PostgreSql {
    /// Connects when it is first read.
    pub fn new(server: &DatabaseServer) -> Self {
        Self { server: server.clone(), session: None }
    }
}

impl Link<Reading> for PostgreSql {
    fn read(&mut self) -> Result<Reading> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => {
                let DatabaseServer { socket, user, password, .. } = &self.server;
                Session::open(socket, user, password, OWN_DATABASE, question)?
            }
        };
        let numbers = session.numbers()?;
        self.session = Some(session);
        Ok(reading(numbers))
    }
}

/// The columns of the question's row, in its order.
fn reading(row: [Option<i64>; 16]) -> Reading {
    let [connected, active, idle, row_locks, table_locks, fsyncs, reads, writes, checkpoints, ..] =
        row;
    let [.., vacuums, workers, flushed, log_waits, read, hit, temporary] = row;
    let counter = |number: Option<i64>| number.and_then(|number| number.try_into().ok());
    Reading {
        levels: Levels {
            threads_connected: connected,
            threads_running: active,
            idle_in_transaction: idle,
            row_lock_waiting: row_locks,
            table_lock_waiting: table_locks,
            pending_fsyncs: fsyncs,
            pending_reads: reads,
            pending_writes: writes,
            checkpoints_running: checkpoints,
            vacuums_running: vacuums,
            workers_running: workers,
            ..Levels::default()
        },
        counters: Counters {
            log_waits: counter(log_waits),
            data_reads: counter(read),
            buffer_pool_hits: counter(hit),
            temporary_bytes: counter(temporary),
            pages_flushed: counter(flushed),
            ..Counters::default()
        },
    }
}
