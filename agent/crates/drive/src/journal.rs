//! What the driver writes down of all its threads together: phases, and its own lag and cost.

use crate::course::{Course, Ended};
use crate::judgement::{CpuUse, at, judged_span};
use crate::plan::Plan;
use crate::shard::SECOND_NS;
use crate::summary::{Cost, summary};
use crate::tally::{End, Figures, Second, Standing, Whole};
use anyhow::Result;
use serde_json::json;
use tierlab_record::clock::{Moment, process_cpu_ns};
use tierlab_record::priority::Scheduling;
use tierlab_record::status::say;
use tierlab_record::tables::{EventRow, Events};
use tierlab_record::{Rows, Writer};

/// A share of a core over less than this says little.
const SHORTEST_SECOND_NS: i64 = 500_000_000;

/// The figures of one run, and the thread that writes its tables.
pub struct Journal {
    /// What the driver is called in its events.
    name: String,
    writer: Writer,
    events: Rows<Events>,
    course: Course,
    began: Moment,
    /// How each thread is scheduled.
    scheduling: Vec<Scheduling>,
    /// Where each thread was when it last told.
    standings: Vec<Standing>,
    /// Seconds that not all threads have told of yet.
    pending: Vec<Second>,
    /// When the second of the last line ended, since the epoch, and the process's CPU time then.
    from_ns: i64,
    cpu_ns: i64,
    cpu: CpuUse,
    busiest_second: f64,
    ends: Vec<End>,
    /// Something could not be written, and the thread that met it tells.
    broken: bool,
}

impl Journal {
    /// The journal of a run that began at `began`, on threads that are scheduled so.
    pub fn new(
        writer: Writer,
        events: Rows<Events>,
        plan: &Plan,
        began: Moment,
        scheduling: Vec<Scheduling>,
    ) -> Self {
        let standing = Standing { at: began, seconds: 0, users: 0, there: 0, in_flight: 0 };
        Self {
            name: plan.named("driver", ""),
            writer,
            events,
            course: Course::new(plan.phases.clone(), began.monotonic_ns, began.t_ns),
            began,
            standings: vec![standing; scheduling.len()],
            scheduling,
            pending: Vec::new(),
            from_ns: began.t_ns,
            cpu_ns: process_cpu_ns(),
            cpu: CpuUse::new(judged_span(&plan.phases, began.t_ns)),
            busiest_second: 0.0,
            ends: Vec::new(),
            broken: false,
        }
    }

    /// Takes a thread's second; with the last thread's the second is ended.
    pub fn second(&mut self, second: Second) -> Result<()> {
        self.standings[second.thread] = second.standing;
        self.pending.push(second);
        let through = self.standings.iter().map(|it| it.seconds).min().unwrap_or(0);
        let told: Vec<Second> =
            self.pending.extract_if(.., |second| second.standing.seconds <= through).collect();
        if told.is_empty() {
            return Ok(());
        }
        // A phase that ends with the second ends after it.
        self.end_phases(self.began.monotonic_ns + through * SECOND_NS - 1);
        self.end_second(&told)
    }

    /// Takes what a thread did after its last whole second, and how it ended.
    pub fn end(&mut self, second: Second, end: End) {
        self.standings[second.thread] = second.standing;
        self.pending.push(second);
        self.ends.push(end);
    }

    /// Records the phases that are over at `now_ns`, by the monotonic clock.
    fn end_phases(&mut self, now_ns: i64) {
        while let Some(ended) = self.course.advance(now_ns) {
            self.events.push(phase(&ended));
        }
    }

    /// Ends a second: its lag becomes an event, its figures a line on standard output, and what was
    /// recorded goes to disk. `requests` and `errors` are those that ended in it.
    fn end_second(&mut self, parts: &[Second]) -> Result<()> {
        let mut figures = Figures::new()?;
        let mut by_thread = vec![0; self.standings.len()];
        let mut now = self.began;
        for part in parts {
            figures.add(&part.figures)?;
            by_thread[part.thread] += part.figures.cpu_ns;
            if part.standing.at.monotonic_ns > now.monotonic_ns {
                now = part.standing.at;
            }
        }
        let cpu_ns = process_cpu_ns();
        let spent_ns = cpu_ns - self.cpu_ns;
        let length_ns = (now.t_ns - self.from_ns).max(1);
        self.cpu.second(self.from_ns..now.t_ns, spent_ns);
        if length_ns >= SHORTEST_SECOND_NS {
            self.busiest_second = self.busiest_second.max(spent_ns as f64 / length_ns as f64);
        }
        let lag = json!({
            "starts": figures.lag.len(),
            "p50_ns": at(&figures.lag, 0.5),
            "p99_ns": at(&figures.lag, 0.99),
            "max_ns": (!figures.lag.is_empty()).then_some(figures.largest_lag_ns),
            "users": self.standings.iter().map(|it| it.there).sum::<usize>(),
            "cpu_ns": spent_ns,
            "busiest_thread_cpu_ns": by_thread.iter().max(),
        });
        self.events.push(EventRow {
            t_ns: self.from_ns,
            duration_ns: length_ns,
            kind: "driver_lag",
            subject: &self.name,
            detail: &lag.to_string(),
        });
        let ended = figures.responses.len();
        self.writer.say(json!({
            "t_ns": now.t_ns,
            "phase": self.course.name(),
            "elapsed_ns": now.monotonic_ns - self.course.start_ns(),
            "users": self.standings.iter().map(|it| it.users).sum::<usize>(),
            "requests": ended,
            "errors": figures.errors,
            "mean_ns": (ended > 0).then(|| (figures.total_ns / u128::from(ended)) as u64),
            "p99_ns": at(&figures.responses, 0.99),
            "lag_p99_ns": at(&figures.lag, 0.99),
            "in_flight": self.standings.iter().map(|it| it.in_flight).sum::<usize>(),
        }));
        (self.from_ns, self.cpu_ns) = (now.t_ns, cpu_ns);
        self.events.hand_over();
        self.check()
    }

    /// Fails once if anything could not be written.
    fn check(&mut self) -> Result<()> {
        if self.broken {
            return Ok(());
        }
        let checked = self.writer.check();
        self.broken = checked.is_err();
        Ok(checked?)
    }

    /// Ends the phases, what came after the last whole second, and the tables; and says what the
    /// run was and cost, if all threads came to their end.
    pub fn finish(mut self) -> Result<()> {
        let left_ns = self.ends.iter().map(|end| end.left_ns).max();
        let left_ns = left_ns.unwrap_or(self.began.monotonic_ns);
        self.end_phases(left_ns);
        if let Some(cut) = self.course.end(left_ns) {
            self.events.push(phase(&cut));
        }
        let rest = std::mem::take(&mut self.pending);
        self.end_second(&rest)?;
        self.writer.finish()?;
        if self.ends.len() < self.standings.len() {
            return Ok(());
        }
        let users = self.standings.iter().map(|it| it.users).sum();
        let mut whole = Whole::new()?;
        let mut sessions = 0;
        for end in self.ends {
            whole.add(end.whole)?;
            sessions += end.sessions;
        }
        let cost = Cost {
            wall_ns: (self.from_ns - self.began.t_ns).max(1),
            runtime_cpu_share: self.cpu.share(),
            busiest_second_cpu_share: self.busiest_second,
            scheduling: self.scheduling,
        };
        say(&summary(&whole, &cost, users, sessions));
        Ok(())
    }
}

fn phase<'a>(phase: &'a Ended<'_>) -> EventRow<'a> {
    EventRow {
        t_ns: phase.start_ns,
        duration_ns: phase.end_ns - phase.start_ns,
        kind: "phase",
        subject: phase.name,
        detail: "{}",
    }
}
