//! What to trace, as the plan file says it.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::net::IpAddr;
use std::path::Path;
use tierlab_dissect::{Peer, Protocol};
use tierlab_sample::Subject;

/// The plan of `tierlab-agent trace`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Whose threads are traced.
    pub subjects: Vec<Subject>,
    /// Where they, and the servers that they call, listen.
    pub servers: Vec<Listener>,
    /// So many events a second of one subject are taken; of one that has more, fewer threads are
    /// traced.
    #[serde(default = "most_events")]
    pub most_events_per_s: u64,
    /// Uses the tracepoint of system calls for TCP too, as on kernels before Linux 6.3.
    #[serde(default)]
    pub by_system_calls: bool,
    /// Stop after this long; without it, at SIGINT or SIGTERM.
    #[serde(default)]
    pub duration_ns: Option<i64>,
}

/// Where a server listens: at an address and a port, at a UNIX socket, or at both.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listener {
    /// The subject in the tables, such as `web.1`.
    pub name: String,
    /// What it speaks.
    pub protocol: Protocol,
    /// Its address.
    #[serde(default)]
    pub address: Option<IpAddr>,
    /// Its port.
    #[serde(default)]
    pub port: Option<u16>,
    /// The path of its UNIX socket, as it was bound; an abstract name begins with `@`.
    #[serde(default)]
    pub socket: Option<String>,
}

/// An event costs half a microsecond with all that comes of it: this is 1.5 % of a core.
fn most_events() -> u64 {
    30_000
}

/// The kernel's part has room for so many.
const MOST_SUBJECTS: usize = 256;

impl Plan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// When the file cannot be read or is no plan, or names nobody to trace.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        let plan: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is no plan of trace", path.display()))?;
        if plan.subjects.is_empty() || plan.subjects.len() > MOST_SUBJECTS {
            bail!("{}: subjects: name 1 to {MOST_SUBJECTS}", path.display());
        }
        Ok(plan)
    }

    /// True if some server listens at a UNIX socket.
    pub fn has_unix_sockets(&self) -> bool {
        self.servers.iter().any(|it| it.socket.is_some())
    }

    /// The ports at which servers listen.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        self.servers.iter().filter_map(|it| it.port)
    }
}

impl Listener {
    /// Its TCP endpoint, if it has one.
    pub fn endpoint(&self) -> Option<Peer> {
        Some(Peer { address: self.address?, port: self.port? })
    }
}
