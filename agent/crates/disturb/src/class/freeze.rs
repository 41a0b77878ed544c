//! Freeze: every process of the domain is stopped (SIGSTOP), as by a hypervisor that takes the
//! virtual machine's PUs away, and continued.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::{Planned, Target};
use crate::process::Process;
use crate::undo::Undo;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use tierlab_record::clock::realtime_ns;

/// It has no keys of its own.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Freeze {}

/// A domain may fork between being listed and being stopped: it is listed again, this often.
const ROUNDS: usize = 10;

struct Frozen {
    target: Target,
    keeper: Keeper,
    stopped: Option<Held>,
    count: usize,
}

/// The processes are looked up at the start; now it only shows that there are some.
pub fn prepare(planned: &Planned, preparation: &Preparation) -> Result<Box<dyn Disturbance>> {
    planned.target.processes()?;
    Ok(Box::new(Frozen {
        target: planned.target.clone(),
        keeper: preparation.keeper.clone(),
        stopped: None,
        count: 0,
    }))
}

impl Disturbance for Frozen {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let own = std::process::id() as i32;
        let mut stopped = BTreeSet::new();
        let mut first_ns = None;
        for _ in 0..ROUNDS {
            let listed = self.target.processes()?;
            ensure!(!listed.contains(&own), "the agent itself runs in the domain");
            // One that has ended since needs not be stopped.
            let found: BTreeSet<Process> =
                listed.into_iter().filter_map(|pid| Process::find(pid).ok()).collect();
            let new: Vec<Process> = found.difference(&stopped).copied().collect();
            if new.is_empty() {
                break;
            }
            stopped.extend(&new);
            // The new way back stands before the old one goes.
            let all = Undo::Continue(stopped.iter().copied().collect());
            let older = self.stopped.replace(self.keeper.hold(all)?);
            older.map(Held::forget).transpose()?;
            first_ns.get_or_insert_with(realtime_ns);
            for process in &new {
                let sent = process.signal(libc::SIGSTOP);
                sent.with_context(|| format!("cannot stop process {}", process.pid))?;
            }
        }
        self.count = stopped.len();
        Ok(first_ns.unwrap_or_else(realtime_ns))
    }

    fn end(&mut self) -> Result<End> {
        self.stopped.take().map(Held::release).transpose()?;
        Ok(End::now(json!({ "processes": self.count })))
    }
}
