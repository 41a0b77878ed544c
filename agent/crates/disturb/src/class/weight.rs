//! Weight: the domain weighs next to nothing while another group, of the usual weight, wants the
//! same PUs. Alone on its PUs a domain of any weight has them all.

use crate::beside::beside;
use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::neighbour::{Busy, Orders, Pattern, Work};
use crate::plan::{Planned, Target};
use crate::undo::Undo;
use crate::worker::{Employed, Worker};
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use tierlab_record::Stop;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// What the domain weighs meanwhile, where 1024 is the usual.
    #[serde(default = "sixteen")]
    weight: u64,
    /// Busy threads of the other group, bound to the subject's PUs in turn.
    #[serde(default = "four")]
    threads: usize,
}

fn sixteen() -> u64 {
    16
}
fn four() -> usize {
    4
}

/// The other group is as any other.
const USUAL: u64 = 1;

struct Light {
    // Before the group that it weighs against.
    lowered: Option<Held>,
    rival: Employed,
    file: PathBuf,
    low: String,
    before: String,
    keeper: Keeper,
}

impl Weight {
    /// Starts what the domain will have to share with.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.threads > 0 && self.weight > 0, "`threads` and `weight` are 1 or more");
        let (file, low) = weight_file(&planned.target, self.weight)?;
        let before = fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?
            .trim()
            .to_owned();
        let (cgroups, groups) = beside(planned, preparation, USUAL)?;
        let pus = planned.target.pus.clone().unwrap_or_default();
        let work = Work::Busy(Busy { threads: self.threads, pus, pattern: Pattern::Steady });
        let worker = Worker::prepare(&Orders { cgroups, nice: 0, work })?;
        let rival = Employed::new(worker, groups);
        let keeper = preparation.keeper.clone();
        Ok(Box::new(Light { lowered: None, rival, file, low, before, keeper }))
    }
}

/// The file that has the weight, and how this one is written there.
fn weight_file(target: &Target, weight: u64) -> Result<(PathBuf, String)> {
    match (&target.cgroups.cpu, &target.cgroups.unified) {
        (Some(folder), _) => Ok((folder.join("cpu.shares"), weight.max(2).to_string())),
        (None, Some(folder)) => {
            Ok((folder.join("cpu.weight"), (weight * 100 / 1024).max(1).to_string()))
        }
        (None, None) => bail!("it needs the domain's `cpu` control group"),
    }
}

impl Disturbance for Light {
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        let way_back = Undo::Write(self.file.clone(), self.before.clone());
        self.lowered = Some(self.keeper.hold(way_back)?);
        let start_ns = realtime_ns();
        fs::write(&self.file, &self.low)
            .with_context(|| format!("{}: '{}' is refused", self.file.display(), self.low))?;
        // Its answer is awaited at the end: it has to get a PU first.
        self.rival.set_off(until_ns)?;
        Ok(start_ns)
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        self.rival.keep_up(until_ns, stop)
    }

    fn end(&mut self) -> Result<End> {
        self.lowered.take().map(Held::release).transpose()?;
        self.rival.end()
    }
}
