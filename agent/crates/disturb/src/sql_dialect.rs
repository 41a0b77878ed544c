//! How a database is told to lock, and to write its pages: its own command-line client, and its words.
//! One entry a protocol.

use crate::sql_client::Login;
use anyhow::{Result, bail};
use std::process::Command;

/// A kind of database.
pub struct Dialect {
    /// Its client, which reads statements from its standard input and ends at the first error.
    pub program: &'static str,
    /// The package that brings it.
    pub package: &'static str,
    /// Its arguments for a login.
    pub arguments: fn(&mut Command, &Login) -> Result<()>,
    /// The current schema, as an expression.
    pub schema: &'static str,
    /// Around a table's or a column's name.
    pub quote: char,
    /// Waits for so many seconds for a lock, and for good for the next statement.
    pub patience: fn(seconds: i64) -> String,
    /// Takes a table, which is quoted already.
    pub take: fn(table: &str) -> String,
    /// Lets go of it.
    pub release: &'static str,
    /// Makes a table of so many bytes with a column `changes`, few rows a page.
    pub fill: fn(table: &str, bytes: u64) -> String,
    /// Writes a table's changed pages to the disk, or all that there are.
    pub write: fn(table: &str) -> String,
}

/// By what the server speaks.
const DIALECTS: [(&str, Dialect); 2] = [("mysql", MYSQL), ("postgresql", POSTGRESQL)];

/// The dialect of a server that speaks `protocol`.
pub fn speaking(protocol: &str) -> Result<Dialect> {
    match DIALECTS.into_iter().find(|(name, _)| *name == protocol) {
        Some((_, dialect)) => Ok(dialect),
        None => bail!("nothing can be locked or written in a server that speaks '{protocol}'"),
    }
}

const MYSQL: Dialect = Dialect {
    program: "mariadb",
    package: "mariadb-client",
    arguments: |command, login| {
        command
            .args(["--no-defaults", "--batch", "--skip-column-names", "--unbuffered"])
            .arg(format!("--socket={}", login.socket.display()))
            .arg(format!("--user={}", login.user))
            .arg(login.database)
            .env("MYSQL_PWD", login.password);
        Ok(())
    },
    schema: "DATABASE()",
    quote: '`',
    patience: |seconds| {
        format!(
            "SET lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}, \
             wait_timeout = 86400"
        )
    },
    take: |table| format!("LOCK TABLES {table} WRITE"),
    release: "UNLOCK TABLES",
    // Two rows to a page of 16 KiB.
    fill: |table, bytes| {
        let rows = bytes.div_ceil(8 << 10);
        format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, changes INT NOT NULL, \
             filler VARCHAR(7800) CHARACTER SET latin1 NOT NULL) ENGINE=InnoDB; \
             INSERT INTO {table} SELECT seq, 0, REPEAT('x', 7800) FROM seq_1_to_{rows}"
        )
    },
    // A checkpoint of this one table. That of all needs an account which may do anything.
    write: |table| format!("FLUSH LOCAL TABLES {table} FOR EXPORT; UNLOCK TABLES"),
};

const POSTGRESQL: Dialect = Dialect {
    program: "psql",
    package: "postgresql-client",
    arguments: |command, login| {
        // `-h` takes the socket's folder, and `-p` the end of its name.
        let name = login.socket.file_name().and_then(|name| name.to_str());
        let port = name.and_then(|name| name.strip_prefix(".s.PGSQL."));
        let (Some(port), Some(folder)) = (port, login.socket.parent()) else {
            bail!("{} is no socket of PostgreSQL", login.socket.display());
        };
        command
            .args(["-X", "-q", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-p", port, "-h"])
            .arg(folder)
            .args(["-U", login.user, "-d", login.database])
            .env("PGPASSWORD", login.password)
            // The counted statements are the application's, and whoever reads them is told nothing.
            .env("PGOPTIONS", "-c pg_stat_statements.track=none");
        Ok(())
    },
    schema: "current_schema()",
    quote: '"',
    // A server that is busy waiting for a lock does not see its client die unless it looks.
    patience: |seconds| {
        format!(
            "SET lock_timeout = '{seconds}s'; SET client_connection_check_interval = '100ms'; \
             SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"
        )
    },
    take: |table| format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"),
    release: "ROLLBACK",
    // One row to a page of 8 KiB, which goes into the log without its free space.
    fill: |table, bytes| {
        let rows = bytes.div_ceil(8 << 10);
        format!(
            "CREATE TABLE {table} (changes INT NOT NULL, filler CHAR(900) NOT NULL) \
             WITH (fillfactor = 10, autovacuum_enabled = off); \
             INSERT INTO {table} SELECT 0, '' FROM generate_series(1, {rows})"
        )
    },
    write: |_| "CHECKPOINT".to_owned(),
};
