//! Disturbs servers under test in stated ways at stated times, and writes down what it did: the
//! ground truth against which diagnosis is measured.
//!
//! - `plan`: what to do; `class`: one file a class of disturbance; `disturbance`: what they share;
//! - `schedule`: the right moment, a thread for each disturbance under way; `truth`: what happened;
//! - `neighbour`, `worker`: a process inside a server's domain, and the agent's hold on it;
//! - `shaper`: what stands in the way of packets;
//! - `database`, `sql_client`, `sql_dialect`: a session with a database, and a table of our own in it;
//! - `process`: a process that gets a signal only while it is the one that was found;
//! - `undo`, `keeper`: every change is taken back, also when the agent is killed.
//!
//! Everything that takes time (allocating, connecting, opening) happens before the agent says that
//! it is ready, so that at its time a disturbance is nothing but itself.

mod ajp;
mod attach;
mod beside;
mod class;
mod crowd;
mod database;
mod disturbance;
mod domain;
mod fastcgi;
pub mod keeper;
mod memory_group;
mod moment;
pub mod neighbour;
mod page_cache;
pub mod plan;
mod postgresql;
mod process;
mod schedule;
mod shaper;
mod sql_client;
mod sql_dialect;
mod truth;
mod undo;
mod worker;

use anyhow::Result;
use std::path::Path;
use tierlab_record::Stop;

/// Runs the verb from the plan file; `truth.jsonl` goes to `out`.
///
/// Standard output has `{"ready":true}` once everything is prepared, then `{"summary":{...}}`.
pub fn run(plan: &Path, out: &Path) -> Result<()> {
    let keeper = keeper::Keeper::start()?;
    let stop = Stop::on_signals();
    schedule::run(plan::Plan::read(plan)?, keeper, out, stop)
}
