//! What to sample, as the plan file says it.

use crate::perf_event::Event;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use tierlab_record::Cgroups;

/// Why the plan cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file could not be read.
    #[error("cannot read the plan {path}: {source}")]
    Read {
        /// The plan file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a plan.
    #[error("{path} is not a sampling plan: {source}")]
    Parse {
        /// The plan file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// A value is out of its range.
    #[error("{path}: {key} is {value}; give {allowed}")]
    Value {
        /// The plan file.
        path: PathBuf,
        /// The key in it.
        key: &'static str,
        /// What it says.
        value: String,
        /// What it may say.
        allowed: &'static str,
    },
}

/// The plan of `tierlab-agent sample`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// From one tick to the next: 10 ms to 10 s.
    pub interval_ns: i64,
    /// How often every thread of a subject's processes is read: no shorter than `interval_ns`.
    #[serde(default = "one_second")]
    pub thread_interval_ns: i64,
    /// The tables to fill; all of them but `counters` unless said otherwise.
    #[serde(default = "TableName::all")]
    pub tables: Vec<TableName>,
    /// The servers, by control group or by process.
    #[serde(default)]
    pub subjects: Vec<Subject>,
    /// The listening sockets to watch.
    #[serde(default)]
    pub listen: Vec<Listener>,
    /// The databases to ask for their own counters.
    #[serde(default)]
    pub databases: Vec<DatabaseServer>,
    /// The caches and stores of keys and values to ask for theirs, as often as the databases.
    #[serde(default)]
    pub caches: Vec<CacheServer>,
    /// From one question to a database to the next: 10 ms to 10 s.
    #[serde(default = "tenth_of_a_second")]
    pub database_interval_ns: i64,
    /// What table `counters` counts, by perf's names.
    #[serde(default)]
    pub events: Vec<Event>,
    /// When to stop; without it, on SIGINT or SIGTERM.
    #[serde(default)]
    pub duration_ns: Option<i64>,
    /// Where the CPU table's `busy` comes from; the best that works unless said otherwise.
    #[serde(default)]
    pub cpu_source: Option<CpuSource>,
}

/// A table that this verb fills.
///
/// In the order in which they are sampled: `tcp` and `domain` ask what those before them have seen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TableName {
    Cpu,
    Memory,
    Disk,
    Net,
    Listen,
    Tcp,
    Pressure,
    Process,
    Domain,
    Database,
    Cache,
    Counters,
}

impl TableName {
    fn all() -> Vec<Self> {
        use TableName::*;
        vec![Cpu, Memory, Disk, Net, Listen, Tcp, Pressure, Process, Domain, Database, Cache]
    }
}

/// Where `busy` of the CPU table comes from. See [`crate::cpu`] for their errors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum CpuSource {
    /// `cpuacct.usage_percpu` of the root control group (version 1).
    CgroupV1,
    /// Run time between context switches, added up in the kernel by a small eBPF program.
    SchedSwitch,
    /// Wall time less idle and iowait of `/proc/stat`, in ticks of 10 ms.
    ProcStat,
}

/// A server: a control group, or processes, or both.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name in the tables, such as `web.1`.
    pub name: String,
    /// Its control group. The folders may appear later and may go.
    #[serde(default)]
    pub cgroups: Cgroups,
    /// Processes beside those of the control group; whoever descends from them joins them.
    #[serde(default)]
    pub pids: Vec<i32>,
}

/// A listening socket and the subject that it belongs to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listener {
    /// The subject, such as `web.1`.
    pub subject: String,
    /// The address that it listens on.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

/// A database server and how to log in to it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseServer {
    /// The subject, such as `db.1`.
    pub subject: String,
    /// What it speaks.
    pub protocol: DatabaseProtocol,
    /// Its UNIX socket.
    pub socket: PathBuf,
    /// A user; without the right PROCESS, or the role pg_read_all_stats, it sees only statements of
    /// that user wait.
    pub user: String,
    /// The user's password.
    pub password: String,
}

/// A protocol by which a database server can be asked about itself.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum DatabaseProtocol {
    Mysql,
    Postgresql,
}

/// A cache, and where it can be asked about itself: at its UNIX socket, or at an address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheServer {
    /// The subject, such as `cache.1`.
    pub subject: String,
    /// What it speaks.
    pub protocol: CacheProtocol,
    /// Its UNIX socket.
    #[serde(default)]
    pub socket: Option<PathBuf>,
    /// Its address and port, where it has no socket.
    #[serde(default)]
    pub address: Option<SocketAddr>,
}

/// A protocol by which a cache can be asked about itself.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum CacheProtocol {
    Memcached,
    Redis,
}

fn tenth_of_a_second() -> i64 {
    100_000_000
}

fn one_second() -> i64 {
    1_000_000_000
}

impl std::fmt::Debug for DatabaseServer {
    /// Without the password.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} at {}", self.subject, self.socket.display())
    }
}

impl Plan {
    /// Reads and checks a plan file.
    pub fn read(path: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| PlanError::Read { path: path.to_owned(), source })?;
        let mut plan: Plan = serde_json::from_str(&text)
            .map_err(|source| PlanError::Parse { path: path.to_owned(), source })?;
        plan.tables.sort_unstable();
        plan.tables.dedup();
        let wrong = |key, value: i64, allowed| {
            Err(PlanError::Value { path: path.to_owned(), key, value: value.to_string(), allowed })
        };
        if !(10_000_000..=10_000_000_000).contains(&plan.interval_ns) {
            return wrong(
                "interval_ns",
                plan.interval_ns,
                "10000000 (10 ms) to 10000000000 (10 s)",
            );
        }
        if plan.thread_interval_ns < 10_000_000 {
            return wrong(
                "thread_interval_ns",
                plan.thread_interval_ns,
                "10000000 (10 ms) or more",
            );
        }
        if !(10_000_000..=10_000_000_000).contains(&plan.database_interval_ns) {
            return wrong(
                "database_interval_ns",
                plan.database_interval_ns,
                "10000000 (10 ms) to 10000000000 (10 s)",
            );
        }
        match plan.duration_ns {
            Some(duration) if duration <= 0 => {
                wrong("duration_ns", duration, "a time above 0, or leave it out")
            }
            _ => Ok(plan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Plan::read(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_short_plan_asks_for_everything() {
        let plan = read(r#"{"interval_ns": 50000000}"#).unwrap();
        assert_eq!(plan.tables.len(), 11);
        assert_eq!(plan.thread_interval_ns, 1_000_000_000);
        assert!(plan.subjects.is_empty() && plan.listen.is_empty() && plan.duration_ns.is_none());
    }

    #[test]
    fn a_rich_plan_is_understood() {
        let plan = read(
            r#"{"interval_ns": 10000000, "tables": ["cpu", "process"], "cpu_source": "proc_stat",
                "subjects": [{"name": "web.1", "cgroups": {"cpuacct": "/c/web", "memory": "/m/web"}},
                             {"name": "app.1", "cgroups": {"unified": "/u/app"}, "pids": [7]}],
                "listen": [{"subject": "web.1", "address": "127.0.1.1", "port": 8080}]}"#,
        )
        .unwrap();
        assert_eq!(plan.tables, [TableName::Cpu, TableName::Process]);
        assert_eq!(plan.cpu_source, Some(CpuSource::ProcStat));
        assert_eq!(plan.subjects[0].cgroups.members(), Some(Path::new("/c/web")));
        assert_eq!(plan.subjects[1].cgroups.members(), Some(Path::new("/u/app")));
    }

    #[test]
    fn a_table_is_sampled_once_and_after_those_that_it_asks() {
        let plan = read(
            r#"{"interval_ns": 50000000, "tables": ["domain", "tcp", "disk", "listen", "tcp"]}"#,
        );
        let tables = [TableName::Disk, TableName::Listen, TableName::Tcp, TableName::Domain];
        assert_eq!(plan.unwrap().tables, tables);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_sentence_that_names_it() {
        for (text, named) in [
            (r#"{"interval_ns": 1}"#, "interval_ns is 1"),
            (r#"{"interval_ns": 50000000, "duration_ns": 0}"#, "duration_ns is 0"),
            (r#"{"interval_ns": 50000000, "thread_interval_ns": 5}"#, "thread_interval_ns is 5"),
            (
                r#"{"interval_ns": 50000000, "database_interval_ns": 5}"#,
                "database_interval_ns is 5",
            ),
            (r#"{"interval_ns": 50000000, "tables": ["cpuu"]}"#, "unknown variant `cpuu`"),
            (r#"{"interval_ns": 50000000, "intervall": 1}"#, "unknown field `intervall`"),
            (r#"{"interval_ns": 50000000, "events": ["clocks"]}"#, "unknown event `clocks`"),
            (r#"{}"#, "missing field `interval_ns`"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(named), "{said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn a_missing_plan_is_named() {
        let said = Plan::read(Path::new("/nowhere/plan.json")).unwrap_err().to_string();
        assert!(said.contains("/nowhere/plan.json"), "{said}");
    }
}
