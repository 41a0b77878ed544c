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
    let (rows, shifts) = numbering(&inputs)?;
    let survey = survey(&inputs, &shifts, rows, &mut words)?;
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
    let mut raw = Merged::open(&inputs, &shifts)?;
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

/// How many visits the tables have, and what makes the numbers in each go on after those before it.
fn numbering(inputs: &[&Path]) -> Result<(usize, Vec<(i64, i64)>)> {
    let (mut rows, mut connections, mut shifts) = (0, 0, Vec::new());
    for (at, input) in inputs.iter().enumerate() {
        let base = if at == 0 { 0 } else { BESIDE };
        let shift = (rows as i64 - base, connections - base);
        shifts.push(if at == 0 { (0, 0) } else { shift });
        let mut raw = RawReader::open(input)?;
        while let Some(batch) = raw.batch()? {
            rows += batch.num_rows();
            let last = raw.last_connection(&batch).unwrap_or(-1);
            connections = connections.max(last - base + 1);
        }
    }
    Ok((rows, shifts))
}

/// Reads the beginning and a stretch from the middle of the tables, of so many rows.
fn survey(
    inputs: &[&Path],
    shifts: &[(i64, i64)],
    rows: usize,
    words: &mut Words,
) -> Result<Survey> {
    let from = (rows.saturating_sub(MIDDLE) / 2).max(BEGINNING);
    let mut survey = Survey::default();
    let mut raw = Merged::open(inputs, shifts)?;
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
    /// What is added to the numbers of visits and connections of each, so that they go on where those
    /// of the one before end.
    shifts: Vec<(i64, i64)>,
}

/// A source beside the first numbers its visits and connections from here on.
const BESIDE: i64 = 1 << 40;

impl Merged {
    fn open(inputs: &[&Path], shifts: &[(i64, i64)]) -> Result<Self> {
        let open = |input: &&Path| Ok((RawReader::open(input)?, VecDeque::new()));
        let sources = inputs.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { sources, shifts: shifts.to_vec() })
    }

    fn next(&mut self, words: &mut Words) -> Result<Option<Visit>> {
        for ((reader, visits), &(visit_shift, connection_shift)) in
            self.sources.iter_mut().zip(&self.shifts)
        {
            while visits.is_empty() {
                let Some(batch) = reader.batch()? else { break };
                reader.visits(&batch, words, |mut visit| {
                    visit.visit += visit_shift;
                    visit.connection += connection_shift;
                    visits.push_back(visit);
                });
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
