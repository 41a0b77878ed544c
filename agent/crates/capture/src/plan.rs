//! Plan files.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use tierlab_dissect::Server;

/// `capture`: listen on an interface.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LivePlan {
    /// The interface, such as `lo`, or a bridge.
    pub interface: String,
    /// The servers whose connections are of interest.
    pub servers: Vec<Server>,
    /// The rings between kernel and agent together; 64 MiB unless said, of which each
    /// 256 KiB last for 50 ms at least.
    #[serde(default = "default_ring_bytes")]
    pub ring_bytes: usize,
    /// How many threads dissect, each with a ring of its own: one unless said.
    #[serde(default = "one_thread")]
    pub threads: NonZero<usize>,
    /// Stop after this long; without it, at SIGINT or SIGTERM.
    pub duration_ns: Option<i64>,
    /// Also write every message to `messages.jsonl`.
    #[serde(default)]
    pub messages: bool,
}

/// `dissect`: read a capture file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilePlan {
    /// A pcap or pcapng file.
    pub file: PathBuf,
    /// The servers whose connections are of interest.
    pub servers: Vec<Server>,
    /// How many threads dissect; as many as this process has CPUs unless said. The tables do not
    /// differ as long as the memory suffices, of which each dissector has its share.
    #[serde(default = "default_threads")]
    pub threads: NonZero<usize>,
    /// Also write every message to `messages.jsonl`.
    #[serde(default)]
    pub messages: bool,
}

/// `calls`: see who calls whom.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallsPlan {
    /// Stop after this long; without it, at SIGINT or SIGTERM.
    pub duration_ns: Option<i64>,
}

fn default_threads() -> NonZero<usize> {
    std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

fn one_thread() -> NonZero<usize> {
    NonZero::<usize>::MIN
}

fn default_ring_bytes() -> usize {
    64 << 20
}

pub(crate) trait Servers {
    fn servers(&self) -> &[Server];
}

impl Servers for LivePlan {
    fn servers(&self) -> &[Server] {
        &self.servers
    }
}

impl Servers for FilePlan {
    fn servers(&self) -> &[Server] {
        &self.servers
    }
}

/// Reads a plan.
pub(crate) fn read<P: DeserializeOwned>(path: &Path) -> Result<P> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}", path.display()))
}

/// Reads and checks a plan that names servers.
pub(crate) fn read_checked<P: DeserializeOwned + Servers>(path: &Path) -> Result<P> {
    let plan: P = read(path)?;
    check(plan.servers()).with_context(|| format!("{}", path.display()))?;
    Ok(plan)
}

fn check(servers: &[Server]) -> Result<()> {
    if servers.is_empty() {
        bail!("servers: name at least one");
    }
    let (mut names, mut listeners) = (HashSet::new(), HashSet::new());
    for server in servers {
        if !names.insert(&server.name) {
            bail!("servers: the name {} is there twice", server.name);
        }
        if !listeners.insert((server.address, server.port)) {
            bail!("servers: {}:{} is there twice", server.address, server.port);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, port: u16) -> Server {
        serde_json::from_value(serde_json::json!({
            "name": name, "address": "127.0.1.1", "port": port, "protocol": "http1"
        }))
        .expect("valid")
    }

    #[test]
    fn servers_are_told_apart() {
        assert!(check(&[server("web.1", 80), server("web.2", 81)]).is_ok());
        assert!(check(&[]).is_err());
        assert!(check(&[server("web.1", 80), server("web.1", 81)]).is_err());
        assert!(check(&[server("web.1", 80), server("web.2", 80)]).is_err());
    }

    #[test]
    fn unknown_keys_are_refused() {
        let plan = r#"{"interface": "lo", "servers": [], "sevrers": []}"#;
        let error = serde_json::from_str::<LivePlan>(plan).expect_err("misspelt");
        assert!(error.to_string().contains("sevrers"));
    }
}
