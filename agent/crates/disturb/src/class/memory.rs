//! Memory: a neighbour takes memory inside the server's memory domain until it thrashes.
//!
//! Without swap only file pages can be taken from a server: its program, its libraries, its data.
//! The domain gets a limit just above what the server needs, and the neighbour takes what is above
//! and more: whatever the server touches has to be read from the disk again, over and over.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::memory_group::MemoryGroup;
use crate::neighbour::{Orders, Taker, Work};
use crate::plan::Planned;
use crate::undo::Undo;
use crate::worker::{Employed, Worker};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use tierlab_record::Stop;
use tierlab_record::clock::realtime_ns;

/// Its keys. Sizes in bytes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// At most so much at a time.
    #[serde(default = "two_hundred_mib")]
    take: u64,
    /// One request.
    #[serde(default = "one_mib")]
    request: usize,
    /// What is left of the file pages that the others have mapped: with none at all nobody gets on
    /// any more, and the kernel begins to kill.
    #[serde(default = "two_mib")]
    leave: u64,
}

fn two_hundred_mib() -> u64 {
    200 << 20
}
fn one_mib() -> usize {
    1 << 20
}
fn two_mib() -> u64 {
    2 << 20
}

/// What the domain has above what the server needs, as long as the disturbance lasts.
const HEADROOM_BYTES: u64 = 4 << 20;
/// The server must not win the race for the pages by the PUs.
const NICE: i32 = -20;

impl Memory {
    /// Puts a neighbour into the domain.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.request > 0, "`request` is 0; give the size of a request");
        let target = &planned.target;
        let path = target.cgroups.memory.as_deref().or(target.cgroups.unified.as_deref());
        let path = path.context("it needs the domain's `memory` control group")?;
        let group = MemoryGroup::open(path)?;
        group.needed_bytes()?;
        let work = Work::Take(Taker {
            group: path.to_owned(),
            take_bytes: self.take,
            request_bytes: self.request,
            left_bytes: self.leave,
        });
        let worker =
            Worker::prepare(&Orders { cgroups: target.cgroups.folders(), nice: NICE, work })?;
        let taker = Employed::new(worker, Vec::new());
        let keeper = preparation.keeper.clone();
        let before = group.limit_bytes()?;
        Ok(Box::new(Squeeze { taker, group, keeper, before, limit: None, patience: None }))
    }
}

struct Squeeze {
    taker: Employed,
    group: MemoryGroup,
    keeper: Keeper,
    /// The limit before any of this trial's squeezes: one may end just after another's start.
    before: Option<u64>,
    limit: Option<Held>,
    patience: Option<Held>,
}

impl Disturbance for Squeeze {
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        let limit = self.group.needed_bytes()? + HEADROOM_BYTES;
        let limit = self.before.map_or(limit, |before| before.min(limit));
        self.patience = be_patient(&self.group, &self.keeper)?;
        self.limit = Some(put(&self.group, limit, self.before, &self.keeper)?);
        // Its answer is awaited once there is memory again: it may have none for it.
        self.taker.set_off(until_ns)?;
        Ok(start_ns)
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        self.taker.keep_up(until_ns, stop)
    }

    fn end(&mut self) -> Result<End> {
        self.limit.take().map(Held::release).transpose()?;
        self.patience.take().map(Held::release).transpose()?;
        let over = self.taker.end();
        // Killed at it for want of memory it has done what it was to do: the limit squeezed on.
        if over.is_err() && self.taker.was_killed_at_work() {
            return Ok(End::now(json!({ "killed": true })));
        }
        over
    }
}

/// Has whoever finds no memory wait for some: a server that grows meanwhile must not be killed.
fn be_patient(group: &MemoryGroup, keeper: &Keeper) -> Result<Option<Held>> {
    let Some(file) = &group.patience_file else { return Ok(None) };
    let held = keeper.hold(Undo::Write(file.clone(), "0".to_owned()))?;
    fs::write(file, "1").with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Some(held))
}

/// Sets the group's limit, to be what it was before at the end.
fn put(group: &MemoryGroup, limit: u64, before: Option<u64>, keeper: &Keeper) -> Result<Held> {
    let file = &group.limit_file;
    let held = keeper.hold(Undo::Write(file.clone(), group.word(before)))?;
    fs::write(file, group.word(Some(limit))).with_context(|| {
        format!("{}: {limit} is refused, probably less than the server holds", file.display())
    })?;
    Ok(held)
}
