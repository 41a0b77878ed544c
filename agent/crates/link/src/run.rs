//! The verb `link`: a plan in, the table `visits` and a summary out.

use crate::linker::Linker;
use crate::plan::Plan;
use crate::summary::Summary;
use crate::survey::Survey;
use crate::table::{self, RawReader, Words};
use crate::topology::{Server, Topology};
use crate::turns::TurnJoin;
use crate::visit::Visit;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use tierlab_record::priority::Role;
use tierlab_record::status::say;
use tierlab_record::tables::Visits;
use tierlab_record::{Rows, WhenFull, Writer, clock};

/// How many visits of the beginning and of the middle are surveyed: enough to meet every page some
/// dozens of times, few enough for seconds of CPU time.
const BEGINNING: usize = 10_000;
const MIDDLE: usize = 40_000;

/// How many visits go by before what is decided is written.
const AT_ONCE: u64 = 4_096;

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
    let inputs: Vec<&Path> =
        [&plan.input].into_iter().chain(&plan.also).map(PathBuf::as_path).collect();
    let survey = survey(&inputs, &mut words)?;
    let mut summary = Summary::new(&topology);
    if !plan.hide_ids {
        let checks = survey.check(&topology, plan.window_ns);
        summary.pairs.iter_mut().zip(checks).for_each(|(pair, check)| pair.self_check = check);
    }
    let ways = survey.ways(&topology, plan.hide_ids);
    let loops = survey.loops(&topology, plan.hide_ids);
    drop(survey);
    let mut turns = None;
    if let Some(path) = &plan.turns {
        let (join, threads) = TurnJoin::open(path, &mut words)?;
        (turns, summary.threads) = (Some(join), threads);
    }
    let mut raw = Merged::open(&inputs)?;
    let mut linker = Linker::new(topology, ways, plan.window_ns).with_loops(loops);
    let writer = Writer::start(WhenFull::Wait, Role::Ordinary)?;
    let mut visits = writer.table::<Visits>(out)?;
    say(&serde_json::json!({ "ready": true }));
    let mut pushed = 0;
    while let Some(mut visit) = raw.next(&mut words)? {
        if let Some(turns) = &mut turns {
            turns.join(&mut visit, &mut words)?;
        }
        linker.push(visit);
        pushed += 1;
        if pushed % AT_ONCE == 0 {
            keep(&mut linker, &words, &mut summary, &mut visits);
            writer.check()?;
        }
    }
    linker.finish();
    keep(&mut linker, &words, &mut summary, &mut visits);
    for server in 0..linker.topology().names().len() as Server {
        let (all, same) = linker.checked(server);
        if let Some(pair) = linker.topology().pair_above(server) {
            let check = &mut summary.pairs[pair].thread_check;
            (check.visits, check.differ) = (check.visits + all, check.differ + all - same);
        }
    }
    visits.hand_over();
    writer.finish()?;
    summary.cpu_ns = clock::process_cpu_ns() - started_ns;
    say(&serde_json::json!({ "summary": summary }));
    Ok(())
}

/// Reads the beginning and a stretch from the middle of the tables.
fn survey(inputs: &[&Path], words: &mut Words) -> Result<Survey> {
    let mut rows = 0;
    for input in inputs {
        let mut raw = RawReader::open(input)?;
        while let Some(batch) = raw.batch()? {
            rows += batch.num_rows();
        }
    }
    let from = (rows.saturating_sub(MIDDLE) / 2).max(BEGINNING);
    let mut survey = Survey::default();
    let mut raw = Merged::open(inputs)?;
    for row in 0..(from + MIDDLE).min(rows) {
        let Some(visit) = raw.next(words)? else { break };
        if row < BEGINNING {
            survey.beginning.push(visit);
        } else if row >= from {
            survey.middle.push(visit);
        }
    }
    Ok(survey)
}

/// The visits of several tables in the order in which they were over.
struct Merged {
    sources: Vec<(RawReader, VecDeque<Visit>)>,
}

impl Merged {
    fn open(inputs: &[&Path]) -> Result<Self> {
        let open = |input: &&Path| Ok((RawReader::open(input)?, VecDeque::new()));
        Ok(Self { sources: inputs.iter().map(open).collect::<Result<_>>()? })
    }

    fn next(&mut self, words: &mut Words) -> Result<Option<Visit>> {
        for (reader, visits) in &mut self.sources {
            while visits.is_empty() {
                let Some(batch) = reader.batch()? else { break };
                reader.visits(&batch, words, |visit| visits.push_back(visit));
            }
        }
        let waiting = self.sources.iter_mut().filter(|(_, visits)| !visits.is_empty());
        let next = waiting.min_by_key(|(_, visits)| visits[0].ended_ns);
        Ok(next.and_then(|(_, visits)| visits.pop_front()))
    }
}

/// Writes and counts what is decided.
fn keep(linker: &mut Linker, words: &Words, summary: &mut Summary, visits: &mut Rows<Visits>) {
    for linked in linker.decided() {
        summary.count(&linked, linker.topology());
        table::write(visits, words, &linked);
    }
}
