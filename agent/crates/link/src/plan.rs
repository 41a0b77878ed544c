//! What to link, as the plan file states it.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The plan of the verb `link`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The table `raw_visits` as an Arrow IPC stream.
    pub input: PathBuf,
    /// The same of what went over UNIX sockets.
    #[serde(default)]
    pub also: Vec<PathBuf>,
    /// The table `raw_turns` as an Arrow IPC stream, where threads were traced.
    #[serde(default)]
    pub turns: Option<PathBuf>,
    /// Links as if no message had carried a request id.
    #[serde(default)]
    pub hide_ids: bool,
    /// Every server that calls others, and the servers that it calls:
    /// `{"web.1": ["app.1"], "app.1": ["lb.1"], "lb.1": ["db.1", "db.2"]}`.
    pub servers: BTreeMap<String, Vec<String>>,
    /// Those of them whose one thread works on all requests in turns.
    #[serde(default)]
    pub event_loops: Vec<String>,
    /// How long after its own departure a visit may wait for its parent to depart.
    #[serde(default = "a_minute")]
    pub window_ns: i64,
}

fn a_minute() -> i64 {
    60_000_000_000
}

impl Plan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// When the file cannot be read, or a key is unknown, missing or of the wrong type.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("the plan {} is not a plan of link", path.display()))
    }
}
