//! A connection to MariaDB that is kept open, and what is asked over it.

use crate::plan::DatabaseServer;
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder};
use std::time::Duration;

/// The status variables that are read; "Server Status Variables" and "InnoDB Status Variables" in
/// MariaDB's documentation say what they count.
pub const STATUS: [&str; 16] = [
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
    "Innodb_buffer_pool_wait_free",
    "Aborted_connects",
    "Connection_errors_max_connections",
];

/// Longer than a server is ever stopped on purpose: its late answer is the true one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Given, so that the library does not ask the server for it with a SELECT.
const PACKET_BYTES: usize = 16 << 20;

/// A connection, made anew when it is lost.
pub struct Link {
    options: Opts,
    question: String,
    connection: Option<Conn>,
}

/// What a server has answered.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    status: [Option<i64>; STATUS.len()],
    /// Statements that wait for a lock on a table, its metadata or the whole server.
    pub table_lock_waiting: Option<i64>,
}

impl Link {
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

    /// Asks the server; after an error the next call connects anew.
    pub fn read(&mut self) -> mysql::Result<Reading> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Conn::new(self.options.clone())?,
        };
        let reading = Reading::of(&mut connection, &self.question)?;
        self.connection = Some(connection);
        Ok(reading)
    }
}

impl Reading {
    fn of(connection: &mut Conn, question: &str) -> mysql::Result<Self> {
        let mut status = [None; STATUS.len()];
        for (name, value) in connection.query::<(String, String), _>(question)? {
            if let Some(at) = STATUS.iter().position(|known| *known == name) {
                status[at] = value.parse().ok();
            }
        }
        let mut reading = Self { status, table_lock_waiting: Some(0) };
        // Who waits for a lock counts as running, as does this statement.
        if reading.level("Threads_running") != Some(1) {
            reading.table_lock_waiting = Some(waiting_for_tables(connection)?);
        }
        Ok(reading)
    }

    /// A variable that goes up and down.
    pub fn level(&self, name: &str) -> Option<i64> {
        self.status[STATUS.iter().position(|known| *known == name)?]
    }

    /// A variable that only grows.
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.level(name)?.try_into().ok()
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
