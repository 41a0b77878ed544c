//! CPU: a neighbour with busy threads on the server's PUs.

use crate::class::Preparation;
use crate::disturbance::Disturbance;
use crate::keeper::Held;
use crate::neighbour::{Busy, Orders, Pattern, Work};
use crate::plan::{Cgroups, Planned};
use crate::undo::Undo;
use crate::worker::{Employed, Worker};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cpu {
    /// Busy threads, bound to the subject's PUs in turn.
    #[serde(default = "two")]
    threads: usize,
    #[serde(default = "steady")]
    pattern: PatternName,
    /// Of the alternating pattern.
    #[serde(default = "period_100_ms")]
    period_ns: i64,
    #[serde(default = "in_the_domain", rename = "where")]
    place: Place,
}

/// Which of the threads run when.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum PatternName {
    Steady,
    Alternating,
}

/// Where the neighbour lives.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// In the server's own groups, like a job in the same virtual machine.
    Domain,
    /// In a group of its own on the same PUs, like another virtual machine.
    Cores,
}

fn two() -> usize {
    2
}
fn steady() -> PatternName {
    PatternName::Steady
}
fn period_100_ms() -> i64 {
    100_000_000
}
fn in_the_domain() -> Place {
    Place::Domain
}

/// Within a group the nice value counts: a job in the same machine takes nearly all there is.
const NICE: i32 = -20;
/// The weight of a group of its own, beside the usual 1024 (version 1) or 100 (version 2).
const SHARES: &str = "16384";
const WEIGHT: &str = "1600";

impl Cpu {
    /// Starts the neighbour, in the domain or in a group made for it.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.threads > 0 && self.period_ns > 0, "`threads` and `period_ns` are 1 or more");
        let target = &planned.target;
        let (cgroups, groups) = match self.place {
            Place::Domain => (target.cgroups.folders(), Vec::new()),
            Place::Cores => beside(planned, preparation)?,
        };
        let pattern = match self.pattern {
            PatternName::Steady => Pattern::Steady,
            PatternName::Alternating => Pattern::Alternating { period_ns: self.period_ns },
        };
        let pus = target.pus.clone().unwrap_or_default();
        let busy = Busy { threads: self.threads, pus, pattern };
        let worker = Worker::prepare(&Orders { cgroups, nice: NICE, work: Work::Busy(busy) })?;
        Ok(Box::new(Employed::new(worker, groups)))
    }
}

/// Makes the neighbour's own groups beside the domain's, for CPU time and PUs only.
fn beside(planned: &Planned, preparation: &Preparation) -> Result<(Vec<PathBuf>, Vec<Held>)> {
    let Cgroups { cpu, cpuset, unified, .. } = &planned.target.cgroups;
    let pus = planned.target.pus.as_deref().unwrap_or_default();
    let (mut folders, mut held) = (Vec::new(), Vec::new());
    let trees = [cpu, cpuset, unified].into_iter().flatten();
    for domain in trees {
        let folder = domain.with_file_name(format!("neighbour-{}", planned.what.id));
        held.push(preparation.keeper.hold(Undo::RemoveGroup(folder.clone()))?);
        fs::create_dir(&folder)
            .with_context(|| format!("cannot make the control group {}", folder.display()))?;
        fit_out(&folder, domain, pus)?;
        folders.push(folder);
    }
    ensure!(!folders.is_empty(), "`where` \"cores\" needs the domain's control groups");
    Ok((folders, held))
}

/// Sets what the folder's version and controller have: weight, PUs, memory nodes.
fn fit_out(folder: &Path, domain: &Path, pus: &[usize]) -> Result<()> {
    let set = |name: &str, value: &str| {
        let file = folder.join(name);
        if !file.exists() {
            return Ok(());
        }
        fs::write(&file, value)
            .with_context(|| format!("{}: the kernel refuses '{value}'", file.display()))
    };
    set("cpu.shares", SHARES)?;
    set("cpu.weight", WEIGHT)?;
    for name in ["cpuset.mems", "cpuset.cpus"] {
        let domains = fs::read_to_string(domain.join(name)).unwrap_or_default();
        set(name, domains.trim())?;
    }
    if !pus.is_empty() {
        let list: Vec<String> = pus.iter().map(ToString::to_string).collect();
        set("cpuset.cpus", &list.join(","))?;
    }
    Ok(())
}
