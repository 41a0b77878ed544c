//! The loop: a tick, a sample of everything, once a second the rows to the writer.

use crate::events::EventLog;
use crate::grid::Grid;
use crate::plan::Plan;
use crate::registry::Samplers;
use crate::roots::Roots;
use crate::sampler::{Account, Place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tierlab_record::clock::Moment;
use tierlab_record::priority::{self, Role, Scheduling};
use tierlab_record::status::say;
use tierlab_record::{RecordError, Stop, WhenFull, Writer, clock, open_files};

const SECOND_NS: i64 = 1_000_000_000;

/// One run of the verb.
pub struct Session {
    writer: Writer,
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
    /// Rows for which there was no room, as far as events tell of them, and until when.
    told_lost: u64,
    told: Moment,
    scheduling: Scheduling,
}

impl Session {
    /// Opens everything and takes the first readings.
    pub fn start(plan: &Plan, roots: &Roots, out: &Path) -> Result<Self, RecordError> {
        open_files::raise_limit();
        let writer = Writer::start(WhenFull::Drop, Role::Observer)?;
        Self::with(writer, priority::take(Role::Observer), plan, roots, out)
    }

    fn with(
        writer: Writer,
        scheduling: Scheduling,
        plan: &Plan,
        roots: &Roots,
        out: &Path,
    ) -> Result<Self, RecordError> {
        let place = Place { writer: &writer, folder: out };
        let mut events = EventLog::create(place)?;
        let mut samplers = Samplers::open(plan, roots, place)?;
        let start_cpu_ns = clock::process_cpu_ns();
        let mut now = Moment::now();
        for task in &mut samplers.running {
            task.tick(&mut now, &mut events);
        }
        let began_ns = clock::monotonic_ns();
        let grid = Grid::aligned(plan.interval_ns, began_ns, clock::realtime_ns());
        let interval_ns = plan.interval_ns;
        let (ticks, late_ticks, missed_ticks, told_lost) = (0, 0, 0, 0);
        Ok(Self {
            writer,
            samplers,
            events,
            grid,
            interval_ns,
            began_ns,
            start_cpu_ns,
            ticks,
            late_ticks,
            missed_ticks,
            told_lost,
            told: now,
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
        let end_ns =
            duration_ns.map_or(i64::MAX, |duration| self.began_ns.saturating_add(duration));
        let mut due_ns = self.began_ns + SECOND_NS;
        while !stop.asked() && clock::monotonic_ns() < end_ns {
            if self.tick() && clock::monotonic_ns() >= due_ns {
                due_ns = clock::monotonic_ns() + SECOND_NS - self.interval_ns / 2;
                self.second()?;
            }
        }
        self.finish()
    }

    /// False when a signal came instead of the tick.
    fn tick(&mut self) -> bool {
        let Some(tick) = self.grid.wait() else { return false };
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
            task.tick(&mut now, &mut self.events);
        }
        true
    }

    /// Hands over the rows of the last second, all tables one after the other: the first one's way
    /// through the code makes that of the others short.
    fn second(&mut self) -> Result<(), RecordError> {
        for task in &mut self.samplers.running {
            task.hand_over();
        }
        self.tell_lost();
        self.writer.say(json!({
            "ticks": self.ticks,
            "late_ticks": self.late_ticks,
            "missed_ticks": self.missed_ticks,
        }));
        self.writer.check()
    }

    /// Hands over the events, with one of the rows for which there was no room since the last. When
    /// there is none for it either, the next one is of the whole time.
    fn tell_lost(&mut self) {
        let (lost, now) = (self.lost_rows().values().sum(), Moment::now());
        if lost > self.told_lost {
            let (length_ns, detail) =
                (now.since(self.told), json!({ "rows": lost - self.told_lost }));
            let began_ns = now.t_ns - length_ns;
            self.events.span(began_ns, length_ns, "rows_lost", "sample", &detail.to_string());
        }
        let lost_events = self.events.lost();
        self.events.hand_over();
        if self.events.lost() == lost_events {
            (self.told_lost, self.told) = (lost, now);
        }
    }

    /// By table: rows for which there was no room.
    fn lost_rows(&self) -> BTreeMap<&'static str, u64> {
        let running = self.samplers.running.iter();
        let tables = running.map(|task| (task.name(), task.account().lost_rows));
        let all = tables.chain([("events", self.events.lost())]);
        all.filter(|(_, lost)| *lost > 0).collect()
    }

    /// The CPU time of each table: what writing it took, and its part of the rest of this process's,
    /// divided by the time that each one's ticks took. They run one after the other, so that no
    /// clock of CPU time, a system call each, need be read in between.
    fn costs(&self) -> serde_json::Map<String, Value> {
        let running = self.samplers.running.iter();
        let accounts: Vec<(&str, Account)> =
            running.map(|task| (task.name(), task.account())).collect();
        let sum = |of: fn(&Account) -> i64| -> i64 { accounts.iter().map(|(_, it)| of(it)).sum() };
        let spent_ns = clock::process_cpu_ns() - self.start_cpu_ns - sum(|it| it.written_ns);
        let part = spent_ns as f64 / sum(|it| it.took_ns).max(1) as f64;
        let cost = |it: &Account| (it.took_ns as f64 * part) as i64 + it.written_ns;
        let costs = accounts.iter();
        costs.map(|(name, it)| ((*name).to_owned(), json!({ "cpu_ns": cost(it) }))).collect()
    }

    fn finish(mut self) -> Result<(), RecordError> {
        self.second()?;
        let (costs, lost_rows) = (self.costs(), self.lost_rows());
        let mut not_measured = self.samplers.not_measured();
        not_measured.extend(lost_rows.iter().map(|(table, lost)| {
            let reason =
                format!("{lost} rows: the disk stood still for longer than there was room");
            (format!("{table}.rows"), reason)
        }));
        let wall_ns = clock::monotonic_ns() - self.began_ns;
        // A thread that still polls a database is not waited for.
        self.writer.finish()?;
        say(&json!({ "summary": {
            "interval_ns": self.interval_ns,
            "ticks": self.ticks,
            "late_ticks": self.late_ticks,
            "missed_ticks": self.missed_ticks,
            "lost_rows": lost_rows,
            "wall_ns": wall_ns,
            "cpu_ns": clock::process_cpu_ns(),
            "cpu_source": self.samplers.cpu_source,
            "scheduling": self.scheduling,
            "samplers": costs,
            "not_measured": not_measured,
        }}));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_ipc::reader::StreamReader;
    use std::fs::{File, OpenOptions};
    use std::process::Command;

    /// How many rows all events `rows_lost` tell of.
    fn told(events: &Path) -> u64 {
        let mut told = 0;
        for batch in StreamReader::try_new(File::open(events).unwrap(), None).unwrap() {
            let batch = batch.unwrap();
            let column = |name| batch.column_by_name(name).unwrap().as_string::<i32>().iter();
            for (kind, detail) in column("kind").zip(column("detail")) {
                if kind == Some("rows_lost") {
                    let detail: Value = serde_json::from_str(detail.unwrap()).unwrap();
                    told += detail["rows"].as_u64().unwrap();
                }
            }
        }
        told
    }

    /// The disk is a pipe, which holds 64 KiB, and which nobody reads for a while.
    #[test]
    fn rows_for_which_there_was_no_room_are_told_by_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.arrows");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let mut pipe = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let writer = Writer::with_room(WhenFull::Drop, Role::Ordinary, 4096).unwrap();
        let plan = r#"{"interval_ns": 10000000, "tables": ["memory"]}"#;
        let plan: Plan = serde_json::from_str(plan).unwrap();
        let mut session =
            Session::with(writer, Scheduling::Normal, &plan, &Roots::machine(), folder.path())
                .unwrap();
        let lost = |session: &Session| session.lost_rows().values().sum::<u64>();
        let tick = |session: &mut Session| {
            session.tick();
            session.second().unwrap();
        };
        while lost(&session) < 3 {
            tick(&mut session);
        }
        // It goes on, and is read until the process ends.
        std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
        while session.told_lost < lost(&session) {
            tick(&mut session);
        }
        let lost = lost(&session);
        session.finish().unwrap();
        assert_eq!(told(&folder.path().join("sample.events.arrows")), lost);
    }
}
