//! Lock: another client of the database holds the table, or the rows, that the pages need.
//!
//! It comes in through the UNIX socket, where a capture of the network does not see it.

use crate::disturbance::{Disturbance, End};
use crate::plan::Planned;
use crate::sql_client::{Login, SqlClient};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::PathBuf;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    #[serde(default = "stories")]
    table: String,
    /// 0: the whole table, `LOCK TABLES .. WRITE`; else so many of its latest rows,
    /// `SELECT .. FOR UPDATE`.
    #[serde(default)]
    rows: u64,
    /// The server's UNIX socket; `data/mysqld.sock` in the domain's folder unless said otherwise.
    #[serde(default)]
    socket: Option<PathBuf>,
    user: String,
    #[serde(default)]
    password: String,
    database: String,
}

/// Keys that are not the disturbance's intensity.
pub const LOGIN: [&str; 4] = ["socket", "user", "password", "database"];

fn stories() -> String {
    "stories".to_owned()
}

struct Holder {
    client: SqlClient,
    take: String,
    release: &'static str,
    granted_ns: i64,
}

impl Lock {
    /// Connects, and finds the order of the table's rows.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        let in_folder = || planned.target.folder.as_ref().map(|at| at.join("data/mysqld.sock"));
        let socket = self.socket.clone().or_else(in_folder);
        let socket =
            socket.context("it needs the database's `socket`, or the domain's `folder`")?;
        let odd = self.table.contains(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        ensure!(!odd, "`table` is '{}'; give a plain name", self.table);
        let mut client = SqlClient::connect(&Login {
            socket: &socket,
            user: &self.user,
            password: &self.password,
            database: &self.database,
        })?;
        let seconds = planned.what.duration_ns / 1_000_000_000 + 1;
        client.run(&format!(
            "SET lock_wait_timeout = {seconds}, innodb_lock_wait_timeout = {seconds}, \
             wait_timeout = 86400"
        ))?;
        let (take, release) = self.statements(&mut client)?;
        Ok(Box::new(Holder { client, take, release, granted_ns: 0 }))
    }

    fn statements(&self, client: &mut SqlClient) -> Result<(String, &'static str)> {
        let table = &self.table;
        let key = client.value(&format!(
            "SELECT column_name FROM information_schema.key_column_usage \
             WHERE table_schema = DATABASE() AND table_name = '{table}' \
             AND constraint_name = 'PRIMARY' AND ordinal_position = 1"
        ))?;
        let key = key.with_context(|| {
            format!("`table`: {}.{table} does not exist or has no primary key", self.database)
        })?;
        if self.rows == 0 {
            return Ok((format!("LOCK TABLES `{table}` WRITE"), "UNLOCK TABLES"));
        }
        client.run("SET autocommit = 0")?;
        let rows = self.rows;
        let latest = format!("SELECT `{key}` FROM `{table}` ORDER BY `{key}` DESC LIMIT {rows}");
        Ok((format!("SELECT COUNT(*) FROM ({latest} FOR UPDATE) AS held"), "ROLLBACK"))
    }
}

impl Disturbance for Holder {
    /// It begins with the request: a table's lock that waits for running statements already keeps
    /// out later ones.
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let asked_ns = realtime_ns();
        self.client.run(&self.take).context("the lock was not granted")?;
        self.granted_ns = realtime_ns();
        Ok(asked_ns)
    }

    fn end(&mut self) -> Result<End> {
        self.client.run(self.release).context("the lock was not released")?;
        Ok(End::now(json!({ "granted_ns": self.granted_ns })))
    }
}
