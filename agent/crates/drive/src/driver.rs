//! A run: threads that drive, each its part of the users, from their beginning to their end.

use crate::curve::Curve;
use crate::halt::Halt;
use crate::journal::Journal;
use crate::plan::Plan;
use crate::scheduling;
use crate::script::Script;
use crate::shard::{self, Common, Shard};
use crate::share::Share;
use crate::threads;
use anyhow::{Context, Result, anyhow};
use serde_json::json;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use tierlab_record::clock::Moment;
use tierlab_record::priority::{Scheduling, leave_signals_to_others};
use tierlab_record::status::say;
use tierlab_record::{Stop, WhenFull, Writer};

/// Runs the plan; `out` receives the tables.
pub fn run(plan: Plan, script: Script, out: &Path, stop: Stop) -> Result<()> {
    // What cannot be told is taken to be one core.
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let threads = plan.threads.unwrap_or_else(|| threads::wanted(&plan, cores));
    // When much waits for the disk, the driver waits too, and its lag shows it.
    let writer = Writer::start(WhenFull::Wait, scheduling::role(plan.priority))?;
    let requests = writer.table_as(out, &plan.named("", "requests"))?;
    let events = writer.table_as(out, &plan.named("drive", "events"))?;
    let first_user = plan.first_user;
    let curve = Curve::new(&plan.shape);
    let halt = Halt::new(stop)?;
    let common = Arc::new(Common { plan, script, curve, halt, threads, cores });
    let mut shards: Vec<Shard> = Share::each(threads, first_user)
        .map(|share| Shard::new(Arc::clone(&common), share, requests.clone()))
        .collect::<Result<_>>()?;
    // This thread drives too; few users need no other.
    let mut here = shards.remove(0);
    let (settled, settling) = channel();
    let others: Vec<Other> = shards
        .into_iter()
        .map(|shard| Other::start(shard, settled.clone()))
        .collect::<Result<_>>()?;
    drop(settled);
    let mut scheduling = vec![here.settle()];
    for _ in &others {
        scheduling.push(settling.recv().map_err(|_| anyhow!(DIED))?);
    }
    let began = shard::now();
    let journal = Journal::new(writer, events, &common.plan, began, scheduling);
    let journal = Arc::new(Mutex::new(journal));
    // The phases count from here: whoever acts at a point of them needs to know it.
    say(&json!({ "ready": true, "start_ns": began.t_ns }));
    for other in &others {
        // Who is gone is met at the end.
        let _ = other.beginning.send((began, Arc::clone(&journal)));
    }
    let mut driven = drive(here, began, &journal, &common.halt);
    for other in others {
        driven = driven.and(other.thread.join().unwrap_or_else(|_| Err(anyhow!(DIED))));
    }
    let journal = Arc::into_inner(journal).and_then(|journal| journal.into_inner().ok());
    let finished = journal.context(DIED).and_then(Journal::finish);
    driven.and(finished)
}

const DIED: &str = "a thread of the driver's died";

/// A thread that drives beside the first.
struct Other {
    /// Where it learns when the run began. Without that it ends.
    beginning: Sender<(Moment, Arc<Mutex<Journal>>)>,
    thread: JoinHandle<Result<()>>,
}

impl Other {
    /// Starts it. It says how it is scheduled when its users are there.
    fn start(mut shard: Shard, settled: Sender<Scheduling>) -> Result<Self> {
        let (beginning, begun) = channel::<(Moment, Arc<Mutex<Journal>>)>();
        let common = Arc::clone(&shard.common);
        let run = move || {
            leave_signals_to_others();
            // Nobody waits for it when the driver has failed already.
            let _ = settled.send(shard.settle());
            drop(settled);
            let Ok((began, journal)) = begun.recv() else { return Ok(()) };
            drive(shard, began, &journal, &common.halt)
        };
        let thread = Builder::new().name("driver".into()).spawn(run);
        Ok(Self { beginning, thread: thread.context("cannot start a thread")? })
    }
}

/// Drives a part of the users. Where that fails, the others leave too.
fn drive(shard: Shard, began: Moment, journal: &Mutex<Journal>, halt: &Halt) -> Result<()> {
    let driven = shard.run(began, journal);
    if driven.is_err() {
        halt.call();
    }
    driven
}
