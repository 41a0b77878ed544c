//! Checkpoint: the database writes a table's changed pages to its disk, all at once.
//!
//! The table is the disturbance's own, with few rows a page: to change all of them is little work and
//! little of a log, and leaves pages that are much to write.

use crate::class::Preparation;
use crate::database::Database;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::Planned;
use crate::sql_client::{Login, SqlClient};
use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Bytes of pages that are changed before it.
    #[serde(default = "sixteen_mib")]
    dirty: u64,
    user: String,
    #[serde(default)]
    password: String,
    database: String,
}

fn sixteen_mib() -> u64 {
    16 << 20
}

/// The tables that there are, by the database's socket and their size.
pub type Tables = HashMap<(PathBuf, u64), Arc<Table>>;

/// A table, and who changes and writes it.
pub struct Table {
    client: Mutex<SqlClient>,
    change: String,
    write: String,
    /// It is removed when the last that needs it is done.
    _table: Held,
}

impl Table {
    /// Its pages are on the disk then.
    fn make(checkpoint: &Checkpoint, planned: &Planned, keeper: &Keeper) -> Result<Self> {
        let Checkpoint { dirty, user, password, database } = checkpoint;
        let database = Database::of(planned, Login { user, password, database })?;
        let mut client = database.connect()?;
        let name = database.table_name(dirty);
        let made = database.make_table(&mut client, &name, *dirty, keeper)?;
        let write = (database.dialect.write)(&name);
        client.run(&write)?;
        let change = format!("UPDATE {name} SET changes = changes + 1");
        Ok(Self { client: Mutex::new(client), change, write, _table: made })
    }

    fn run(&self, statement: &str) -> Result<()> {
        let mut client = self.client.lock().map_err(|_| anyhow!("its client is gone"))?;
        client.run(statement)
    }
}

struct Writing {
    table: Arc<Table>,
    checkpoints: u64,
    /// The longest change of all pages and write of them.
    longest_ns: i64,
}

impl Checkpoint {
    /// Makes the table, unless there is one.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.dirty > 0, "`dirty` is 1 or more");
        let key = (planned.target.socket.clone().unwrap_or_default(), self.dirty);
        let table = match preparation.tables.get(&key) {
            Some(table) => table.clone(),
            None => Arc::new(Table::make(self, planned, &preparation.keeper)?),
        };
        preparation.tables.insert(key, table.clone());
        Ok(Box::new(Writing { table, checkpoints: 0, longest_ns: 0 }))
    }
}

impl Disturbance for Writing {
    /// It begins when there are pages to be written.
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let before = steady_ns();
        self.table.run(&self.table.change).context("no page could be changed")?;
        self.longest_ns = steady_ns() - before;
        Ok(realtime_ns())
    }

    /// One cannot be broken off: the last is the one that ends nearest to the end.
    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        loop {
            let before = steady_ns();
            if self.checkpoints > 0 {
                self.table.run(&self.table.change)?;
            }
            self.table.run(&self.table.write).context("the pages were not written")?;
            self.checkpoints += 1;
            let now = steady_ns();
            self.longest_ns = self.longest_ns.max(now - before);
            if stop.asked() || now + self.longest_ns / 2 >= until_ns {
                return Ok(());
            }
        }
    }

    fn end(&mut self) -> Result<End> {
        Ok(End::now(json!({ "checkpoints": self.checkpoints })))
    }
}
