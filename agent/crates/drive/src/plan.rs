//! What to drive, at whom and for how long: the plan file of `tierlab-agent drive`.

use crate::sql::Login;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// The plan file. Times are nanoseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Where requests go: the k-th user's all to the k-th of these, round.
    pub targets: Vec<Target>,
    /// Further servers by name, for requests whose state names one: again the k-th user's all to the
    /// k-th of them, round.
    #[serde(default)]
    pub servers: BTreeMap<String, Vec<Target>>,
    /// The workload file, relative to the plan's folder unless absolute; see
    /// [`crate::workload::Workload`].
    pub workload: PathBuf,
    /// Users (closed loop), or sessions kept at least (open loop).
    pub users: u32,
    /// The first one's number, so that no two systems of a trial have users alike.
    #[serde(default)]
    pub first_user: u32,
    /// Which of several systems they are users of: in the tables' rows and in their files' names.
    pub system: Option<String>,
    /// Same seed and same pages, same sessions.
    pub seed: u64,
    /// What makes requests start.
    #[serde(rename = "loop")]
    pub pace: Pace,
    /// How much of the users, or of the rate, there is when; always all where there is no point.
    #[serde(default)]
    pub shape: Vec<Point>,
    /// One after the other. Staggered users start over the first.
    pub phases: Vec<Phase>,
    /// What a connection serves.
    #[serde(default)]
    pub connection: Connection,
    /// When to give up.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Ranges of source addresses, as `127.128.0.0/12`; user k uses the k-th address, round. Empty:
    /// the system chooses. One address has about 28,000 ports, each busy for a minute after use.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Fetch each page's images after it.
    #[serde(default = "yes")]
    pub images: bool,
    /// Send an `X-Request-Id` header of 16 hex digits, one per HTTP request.
    #[serde(default = "yes")]
    pub request_ids: bool,
    /// Send a `traceparent` header (W3C Trace Context) besides, whose trace is the request's id with
    /// zeros before it: for applications that hand that on.
    #[serde(default)]
    pub traces: bool,
    /// How soon the driver gets its turn on a busy machine.
    #[serde(default)]
    pub priority: Priority,
    /// Threads that drive, each with its part of the users; when null as many as the load can keep
    /// busy, at most one for each core that the driver may use. Requests do not depend on it.
    pub threads: Option<u32>,
    /// How long requests in flight may go on after the last phase.
    #[serde(default = "one_second")]
    pub grace_ns: i64,
}

/// A server that users call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The IP address.
    pub address: IpAddr,
    /// The TCP port.
    pub port: u16,
    /// The `Host` header; address and port when null.
    pub host: Option<String>,
    /// As whom users send it statements, where it is a PostgreSQL; when null they speak HTTP to it.
    pub login: Option<Login>,
}

/// What makes requests start.
#[derive(Debug, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pace {
    /// Each user thinks after each interaction.
    Closed {
        /// The mean of the exponential think time.
        think_ns: i64,
        /// Its cap; ten times the mean when null (TPC-W clause 5.3.2.1).
        think_cap_ns: Option<i64>,
    },
    /// Interactions start at their own times, whether or not earlier ones have ended: the next
    /// request of the session that has been idle longest, or of a new session when none is.
    Open {
        /// Interactions per second.
        rate_per_s: f64,
        /// How they are spaced.
        arrivals: Arrivals,
    },
    /// Interactions start when the workload's `visits` say, of which there are as many as users.
    Recorded {
        /// How many times as fast as it was.
        speed: f64,
    },
}

/// How open-loop interactions are spaced.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Independently: exponential gaps.
    Poisson,
    /// Evenly.
    Constant,
}

/// A point of the load's curve. Two at the same time are a jump.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Since the start of the run.
    pub at_ns: i64,
    /// From 0 to 1: of the users, or of the rate.
    pub level: f64,
}

/// A part of the trial.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name, as in `ramp_up`.
    pub name: String,
    /// Its length.
    pub duration_ns: i64,
}

/// What a connection serves.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// One HTTP request.
    #[default]
    PerRequest,
    /// A whole session, one request after the other.
    KeepAlive,
}

/// How soon the driver gets its turn on a busy machine.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before all ordinary threads, where that is allowed; the summary's `scheduling` tells.
    #[default]
    Realtime,
    /// As any other thread.
    Normal,
}

/// When to give up; null is never.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeouts {
    /// From the start of the connection until it stands.
    pub connect_ns: Option<i64>,
    /// From the start of a page or an image until its end.
    pub request_ns: Option<i64>,
}

/// Further servers at most.
const MOST_SERVERS: usize = 64;

/// More threads than that are a slip of the pen.
const MOST_THREADS: u32 = 1024;

/// A user's number is an `i32` in the table.
const MOST_USERS: u32 = 1_000_000_000;

/// The longest time in a plan or a workload, ten years: sums of a few with a clock's time stay far
/// from the limit of an `i64`, which is 292 years.
pub(crate) const LONGEST_TIME_NS: i64 = 10 * 365 * 86_400 * 1_000_000_000;

fn yes() -> bool {
    true
}

fn one_second() -> i64 {
    1_000_000_000
}

impl Plan {
    /// Reads and checks a plan file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path)
            .with_context(|| format!("cannot read the plan {}", path.display()))?;
        let mut plan: Self = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a drive plan", path.display()))?;
        plan.check().with_context(|| path.display().to_string())?;
        if let Some(folder) = path.parent() {
            plan.workload = folder.join(&plan.workload);
        }
        Ok(plan)
    }

    fn check(&self) -> Result<()> {
        self.check_times()?;
        ensure!(
            self.first_user <= MOST_USERS && self.users <= MOST_USERS,
            "`first_user` and `users` must each be at most {MOST_USERS}"
        );
        ensure!(!self.targets.is_empty(), "`targets` must list at least one");
        let family = self.targets[0].address.is_ipv4();
        ensure!(
            self.targets.iter().all(|target| target.address.is_ipv4() == family),
            "`targets` must all have addresses of one family"
        );
        self.check_servers(family)?;
        self.check_shape()?;
        ensure!(
            self.targets.iter().flat_map(|it| &it.login).all(|login| login.is_clean()),
            "`targets[].login` must have no zero byte"
        );
        ensure!(!self.phases.is_empty(), "`phases` must list at least one phase");
        for phase in &self.phases {
            ensure!(
                phase.duration_ns >= 0,
                "the phase {:?} has a negative `duration_ns`",
                phase.name
            );
        }
        match self.pace {
            Pace::Closed { think_ns, think_cap_ns } => {
                ensure!(self.users > 0, "`users` must be at least 1");
                ensure!(think_ns >= 0, "`loop.think_ns` must not be negative");
                ensure!(
                    think_cap_ns >= Some(0) || think_cap_ns.is_none(),
                    "`loop.think_cap_ns` must not be negative"
                );
            }
            Pace::Open { rate_per_s, .. } => ensure!(
                rate_per_s > 0.0 && rate_per_s < 1e7,
                "`loop.rate_per_s` must be above 0 and below 10 million"
            ),
            Pace::Recorded { speed } => {
                ensure!(speed > 0.0 && speed < 1e6, "`loop.speed` must be 0 to a million, not 0");
            }
        }
        ensure!(
            self.threads.is_none_or(|threads| (1..=MOST_THREADS).contains(&threads)),
            "`threads` must be at least 1 and at most {MOST_THREADS}"
        );
        ensure!(self.grace_ns >= 0, "`grace_ns` must not be negative");
        let timeouts = [self.timeouts.connect_ns, self.timeouts.request_ns];
        ensure!(
            timeouts.into_iter().flatten().all(|it| it > 0),
            "`timeouts` must be above 0, or null for none"
        );
        Ok(())
    }

    fn check_servers(&self, family: bool) -> Result<()> {
        ensure!(
            self.servers.len() <= MOST_SERVERS,
            "`servers` must list at most {MOST_SERVERS} servers"
        );
        for (name, targets) in &self.servers {
            ensure!(!targets.is_empty(), "`servers.{name}` must list at least one");
            ensure!(
                targets.iter().all(|target| target.address.is_ipv4() == family),
                "`servers.{name}` must have addresses of the family that `targets` have"
            );
            ensure!(
                targets.iter().all(|target| target.login.is_none()),
                "`servers.{name}` must have no `login`: users speak HTTP to it"
            );
        }
        Ok(())
    }

    fn check_shape(&self) -> Result<()> {
        let points = &self.shape;
        ensure!(
            points.iter().all(|point| (0.0..=1.0).contains(&point.level)),
            "each `level` of `shape` must be 0 to 1"
        );
        ensure!(
            points.is_empty() || points.iter().any(|point| point.level > 0.0),
            "a `level` of `shape` must be above 0"
        );
        ensure!(
            points.iter().all(|point| (0..=LONGEST_TIME_NS).contains(&point.at_ns))
                && points.is_sorted_by_key(|point| point.at_ns),
            "each `at_ns` of `shape` must be 0 to ten years and not before the one above it"
        );
        Ok(())
    }

    /// Keeps times from overflowing as they are added up.
    fn check_times(&self) -> Result<()> {
        let phases: i128 = self.phases.iter().map(|phase| i128::from(phase.duration_ns)).sum();
        let (think_ns, think_cap_ns) = match self.pace {
            Pace::Closed { think_ns, think_cap_ns } => (Some(think_ns), think_cap_ns),
            Pace::Open { .. } | Pace::Recorded { .. } => (None, None),
        };
        let times = [
            ("loop.think_ns", think_ns),
            ("loop.think_cap_ns", think_cap_ns),
            ("timeouts.connect_ns", self.timeouts.connect_ns),
            ("timeouts.request_ns", self.timeouts.request_ns),
            ("grace_ns", Some(self.grace_ns)),
        ];
        for (key, time) in times {
            ensure!(time <= Some(LONGEST_TIME_NS), "`{key}` must be at most ten years");
        }
        ensure!(
            phases <= i128::from(LONGEST_TIME_NS),
            "`phases` must be at most ten years long together"
        );
        Ok(())
    }
}

impl Plan {
    /// A name that no other system's driver has: `before` and `after` with the system's between.
    pub fn named(&self, before: &str, after: &str) -> String {
        [before, self.system.as_deref().unwrap_or(""), after]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(".")
    }
}

impl Target {
    /// Where to connect.
    pub fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// The value of the `Host` header.
    pub fn host(&self) -> String {
        self.host.clone().unwrap_or_else(|| self.socket().to_string())
    }
}
