//! The verb `link`: a plan in, the table `visits` and a summary out.

use crate::linker::Linker;
use crate::plan::Plan;
use crate::summary::Summary;
use crate::survey::Survey;
use crate::table::{self, RawReader, Words};
use crate::topology::Topology;
use anyhow::{Context, Result};
use std::path::Path;
use tierlab_record::priority::Role;
use tierlab_record::status::say;
use tierlab_record::tables::Visits;
use tierlab_record::{Rows, WhenFull, Writer, clock};

/// How many visits of the beginning and of the middle are surveyed: enough to meet every page some
/// dozens of times, few enough for seconds of CPU time.
const BEGINNING: usize = 10_000;
const MIDDLE: usize = 40_000;

/// Runs the verb from the plan file; the table `visits` goes to `out`.
///
/// # Errors
/// When the plan or the raw visits cannot be read, or the table cannot be written.
pub fn run(plan: &Path, out: &Path) -> Result<()> {
    let started_ns = clock::process_cpu_ns();
    let plan_path = plan;
    let plan = Plan::read(plan_path)?;
    let topology = Topology::new(&plan.servers).with_context(|| plan_path.display().to_string())?;
    let topology = topology.with_event_loops(&plan.event_loops);
    let mut words = Words::new(&topology);
    let survey = survey(&plan.input, &mut words)?;
    let mut summary = Summary::new(&topology);
    if !plan.hide_ids {
        let checks = survey.check(&topology, plan.window_ns);
        summary.pairs.iter_mut().zip(checks).for_each(|(pair, check)| pair.self_check = check);
    }
    let ways = survey.ways(&topology, plan.hide_ids);
    let loops = survey.loops(&topology, plan.hide_ids);
    drop(survey);
    let mut raw = RawReader::open(&plan.input)?;
    let mut linker = Linker::new(topology, ways, plan.window_ns).with_loops(loops);
    let writer = Writer::start(WhenFull::Wait, Role::Ordinary)?;
    let mut visits = writer.table::<Visits>(out)?;
    say(&serde_json::json!({ "ready": true }));
    while let Some(batch) = raw.batch()? {
        raw.visits(&batch, &mut words, |visit| linker.push(visit));
        keep(&mut linker, &words, &mut summary, &mut visits);
        writer.check()?;
    }
    linker.finish();
    keep(&mut linker, &words, &mut summary, &mut visits);
    visits.hand_over();
    writer.finish()?;
    summary.cpu_ns = clock::process_cpu_ns() - started_ns;
    say(&serde_json::json!({ "summary": summary }));
    Ok(())
}

/// Reads the beginning and a stretch from the middle of a table.
fn survey(input: &Path, words: &mut Words) -> Result<Survey> {
    let mut rows = 0;
    let mut raw = RawReader::open(input)?;
    while let Some(batch) = raw.batch()? {
        rows += batch.num_rows();
    }
    let from = (rows.saturating_sub(MIDDLE) / 2).max(BEGINNING);
    let mut survey = Survey::default();
    let mut row = 0;
    let mut raw = RawReader::open(input)?;
    while let Some(batch) = raw.batch()? {
        let end = row + batch.num_rows();
        if row >= BEGINNING && end <= from {
            row = end;
            continue;
        }
        // Row by row, because another writer's batches may be of any size.
        raw.visits(&batch, words, |visit| {
            if row < BEGINNING {
                survey.beginning.push(visit);
            } else if (from..from + MIDDLE).contains(&row) {
                survey.middle.push(visit);
            }
            row += 1;
        });
        if row >= from + MIDDLE {
            break;
        }
    }
    Ok(survey)
}

/// Writes and counts what is decided.
fn keep(linker: &mut Linker, words: &Words, summary: &mut Summary, visits: &mut Rows<Visits>) {
    for linked in linker.decided() {
        summary.count(&linked, linker.topology());
        table::write(visits, words, &linked);
    }
}
