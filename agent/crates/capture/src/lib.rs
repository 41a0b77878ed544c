//! Bytes with timestamps, from a live interface or a capture file, through the dissector into
//! tables.

mod fanout;
mod file;
mod live;
mod memory;
mod messages;
mod part;
mod pcap;
mod plan;
mod recording;
mod ring;
mod rings;
mod salt;
mod side_by_side;
mod socket;
mod summary;
mod tables;

use anyhow::Result;
use plan::{FilePlan, LivePlan};
use std::path::Path;

/// Captures live until a signal comes or the plan's time is over. Tables go to `out`:
/// `raw_visits.arrows`, `capture.events.arrows` and, if asked for, `messages.jsonl`.
pub fn run_live(plan: &Path, out: &Path) -> Result<()> {
    let plan: LivePlan = plan::read(plan)?;
    live::run(plan, out)
}

/// Reads a pcap or pcapng file. Tables go to `out` as with [`run_live`], but for
/// `dissect.events.arrows`.
pub fn run_file(plan: &Path, out: &Path) -> Result<()> {
    let plan: FilePlan = plan::read(plan)?;
    file::run(plan, out)
}
