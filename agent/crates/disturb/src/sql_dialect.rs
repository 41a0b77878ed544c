//! How a database is told to lock: its own command-line client, and its words. One entry a protocol.

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
}

/// By what the server speaks.
const DIALECTS: [(&str, Dialect); 2] = [("mysql", MYSQL), ("postgresql", POSTGRESQL)];

/// The dialect of a server that speaks `protocol`.
pub fn speaking(protocol: &str) -> Result<Dialect> {
    match DIALECTS.into_iter().find(|(name, _)| *name == protocol) {
        Some((_, dialect)) => Ok(dialect),
        None => bail!("nothing can be locked in a server that speaks '{protocol}'"),
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
};
