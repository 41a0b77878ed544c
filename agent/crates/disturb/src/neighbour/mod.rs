//! A process that lives in a server's domain, like another job in the same virtual machine, and
//! works there when it is told. It is the agent's own program under a name that tells nothing.

mod busy;
mod pages;
mod storm;
mod taker;

pub use busy::{Busy, Pattern};
pub use storm::Storm;
pub use taker::Taker;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ffi::CStr;
use std::io::{BufRead, ErrorKind, Write};
use std::path::PathBuf;
use std::time::Duration;
use tierlab_record::clock::realtime_ns;

/// The agent's hidden verb that becomes a neighbour.
pub const VERB: &str = "neighbour";
/// Its name in process lists.
pub const NAME: &str = "neighbour";
const COMM: &CStr = c"neighbour";
/// Between two looks for memory.
const NAP: Duration = Duration::from_millis(1);

/// What the agent tells a neighbour first, as one line of JSON.
#[derive(Debug, Deserialize, Serialize)]
pub struct Orders {
    /// Folders of the control groups to join.
    pub cgroups: Vec<PathBuf>,
    /// Nice value.
    pub nice: i32,
    /// What to do when the word comes.
    pub work: Work,
}

/// What a neighbour does.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Keeps PUs busy.
    Busy(Busy),
    /// Writes to a disk.
    Storm(Storm),
    /// Takes memory.
    Take(Taker),
}

/// What a neighbour answers, as one line of JSON: when it is ready, when it begins, at the end.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Report {
    /// When (CLOCK_REALTIME).
    pub at_ns: i64,
    /// At the end: what it has done, by its own names.
    #[serde(default)]
    pub effect: Map<String, Value>,
    /// Why it cannot.
    #[serde(default)]
    pub error: Option<String>,
}

/// Something that is prepared and does its work until a time.
pub trait Job {
    /// Works until `until_ns` (CLOCK_REALTIME); tells `began` since when it really works.
    fn work(&mut self, until_ns: i64, began: &mut dyn FnMut(i64)) -> Result<Worked>;
}

/// What a job has done.
pub struct Worked {
    /// Since when it works no more (CLOCK_REALTIME).
    pub ended_ns: i64,
    /// By the job's own names.
    pub effect: Map<String, Value>,
}

/// A neighbour's life: orders, preparation, one word, work, and nothing left.
pub fn live(mut orders: impl BufRead, mut reports: impl Write) -> Result<()> {
    let Err(error) = serve(&mut orders, &mut reports) else { return Ok(()) };
    let error = Some(format!("{error:#}"));
    report(&mut reports, Report { error, ..Report::default() })
}

fn serve(orders: &mut impl BufRead, reports: &mut impl Write) -> Result<()> {
    let mut line = String::new();
    orders.read_line(&mut line)?;
    let mut job = settle(&serde_json::from_str(&line)?)?;
    report(reports, Report { at_ns: realtime_ns(), ..Report::default() })?;
    line.clear();
    if orders.read_line(&mut line)? == 0 {
        return Ok(());
    }
    let until_ns = line.trim().parse().context("the word is a time in nanoseconds")?;
    let mut said = Ok(());
    let worked = job.work(until_ns, &mut |at_ns| {
        said = report(reports, Report { at_ns, ..Report::default() });
    })?;
    said?;
    report(reports, Report { at_ns: worked.ended_ns, effect: worked.effect, error: None })
}

fn report(reports: &mut impl Write, report: Report) -> Result<()> {
    let line = serde_json::to_string(&report)? + "\n";
    // A pipe's pages count as the domain's memory: where it has none left, they are waited for.
    while let Err(error) = reports.write_all(line.as_bytes()) {
        if error.kind() != ErrorKind::OutOfMemory {
            return Err(error.into());
        }
        std::thread::sleep(NAP);
    }
    Ok(reports.flush()?)
}

/// Takes its place in the domain, with everything that the work needs.
fn settle(orders: &Orders) -> Result<Box<dyn Job>> {
    // SAFETY: the name is a constant; the others take numbers. A parent that has died before this
    // leaves a closed pipe, on which the neighbour ends.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_NAME, COMM.as_ptr());
        libc::setpriority(libc::PRIO_PROCESS, 0, orders.nice);
    }
    // Should the domain run out of memory, the server must not be chosen.
    std::fs::write("/proc/self/oom_score_adj", "1000").context("cannot offer itself")?;
    for group in &orders.cgroups {
        std::fs::write(group.join("cgroup.procs"), "0")
            .with_context(|| format!("cannot join the control group {}", group.display()))?;
    }
    match &orders.work {
        Work::Busy(busy) => Ok(Box::new(busy.prepare())),
        Work::Storm(storm) => Ok(Box::new(storm.prepare()?)),
        Work::Take(taker) => Ok(Box::new(taker.prepare()?)),
    }
}
