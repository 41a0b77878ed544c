//! Lock: another client of the database holds the table, or the rows, that the pages need.
//!
//! It comes in through the UNIX socket, where a capture of the network does not see it.

use crate::database::Database;
use crate::disturbance::{Disturbance, End};
use crate::plan::Planned;
use crate::sql_client::{Login, SqlClient};
use crate::sql_dialect::Dialect;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    table: String,
    /// 0: the whole table, `LOCK TABLE`; else so many of its latest rows, `SELECT .. FOR UPDATE`.
    #[serde(default)]
    rows: u64,
    user: String,
    #[serde(default)]
    password: String,
    database: String,
}

/// Keys that are not the disturbance's intensity.
pub const LOGIN: [&str; 3] = ["user", "password", "database"];

struct Holder {
    client: SqlClient,
    take: String,
    release: &'static str,
    granted_ns: i64,
}

impl Lock {
    /// Connects, and finds the order of the table's rows.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        let (user, password, database) = (&self.user, &self.password, &self.database);
        let database = Database::of(planned, Login { user, password, database })?;
        let odd = self.table.contains(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        ensure!(!odd, "`table` is '{}'; give a plain name", self.table);
        let mut client = database.connect()?;
        let seconds = planned.what.duration_ns / 1_000_000_000 + 1;
        client.run(&(database.dialect.patience)(seconds))?;
        let (take, release) = self.statements(&database.dialect, &mut client)?;
        Ok(Box::new(Holder { client, take, release, granted_ns: 0 }))
    }

    fn statements(
        &self,
        dialect: &Dialect,
        client: &mut SqlClient,
    ) -> Result<(String, &'static str)> {
        let (table, rows, schema, quote) = (&self.table, self.rows, dialect.schema, dialect.quote);
        let key = client.value(&format!(
            "SELECT k.column_name FROM information_schema.key_column_usage k \
             JOIN information_schema.table_constraints c USING (constraint_name) \
             WHERE k.table_schema = {schema} AND k.table_name = '{table}' \
             AND c.table_schema = {schema} AND c.table_name = '{table}' \
             AND c.constraint_type = 'PRIMARY KEY' AND k.ordinal_position = 1"
        ))?;
        let key = key.with_context(|| {
            format!("`table`: {}.{table} does not exist or has no primary key", self.database)
        })?;
        let quoted = |name: &str| format!("{quote}{name}{quote}");
        let (table, key) = (quoted(table), quoted(&key));
        if rows == 0 {
            return Ok(((dialect.take)(&table), dialect.release));
        }
        let latest = format!("SELECT {key} FROM {table} ORDER BY {key} DESC LIMIT {rows}");
        let take = format!("BEGIN; SELECT COUNT(*) FROM ({latest} FOR UPDATE) AS held");
        Ok((take, "ROLLBACK"))
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
