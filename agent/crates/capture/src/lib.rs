//! Bytes with timestamps, from a live interface or a capture file, through the dissector into
//! tables; and who opens connections to whom.

mod calls;
mod chunk;
mod fanout;
mod file;
mod live;
mod memory;
mod messages;
mod outage;
mod pcap;
mod plan;
mod recording;
mod ring;
mod rings;
mod salt;
mod shard;
mod side_by_side;
mod socket;
mod summary;
mod tables;
mod teller;

pub use salt::draw as draw_salt;
pub use tables::Tables;

use anyhow::Result;
use plan::{CallsPlan, FilePlan, LivePlan};
use std::path::Path;

/// Captures live until a signal comes or the plan's time is over. Tables go to `out`:
/// `raw_visits.arrows`, `capture.events.arrows` and, if asked for, `messages.jsonl`.
pub fn run_live(plan: &Path, out: &Path) -> Result<()> {
    let plan: LivePlan = plan::read_checked(plan)?;
    live::run(plan, out)
}

/// Reads a pcap or pcapng file. Tables go to `out` as with [`run_live`], but for
/// `dissect.events.arrows`.
pub fn run_file(plan: &Path, out: &Path) -> Result<()> {
    let plan: FilePlan = plan::read_checked(plan)?;
    file::run(plan, out)
}

/// Sees which programs of this network namespace open connections to which, and what is spoken on
/// them, until a signal comes or the plan's time is over. What it found is in its last line.
pub fn run_calls(plan: &Path) -> Result<()> {
    let plan: CallsPlan = plan::read(plan)?;
    calls::run(&plan)
}
