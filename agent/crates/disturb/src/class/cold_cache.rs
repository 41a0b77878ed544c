//! Cold cache: the database's buffer pool is emptied, and the kernel's cache of its files with it:
//! pages come from the disk until it is warm again, as after a restart or a large scan.

use crate::class::Preparation;
use crate::database::Database;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::moment;
use crate::page_cache;
use crate::plan::Planned;
use crate::sql_client::{Login, SqlClient};
use crate::sql_dialect;
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ColdCache {
    user: String,
    #[serde(default)]
    password: String,
    database: String,
}

/// From one emptying to the next: meanwhile some of it is read back.
const AGAIN_NS: i64 = 500_000_000;

/// The caches that are emptied, by the database's socket.
pub type Caches = HashMap<PathBuf, Arc<Cache>>;

/// A database's cache, and who empties it.
pub struct Cache {
    client: Mutex<SqlClient>,
    empty: String,
    /// The files of its tables.
    folder: PathBuf,
    filler: Option<Filler>,
}

/// A table whose pages take the place of all others.
struct Filler {
    /// The name that its files begin with.
    file: String,
    /// It is removed when the last that needs it is done.
    _table: Held,
}

impl Cache {
    fn open(cold: &ColdCache, planned: &Planned, keeper: &Keeper) -> Result<Self> {
        let ColdCache { user, password, database } = cold;
        let database = Database::of(planned, Login { user, password, database })?;
        let mut client = database.connect()?;
        let emptying = &database.dialect.emptying;
        for statement in emptying.needs {
            client.run(statement).context("its buffer pool cannot be emptied")?;
        }
        let folder = asked(&mut client, database.dialect.folder)?;
        let folder = page_cache::served_from(database.socket())?.join(folder);
        let table = database.table_name("cold");
        let bytes: u64 = match emptying.filler {
            Some(filler) => asked(&mut client, filler.bytes)?.parse()?,
            None => 0,
        };
        let empty = (emptying.empty)(&table, bytes);
        let mut cache = Self { client: Mutex::new(client), empty, folder, filler: None };
        if let Some(filler) = emptying.filler {
            cache.filler = Some(cache.fill(filler, &database, &table, bytes, keeper)?);
        }
        // Pages that were changed stay in the kernel's cache until they are written.
        page_cache::write_back(&cache.folder)?;
        Ok(cache)
    }

    /// Makes the table, whose pages are on the disk then.
    fn fill(
        &self,
        filler: sql_dialect::Filler,
        database: &Database,
        table: &str,
        bytes: u64,
        keeper: &Keeper,
    ) -> Result<Filler> {
        let mut client = self.session()?;
        let made = database.make_table(&mut client, table, bytes, keeper)?;
        for statement in [&self.empty, &(database.dialect.write)(table)] {
            client.run(statement)?;
        }
        let file = client.value(&(filler.file)(table))?.context("it has no such table")?;
        // Read here, its pages are not the server's to be charged for.
        page_cache::reread(&self.folder, &file)?;
        Ok(Filler { file, _table: made })
    }

    fn session(&self) -> Result<MutexGuard<'_, SqlClient>> {
        self.client.lock().map_err(|_| anyhow!("its client is gone"))
    }

    fn empty(&self) -> Result<()> {
        self.session()?.run(&self.empty).context("the buffer pool was not emptied")?;
        let but = self.filler.as_ref().map(|filler| filler.file.as_str());
        page_cache::drop_all(&self.folder, but)
    }
}

/// What the database answers.
fn asked(client: &mut SqlClient, question: &str) -> Result<String> {
    client.value(question)?.with_context(|| format!("no answer to {question}"))
}

struct Cold {
    cache: Arc<Cache>,
    times: u64,
}

impl ColdCache {
    /// Makes what is needed, unless it is there.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        let key = planned.target.socket.clone().unwrap_or_default();
        let cache = match preparation.caches.get(&key) {
            Some(cache) => cache.clone(),
            None => Arc::new(Cache::open(self, planned, &preparation.keeper)?),
        };
        preparation.caches.insert(key, cache.clone());
        Ok(Box::new(Cold { cache, times: 0 }))
    }
}

impl Cold {
    fn empty(&mut self) -> Result<()> {
        self.times += 1;
        self.cache.empty()
    }
}

impl Disturbance for Cold {
    /// The first pages that are missed are missed while it is emptied.
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        self.empty()?;
        Ok(start_ns)
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        loop {
            let again_ns = steady_ns() + AGAIN_NS;
            if !moment::wait(again_ns.min(until_ns), stop) || again_ns >= until_ns {
                return Ok(());
            }
            self.empty()?;
        }
    }

    fn end(&mut self) -> Result<End> {
        Ok(End::now(json!({ "emptied": self.times })))
    }
}
