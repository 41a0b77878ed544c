//! The loop: a tick, a sample of everything, once a second the tables to disk.

use crate::events::EventLog;
use crate::grid::Grid;
use crate::machine;
use crate::plan::Plan;
use crate::registry::Samplers;
use crate::roots::Roots;
use crate::sampler::{Moment, Task};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use tierlab_record::{RecordError, Stop, clock};

const SECOND_NS: i64 = 1_000_000_000;

/// One run of the verb.
pub struct Session {
    samplers: Samplers,
    events: EventLog,
    grid: Grid,
    interval_ns: i64,
    began_ns: i64,
    /// CPU time that was used before the first reading.
    start_cpu_ns: i64,
    ticks: i64,
    late_ticks: i64,
    missed_ticks: i64,
    scheduling: &'static str,
}

impl Session {
    /// Opens everything and takes the first readings.
    pub fn start(plan: &Plan, roots: &Roots, out: &Path) -> Result<Self, RecordError> {
        machine::allow_open_files();
        let scheduling = machine::run_before_others();
        let mut events = EventLog::create(out)?;
        let mut samplers = Samplers::open(plan, roots, out)?;
        let start_cpu_ns = clock::process_cpu_ns();
        let mut now = Moment::now();
        for task in &mut samplers.running {
            task.tick(&mut now, &mut events)?;
        }
        let began_ns = clock::monotonic_ns();
        let grid = Grid::aligned(plan.interval_ns, began_ns, clock::realtime_ns());
        let interval_ns = plan.interval_ns;
        let (ticks, late_ticks, missed_ticks) = (0, 0, 0);
        Ok(Self {
            samplers,
            events,
            grid,
            interval_ns,
            began_ns,
            start_cpu_ns,
            ticks,
            late_ticks,
            missed_ticks,
            scheduling,
        })
    }

    /// Ticks until a signal, or the end of the plan's time; says how it goes on standard output.
    pub fn run(mut self, duration_ns: Option<i64>, stop: Stop) -> Result<(), RecordError> {
        say(&json!({
            "ready": true,
            "cpu_source": self.samplers.cpu_source,
            "scheduling": self.scheduling,
        }));
        let end_ns = duration_ns.map_or(i64::MAX, |duration| self.began_ns + duration);
        let mut flush_due_ns = self.began_ns + SECOND_NS;
        while !stop.asked() && clock::monotonic_ns() < end_ns {
            if self.tick()? && clock::monotonic_ns() >= flush_due_ns {
                flush_due_ns = clock::monotonic_ns() + SECOND_NS - self.interval_ns / 2;
                self.flush()?;
            }
        }
        self.finish()
    }

    /// False when a signal came instead of the tick.
    fn tick(&mut self) -> Result<bool, RecordError> {
        let Some(tick) = self.grid.wait() else { return Ok(false) };
        self.ticks += 1;
        self.missed_ticks += tick.missed;
        if tick.missed > 0 || tick.late_ns > self.grid.tolerance_ns() {
            self.late_ticks += 1;
            let detail = format!("tick {}, {} missed before it", self.ticks, tick.missed);
            let (now, kind) = (clock::realtime_ns(), "late_tick");
            self.events.span(now - tick.late_ns, tick.late_ns, kind, "sample", &detail);
        }
        let mut now = Moment::now();
        for task in &mut self.samplers.running {
            task.tick(&mut now, &mut self.events)?;
        }
        Ok(true)
    }

    /// Hands the rows of the last second to the kernel, all tables one after the other: the first
    /// one's way through the code makes that of the others short.
    fn flush(&mut self) -> Result<(), RecordError> {
        for task in &mut self.samplers.running {
            task.flush()?;
        }
        self.events.flush()?;
        say(&json!({
            "ticks": self.ticks,
            "late_ticks": self.late_ticks,
            "missed_ticks": self.missed_ticks,
        }));
        Ok(())
    }

    /// The CPU time of each table: this process's, divided by the time that each took. They run one
    /// after the other, so that no clock of CPU time, a system call each, need be read in between.
    fn costs(&self) -> serde_json::Map<String, Value> {
        let running = &self.samplers.running;
        let all_ns: i64 = running.iter().map(|task| task.took_ns()).sum();
        let spent_ns = clock::process_cpu_ns() - self.start_cpu_ns;
        let part = spent_ns as f64 / all_ns.max(1) as f64;
        let cost = |task: &dyn Task| (task.took_ns() as f64 * part) as i64;
        running
            .iter()
            .map(|task| (task.name().to_owned(), json!({ "cpu_ns": cost(task.as_ref()) })))
            .collect()
    }

    fn finish(mut self) -> Result<(), RecordError> {
        let not_measured = self.samplers.not_measured();
        let costs = self.costs();
        for task in self.samplers.running.drain(..) {
            task.finish()?;
        }
        self.events.finish()?;
        say(&json!({ "summary": {
            "interval_ns": self.interval_ns,
            "ticks": self.ticks,
            "late_ticks": self.late_ticks,
            "missed_ticks": self.missed_ticks,
            "wall_ns": clock::monotonic_ns() - self.began_ns,
            "cpu_ns": clock::process_cpu_ns(),
            "cpu_source": self.samplers.cpu_source,
            "scheduling": self.scheduling,
            "samplers": costs,
            "not_measured": not_measured,
        }}));
        Ok(())
    }
}

/// A line on standard output. When nobody reads it any more, the sampling goes on.
fn say(line: &Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
