//! CPU: a neighbour with busy threads on the server's PUs.

use crate::beside::beside;
use crate::class::Preparation;
use crate::disturbance::Disturbance;
use crate::neighbour::{Busy, Orders, Pattern, Work};
use crate::plan::Planned;
use crate::worker::{Employed, Worker};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

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
/// How many times the usual a group of its own weighs.
const TIMES: u64 = 16;

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
            Place::Cores => beside(planned, preparation, TIMES)?,
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
