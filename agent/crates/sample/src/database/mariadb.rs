//! A connection to MariaDB that is kept open, and what is asked over it.
//!
//! Statements are of two kinds that no application sends, and that MariaDB counts apart from
//! SELECT: SHOW STATUS (about 0.25 ms of the server's CPU time) and, while another statement runs, SHOW
//! PROCESSLIST (0.15 ms at 64 connections; there is no counter of the waits for a table's metadata
//! lock). The same through information_schema took three to five times as much.

use crate::database::reading::{Counters, Levels, Reading};
use crate::plan::DatabaseServer;
use crate::polls::{Link, PATIENCE};
use anyhow::Result;
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder};

/// The status variables that are read; "Server Status Variables" and "InnoDB Status Variables" in
/// MariaDB's documentation say what they count.
const STATUS: [&str; 20] = [
    "Threads_connected",
    "Threads_running",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_waits",
    "Innodb_row_lock_time",
    "Table_locks_waited",
    "Innodb_log_waits",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_fsyncs",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_checkpoint_age",
    "Aborted_connects",
    "Connection_errors_max_connections",
];

/// Given, so that the library does not ask the server for it with a SELECT.
const PACKET_BYTES: usize = 16 << 20;

/// A connection, made anew when it is lost.
pub struct MariaDb {
    options: Opts,
    question: String,
    connection: Option<Conn>,
}

impl MariaDb {
    /// Connects when it is first read.
    pub fn new(server: &DatabaseServer) -> Self {
        let options = OptsBuilder::new()
            .socket(Some(server.socket.to_string_lossy()))
            .user(Some(&server.user))
            .pass(Some(&server.password))
            .prefer_socket(false)
            .max_allowed_packet(Some(PACKET_BYTES))
            .read_timeout(Some(PATIENCE))
            .write_timeout(Some(PATIENCE));
        let names = STATUS.map(|name| format!("'{name}'")).join(",");
        let question = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})");
        Self { options: options.into(), question, connection: None }
    }
}

impl Link<Reading> for MariaDb {
    fn read(&mut self) -> Result<Reading> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Conn::new(self.options.clone())?,
        };
        let status = Status::of(&mut connection, &self.question)?;
        // Who waits for a lock counts as running, as does this statement.
        let table_lock_waiting = match status.level("Threads_running") {
            Some(1) => 0,
            _ => waiting_for_tables(&mut connection)?,
        };
        self.connection = Some(connection);
        Ok(status.reading(table_lock_waiting))
    }
}

/// The variables' values, in the order of their names.
struct Status([Option<i64>; STATUS.len()]);

impl Status {
    fn of(connection: &mut Conn, question: &str) -> mysql::Result<Self> {
        let mut status = [None; STATUS.len()];
        for (name, value) in connection.query::<(String, String), _>(question)? {
            if let Some(at) = STATUS.iter().position(|known| *known == name) {
                status[at] = value.parse().ok();
            }
        }
        Ok(Self(status))
    }

    /// A variable that goes up and down.
    fn level(&self, name: &str) -> Option<i64> {
        self.0[STATUS.iter().position(|known| *known == name)?]
    }

    /// A variable that only grows.
    fn counter(&self, name: &str) -> Option<u64> {
        self.level(name)?.try_into().ok()
    }

    fn reading(&self, table_lock_waiting: i64) -> Reading {
        // The sampler's own connection, which runs its own statement, is not the application's.
        let others = |name| self.level(name).map(|threads| (threads - 1).max(0));
        let read = self.counter("Innodb_buffer_pool_reads");
        let asked = self.counter("Innodb_buffer_pool_read_requests");
        Reading {
            levels: Levels {
                threads_connected: others("Threads_connected"),
                threads_running: others("Threads_running"),
                row_lock_waiting: self.level("Innodb_row_lock_current_waits"),
                table_lock_waiting: Some(table_lock_waiting),
                pending_fsyncs: self.level("Innodb_data_pending_fsyncs"),
                pending_reads: self.level("Innodb_data_pending_reads"),
                pending_writes: self.level("Innodb_data_pending_writes"),
                checkpoint_age: self.level("Innodb_checkpoint_age"),
                ..Levels::default()
            },
            counters: Counters {
                row_lock_waits: self.counter("Innodb_row_lock_waits"),
                row_lock_time_ms: self.counter("Innodb_row_lock_time"),
                table_lock_waits: self.counter("Table_locks_waited"),
                log_waits: self.counter("Innodb_log_waits"),
                data_reads: self.counter("Innodb_data_reads"),
                data_writes: self.counter("Innodb_data_writes"),
                data_fsyncs: self.counter("Innodb_data_fsyncs"),
                buffer_pool_hits: asked.zip(read).map(|(asked, read)| asked.saturating_sub(read)),
                buffer_pool_waits: self.counter("Innodb_buffer_pool_wait_free"),
                pages_flushed: self.counter("Innodb_buffer_pool_pages_flushed"),
                aborted_connections: self.counter("Aborted_connects"),
                refused_connections: self.counter("Connection_errors_max_connections"),
                ..Counters::default()
            },
        }
    }
}

/// How many statements wait for a table. The rows are taken one by one: there is one for each
/// connection, mostly idle.
fn waiting_for_tables(connection: &mut Conn) -> mysql::Result<i64> {
    let mut waiting = 0;
    for row in connection.query_iter("SHOW PROCESSLIST")? {
        let state: Option<Vec<u8>> = row?.take_opt("State").and_then(Result::ok);
        waiting += i64::from(state.is_some_and(|state| waits_for_table(&state)));
    }
    Ok(waiting)
}

/// `Waiting for table metadata lock`, `... table level lock`, `... backup lock` and the like.
fn waits_for_table(state: &[u8]) -> bool {
    state.starts_with(b"Waiting for ") && state.ends_with(b" lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_for_locks_on_tables_are_counted() {
        assert!(waits_for_table(b"Waiting for table metadata lock"));
        assert!(waits_for_table(b"Waiting for table level lock"));
        assert!(waits_for_table(b"Waiting for backup lock"));
        assert!(!waits_for_table(b"Waiting for work from SQL thread"));
        assert!(!waits_for_table(b"Sending data"));
    }
}
