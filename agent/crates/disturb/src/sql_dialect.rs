//! How a database is told to lock, to write its pages and to forget them: its own command-line client,
//! and its words. One entry a protocol.

use crate::sql_client::Login;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// A kind of database.
pub struct Dialect {
    /// Its client, which reads statements from its standard input and ends at the first error.
    pub program: &'static str,
    /// The package that brings it.
    pub package: &'static str,
    /// Its arguments for a login at a UNIX socket.
    pub arguments: fn(&mut Command, &Path, &Login) -> Result<()>,
    /// The argument before a statement, for a client that runs only that.
    pub once: &'static str,
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
    /// Asks for the folder of the current schema's tables, below the one that the server works in.
    pub folder: &'static str,
    /// Empties its buffer pool.
    pub emptying: Emptying,
}

/// How a buffer pool is emptied.
pub struct Emptying {
    /// What is said once before it; fails where it cannot be done.
    pub needs: &'static [&'static str],
    /// A table whose pages take the place of others, where there is no other way.
    pub filler: Option<Filler>,
    /// Does it, by a table of so many bytes.
    pub empty: fn(table: &str, bytes: u64) -> String,
}

/// A table that a buffer pool has no room for.
#[derive(Clone, Copy)]
pub struct Filler {
    /// Asks for its size.
    pub bytes: &'static str,
    /// Asks what its files are called.
    pub file: fn(table: &str) -> String,
}

/// By what the server speaks.
const DIALECTS: [(&str, Dialect); 2] = [("mysql", MYSQL), ("postgresql", POSTGRESQL)];

/// The dialect of a server that speaks `protocol`.
pub fn speaking(protocol: &str) -> Result<Dialect> {
    match DIALECTS.into_iter().find(|(name, _)| *name == protocol) {
        Some((_, dialect)) => Ok(dialect),
        None => bail!(
            "nothing can be locked, written or forgotten in a server that speaks '{protocol}'"
        ),
    }
}

const MYSQL: Dialect = Dialect {
    program: "mariadb",
    package: "mariadb-client",
    arguments: |command, socket, login| {
        command
            .args(["--no-defaults", "--batch", "--skip-column-names", "--unbuffered"])
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--user={}", login.user))
            .arg(login.database)
            .env("MYSQL_PWD", login.password);
        Ok(())
    },
    once: "-e",
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
    folder: "SELECT DATABASE()",
    // The pool is shrunk to its least (6 MiB, of which pages may stay) and grown again in one statement,
    // which is not broken off when its client dies. Before there was a greatest size, that was done
    // some time after the statement.
    emptying: Emptying {
        needs: &["SET ROLE buffer_pool_admin", "SELECT @@innodb_buffer_pool_size_max"],
        filler: None,
        empty: |_, _| {
            "EXECUTE IMMEDIATE 'BEGIN NOT ATOMIC \
             DECLARE whole BIGINT UNSIGNED DEFAULT @@GLOBAL.innodb_buffer_pool_size; \
             SET GLOBAL innodb_buffer_pool_size = 2097152; \
             SET GLOBAL innodb_buffer_pool_size = whole; END'"
                .to_owned()
        },
    },
};

const POSTGRESQL: Dialect = Dialect {
    program: "psql",
    package: "postgresql-client",
    arguments: |command, socket, login| {
        // `-h` takes the socket's folder, and `-p` the end of its name.
        let name = socket.file_name().and_then(|name| name.to_str());
        let port = name.and_then(|name| name.strip_prefix(".s.PGSQL."));
        let (Some(port), Some(folder)) = (port, socket.parent()) else {
            bail!("{} is no socket of PostgreSQL", socket.display());
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
    once: "-c",
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
    folder: "SELECT 'base/' || oid FROM pg_database WHERE datname = current_database()",
    // Rows that are asked for by their places are read into the pool as any other, where a scan has a
    // few pages of it only. Pages that are used often go at the second reading.
    emptying: Emptying {
        needs: &[],
        filler: Some(Filler {
            bytes: "SELECT pg_size_bytes(current_setting('shared_buffers')) / 4 * 5",
            file: |table| format!("SELECT pg_relation_filenode('{table}')"),
        }),
        empty: |table, bytes| {
            let last = bytes.div_ceil(8 << 10).saturating_sub(1);
            let read = format!(
                "SELECT count(*) FROM {table} WHERE ctid = ANY (ARRAY(\
                 SELECT format('(%s,1)', page)::tid FROM generate_series(0, {last}) AS page))"
            );
            [read.as_str(); 3].join("; ")
        },
    },
};
