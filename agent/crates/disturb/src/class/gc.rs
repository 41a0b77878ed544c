//! GC: full collections in the server's JVM, back to back.

use crate::attach::{Jvm, is_jvm};
use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::plan::Planned;
use crate::process::Process;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// It has no keys of its own.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gc {}

struct Collections {
    jvm: Jvm,
    count: u64,
}

/// Attaches to the JVM in the domain.
pub fn prepare(planned: &Planned, preparation: &mut Preparation) -> Result<Box<dyn Disturbance>> {
    let pids = planned.target.processes()?.into_iter();
    let mut processes = pids.filter_map(|pid| Process::find(pid).ok());
    let jvm = processes.find(|each| is_jvm(each.pid)).context("no JVM runs in the domain")?;
    let jvm = Jvm::attach(jvm, &preparation.keeper, &mut preparation.doors)?;
    Ok(Box::new(Collections { jvm, count: 0 }))
}

impl Disturbance for Collections {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        Ok(realtime_ns())
    }

    /// A collection cannot be broken off: the last one is the one that ends nearest to the end.
    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        let mut longest_ns = 0;
        let mut now = steady_ns();
        while self.count == 0 || (now + longest_ns / 2 < until_ns && !stop.asked()) {
            self.jvm.command("GC.run")?;
            self.count += 1;
            let after = steady_ns();
            longest_ns = longest_ns.max(after - now);
            now = after;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<End> {
        Ok(End::now(json!({ "collections": self.count })))
    }
}
