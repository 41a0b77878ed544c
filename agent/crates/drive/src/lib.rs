//! Drives users against a system: closed loop (users who think between interactions) and open loop
//! (interactions that start at their own times), on as many threads as the load can keep busy, for
//! very many users.
//!
//! - `workload`, `state`, `operation`, `source`, `upload`, `delay` and `rules` are what users do, as
//!   data; `check` whether it makes sense; `script` the same, ready to be played;
//! - `session`, `request`, `render`, `value`, `encode`, `page`, `embedded`, `onward`, `links`, `extract`,
//!   `cookies`, `browser`, `random`: one user, without sockets and clocks;
//! - `destination`: which server is asked, and in which protocol; `wire`, `reply`, `reply_head`: HTTP as
//!   bytes; `sql`: statements and a database's answers; `answer`: either of them;
//! - `socket`, `poll`, `sources`, `scheduling`: the system's calls;
//! - `share`, `arrivals`, `curve`: what each thread has of the users, and of the open loop's arrivals,
//!   and how many there are to be when;
//! - `shard`, `starts`, `replay`, `presence`, `flight`, `interaction`, `exchange`, `sending`, `overdue`,
//!   `cancels`, `deadlines`: one thread, and its interactions under way;
//! - `driver`, `threads`, `halt`: all threads, from the beginning of a run to its end;
//! - `failure`, `tally`, `judgement`, `course`, `journal`, `summary`: what is written down.
//!
//! A user who thinks holds no buffer and, unless connections are kept, no socket: only its random
//! stream, its history and the request that it will send. Threads share nothing that changes: what a
//! user asks for depends on the seed, its number and the pages, and not on who drives it.
//!
//! What reads bytes of the system under test is public for fuzzing's sake.

pub mod answer;
mod arrivals;
mod browser;
mod cancels;
mod check;
pub mod cookies;
mod course;
mod curve;
mod deadlines;
mod delay;
mod destination;
mod driver;
mod embedded;
mod encode;
mod exchange;
pub mod extract;
pub mod failure;
mod flight;
mod halt;
mod interaction;
mod journal;
mod judgement;
pub mod links;
mod onward;
mod operation;
mod overdue;
pub mod page;
pub mod plan;
mod poll;
mod presence;
pub mod random;
mod render;
mod replay;
pub mod reply;
#[cfg(test)]
mod reply_cases;
mod reply_head;
mod request;
mod rules;
mod scheduling;
mod script;
mod sending;
mod session;
mod shard;
mod share;
mod socket;
mod source;
mod sources;
pub mod sql;
mod starts;
pub mod state;
mod summary;
mod tally;
mod threads;
mod upload;
mod value;
mod wire;
pub mod workload;

use anyhow::{Context, Result, anyhow, ensure};
use plan::{Connection, Pace, Plan, Target};
use script::Script;
use std::path::Path;
use tierlab_record::{Stop, open_files};
use workload::Workload;

/// Descriptors that the driver needs beside its connections.
const OTHER_FILES: u64 = 32;

/// Runs the verb from the plan file; `requests.arrows` and `drive.events.arrows` go to `out`.
///
/// Standard output has `{"ready":true,"start_ns":...}` (when the phases began, UTC), then a line a
/// second, then `{"summary":{...}}`.
pub fn run(plan: &Path, out: &Path) -> Result<()> {
    let stop = Stop::on_signals();
    let plan_file = plan;
    let plan = Plan::read(plan_file)?;
    let hosts = |targets: &Vec<Target>| targets.iter().map(Target::host).collect();
    let servers = plan.servers.iter().map(|(name, targets)| (name.clone(), hosts(targets)));
    let script = Script::new(Workload::read(&plan.workload)?, hosts(&plan.targets))
        .with_servers(&servers.collect())
        .map_err(|what| anyhow!("{}: {what}", plan.workload.display()))?;
    if let Pace::Recorded { .. } = plan.pace {
        ensure!(
            plan.users as usize == script.visits.len(),
            "{}: `users` must be as many as {} has `visits`, {}",
            plan_file.display(),
            plan.workload.display(),
            script.visits.len()
        );
    }
    let files = open_files::raise_limit();
    if plan.connection == Connection::KeepAlive {
        let connections = 1 + plan.servers.len() as u64;
        ensure!(
            u64::from(plan.users) * connections + OTHER_FILES <= files,
            "{}: `connection` keep_alive needs {connections} file descriptors for each of {} users, \
             and the limit is {files}; raise it (ulimit -n) or use per_request",
            plan_file.display(),
            plan.users
        );
    }
    driver::run(plan, script, out, stop).with_context(|| plan_file.display().to_string())
}
