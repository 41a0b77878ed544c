//! Each disturbance at its moment, in a thread of its own, so that several may be under way.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::Keeper;
use crate::moment;
use crate::plan::{Plan, Planned};
use crate::truth::Truth;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tierlab_record::priority::{self, Role};
use tierlab_record::status::say;
use tierlab_record::{Stop, clock};

/// A disturbance's thread is there this long before its time.
const LEAD_NS: i64 = 50_000_000;

/// Ends that hang (a database that answers no more) are not waited for any longer once the agent is
/// to stop: with its last thread go its connections and children.
const LAST_WAIT: Duration = Duration::from_secs(3);

/// A disturbance and where it comes from.
struct Prepared {
    planned: Planned,
    disturbance: Box<dyn Disturbance>,
}

/// Prepares everything, says so, and does each thing at its time.
pub fn run(plan: Plan, keeper: Keeper, out: &Path, stop: Stop) -> Result<()> {
    let truth = std::sync::Arc::new(Truth::create(out)?);
    let mut waiting = prepare(plan, &keeper)?;
    waiting.sort_by_key(|prepared| std::cmp::Reverse(prepared.planned.what.start_ns));
    let count = waiting.len();
    // On a saturated machine an ordinary thread would come too late just when it matters.
    let scheduling = priority::take(Role::Driver);
    say(&json!({ "ready": true, "disturbances": count, "scheduling": scheduling }));
    let (mut threads, mut left_out) = (Vec::new(), 0);
    while let Some(next) = waiting.pop() {
        if moment::wait(next.planned.what.start_ns.saturating_sub(LEAD_NS), stop) {
            let truth = truth.clone();
            threads.push(thread::spawn(move || make(next, &truth, stop)));
        } else {
            left_out += usize::from(!never(&next.planned, &truth)?);
        }
    }
    let failed = left_out + join(threads, stop)?;
    say(&json!({ "summary": {
        "disturbances": count,
        "failed": failed,
        "cpu_ns": clock::process_cpu_ns(),
    }}));
    Ok(())
}

fn prepare(plan: Plan, keeper: &Keeper) -> Result<Vec<Prepared>> {
    let mut preparation = Preparation::new(keeper.clone());
    let mut prepared = Vec::new();
    for planned in plan.disturbances {
        let what = &planned.what;
        let disturbance = planned.class.prepare(&planned, &mut preparation).with_context(|| {
            let class = planned.class.words().0;
            format!("disturbance {} ({class} on {}) cannot be made", what.id, what.subject)
        })?;
        prepared.push(Prepared { planned, disturbance });
    }
    Ok(prepared)
}

/// Makes one disturbance, from its start to its end. Whether it was done as planned.
fn make(prepared: Prepared, truth: &Truth, stop: Stop) -> Result<bool> {
    let Prepared { planned, mut disturbance } = prepared;
    priority::take(Role::Driver);
    let until_ns = planned.what.end_ns();
    if !moment::wait(planned.what.start_ns, stop) {
        return never(&planned, truth);
    }
    let (started_ns, ended) = cause(disturbance.as_mut(), until_ns, stop);
    let cut = stop.asked() && clock::steady_ns() < until_ns;
    truth.tell(&planned, started_ns, ended, cut)
}

fn never(planned: &Planned, truth: &Truth) -> Result<bool> {
    truth.tell(planned, None, Err(anyhow!("the agent was stopped before its start")), false)
}

fn cause(
    disturbance: &mut dyn Disturbance,
    until_ns: i64,
    stop: Stop,
) -> (Option<i64>, Result<End>) {
    let started_ns = match disturbance.start(until_ns) {
        Ok(started_ns) => started_ns,
        Err(error) => return (None, Err(error)),
    };
    let kept = disturbance.keep_up(until_ns, stop);
    let ended = disturbance.end();
    (Some(started_ns), kept.and(ended))
}

/// Waits for the threads. Returns how many disturbances were not done as planned.
fn join(threads: Vec<thread::JoinHandle<Result<bool>>>, stop: Stop) -> Result<usize> {
    let mut failed = 0;
    let mut given_up = None;
    for thread in threads {
        while !thread.is_finished() {
            if stop.asked() {
                let since = *given_up.get_or_insert_with(Instant::now);
                ensure!(since.elapsed() < LAST_WAIT, "a disturbance did not end when it was told");
            }
            thread::sleep(Duration::from_millis(5));
        }
        let done = thread.join().map_err(|_| anyhow!("a disturbance's thread panicked"))??;
        failed += usize::from(!done);
    }
    Ok(failed)
}
