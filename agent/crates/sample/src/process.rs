//! Table `process`: the processes of every subject and their threads.
//!
//! Three kinds of rows, each with the time since the one before of its kind in `dt_ns` and null in
//! what it did not read:
//!
//! | row | how often | columns | source |
//! |---|---|---|---|
//! | a process's state | `thread_interval_ns` | all | `/proc/<pid>/stat`, its CPU clock, its threads |
//! | a thread (`thread` is set) | `thread_interval_ns` | `run_ns`, `wait_ns` | its `schedstat` |
//! | a process's time | every tick | `run_ns` | its CPU clock |
//!
//! The time at every tick is only that of processes whose subject has no control group in table
//! `domain`, which has it at every tick otherwise; it is not in their states' rows then. The states
//! and threads of one subject are read at the same tick, those of different subjects at different
//! ticks. A process's `wait_ns` (runnable, not running) is the sum over its threads, less the last
//! moments of those that ended. CPU clocks (clock_getcpuclockid(3)) count nanoseconds; where they
//! are not to be had, as in another pid namespace, `run_ns` is that of `stat`, in ticks of 10 ms.
//!
//! Processes are looked for once a second. What one ran before it was found is in no row.

use crate::counter::increase;
use crate::cpu_clock::cpu_clock_ns;
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::machine::page_size;
use crate::members::Members;
use crate::pid_stat::PidStat;
use crate::plan::{Plan, Subject, TableName};
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::threads::Threads;
use std::path::PathBuf;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Process as ProcessTable, ProcessRow};

/// How often the subjects are asked for new processes.
const LOOK_NS: i64 = 1_000_000_000;

/// Samples the subjects' processes.
pub struct ProcessSampler {
    proc: PathBuf,
    live: bool,
    subjects: Vec<Members>,
    /// Whether table `domain` has the CPU time of each subject.
    in_domain: Vec<bool>,
    processes: Vec<Process>,
    /// When the states of each subject's processes are due.
    due_ns: Vec<i64>,
    state_interval_ns: i64,
    look_due_ns: i64,
}

struct Process {
    pid: i32,
    subject: usize,
    name: String,
    /// The CPU clock as it was last read.
    time: Option<(Moment, u64)>,
    every_tick: bool,
    /// Its descriptor is bound to this very process: another with its number is never taken for it.
    stat: KernelFile,
    state: (Moment, Counts),
    threads: Threads,
    listed: bool,
}

#[derive(Clone, Copy)]
struct Counts {
    run_ns: u64,
    minor_faults: u64,
    major_faults: u64,
}

impl ProcessSampler {
    /// Remembers the subjects; their processes are looked for once a second.
    pub fn open(roots: &Roots, plan: &Plan) -> Result<Self, NotMeasured> {
        let subjects = Members::of_all(&plan.subjects, &roots.proc);
        if subjects.iter().all(Members::never) {
            let reason = "the plan gives no subject a control group or a process";
            return Err(NotMeasured(reason.to_owned()));
        }
        let in_domain = |subject: &Subject| {
            let cgroups = &subject.cgroups;
            let counted = cgroups.unified.is_some() || cgroups.cpuacct.is_some();
            counted && plan.tables.contains(&TableName::Domain)
        };
        Ok(Self {
            proc: roots.proc.clone(),
            live: roots.live,
            in_domain: plan.subjects.iter().map(in_domain).collect(),
            due_ns: vec![i64::MIN; subjects.len()],
            subjects,
            processes: Vec::new(),
            state_interval_ns: plan.thread_interval_ns.max(plan.interval_ns),
            look_due_ns: i64::MIN,
        })
    }

    /// Takes in the processes that came and lets go of those that left their subject.
    fn look(&mut self, now: Moment, events: &mut EventLog) {
        for process in &mut self.processes {
            process.listed = false;
        }
        for subject in 0..self.subjects.len() {
            for at in 0..self.subjects[subject].list(now) {
                let pid = self.subjects[subject].pid(at);
                let known = |known: &&mut Process| known.pid == pid && known.subject == subject;
                match self.processes.iter_mut().find(known) {
                    Some(known) => known.listed = true,
                    None => self.take_in(subject, pid, now, events),
                }
            }
        }
        for at in (0..self.processes.len()).rev() {
            if !self.processes[at].listed {
                self.let_go(at, now, events);
            }
        }
    }

    fn take_in(&mut self, subject: usize, pid: i32, now: Moment, events: &mut EventLog) {
        let folder = self.proc.join(pid.to_string());
        let Some(mut process) = Process::open(folder, self.live, subject, pid, now) else {
            // It has ended since it was listed, or its parent has yet to ask how.
            return self.subjects[subject].forget(pid);
        };
        process.every_tick = process.time.is_some() && !self.in_domain[subject];
        let detail = format!("process {pid} ({})", process.name);
        events.at(now, "process_start", self.subjects[subject].name(), &detail);
        self.processes.push(process);
    }

    fn let_go(&mut self, at: usize, now: Moment, events: &mut EventLog) {
        let process = self.processes.remove(at);
        let subject = &mut self.subjects[process.subject];
        let detail = format!("process {} ({})", process.pid, process.name);
        events.at(now, "process_end", subject.name(), &detail);
        subject.forget(process.pid);
    }

    fn sample_states(
        &mut self,
        subject: usize,
        now: Moment,
        table: &mut ProcessTable,
        events: &mut EventLog,
    ) {
        for at in (0..self.processes.len()).rev() {
            let process = &mut self.processes[at];
            if process.subject != subject {
                continue;
            }
            if !process.sample_state(now, self.subjects[subject].name(), table) {
                self.let_go(at, now, events);
            }
        }
    }

    /// When a subject's states are due next; at first, a part of the interval apart from the others'.
    fn next_due(&self, subject: usize, now: Moment) -> i64 {
        let interval = self.state_interval_ns;
        match self.due_ns[subject] {
            i64::MIN => {
                now.monotonic_ns + interval * (subject as i64 + 1) / self.subjects.len() as i64
            }
            due => (due + interval).max(now.monotonic_ns),
        }
    }
}

impl Sampler for ProcessSampler {
    type Table = ProcessTable;

    fn sample(&mut self, now: Moment, table: &mut ProcessTable, events: &mut EventLog) {
        if now.monotonic_ns >= self.look_due_ns {
            // Halfway between states a second apart: whoever is found has a row at the next.
            let part = if self.look_due_ns == i64::MIN { 2 } else { 1 };
            self.look_due_ns = now.monotonic_ns + LOOK_NS / part;
            self.look(now, events);
        }
        for process in self.processes.iter_mut().filter(|process| process.every_tick) {
            process.sample_time(now, self.subjects[process.subject].name(), table);
        }
        for subject in 0..self.subjects.len() {
            if now.monotonic_ns >= self.due_ns[subject] {
                self.due_ns[subject] = self.next_due(subject, now);
                self.sample_states(subject, now, table, events);
            }
        }
    }
}

impl Process {
    fn open(folder: PathBuf, live: bool, subject: usize, pid: i32, now: Moment) -> Option<Self> {
        let mut stat = KernelFile::open_small(&folder.join("stat"), 512).ok()?;
        let time = if live { cpu_clock_ns(pid) } else { None };
        let read = PidStat::parse(stat.read().ok()?).filter(|stat| !stat.has_ended())?;
        let (name, state) = (read.name(), (now, Counts::of(&read)));
        let time = time.map(|time| (now, time));
        let threads = Threads::of(&folder);
        let (every_tick, listed) = (false, true);
        Some(Self { pid, subject, name, time, every_tick, stat, state, threads, listed })
    }

    /// Pushes the row of its time.
    fn sample_time(&mut self, now: Moment, subject: &str, table: &mut ProcessTable) {
        let Some((earlier, before)) = self.time.filter(|(earlier, _)| *earlier != now) else {
            return;
        };
        // Gone; the next look tells.
        let Some(time) = cpu_clock_ns(self.pid) else { return };
        self.time = Some((now, time));
        let run_ns = increase(before, time).map(|ns| ns as i64);
        let row = row(self.pid, subject, now, earlier);
        table.push(ProcessRow { name: &self.name, run_ns, ..row });
    }

    /// Pushes the rows of its state and of its threads; false when it has ended.
    fn sample_state(&mut self, now: Moment, subject: &str, table: &mut ProcessTable) -> bool {
        let Ok(text) = self.stat.read() else { return false };
        let Some(stat) = PidStat::parse(text).filter(|stat| !stat.has_ended()) else {
            return false;
        };
        if !stat.is_named(&self.name) {
            self.name = stat.name();
        }
        let pid = self.pid;
        let row = |earlier: Moment| row(pid, subject, now, earlier);
        let wait_ns = self.threads.sample(now, stat.threads, row, table);
        let counts = Counts::of(&stat);
        let (earlier, before) = std::mem::replace(&mut self.state, (now, counts));
        if earlier == now {
            // It was taken in at this very tick.
            return true;
        }
        let grew = |before, now| increase(before, now).map(|by| by as i64);
        let run_ns = match self.time {
            Some(_) if self.every_tick => None,
            Some((_, before)) => {
                let time = cpu_clock_ns(pid);
                self.time = time.map(|time| (now, time));
                time.and_then(|time| grew(before, time))
            }
            None => grew(before.run_ns, counts.run_ns),
        };
        table.push(ProcessRow {
            name: &self.name,
            run_ns,
            wait_ns,
            resident: Some(stat.resident_pages as i64 * page_size()),
            threads: Some(stat.threads as i64),
            minor_faults: grew(before.minor_faults, counts.minor_faults),
            major_faults: grew(before.major_faults, counts.major_faults),
            state: std::str::from_utf8(&[stat.state]).ok(),
            ..row(earlier)
        });
        true
    }
}

/// A row that says nothing yet.
fn row<'a>(pid: i32, subject: &'a str, now: Moment, earlier: Moment) -> ProcessRow<'a> {
    ProcessRow {
        t_ns: now.t_ns,
        dt_ns: now.since(earlier),
        subject,
        process: i64::from(pid),
        thread: None,
        name: "",
        run_ns: None,
        wait_ns: None,
        resident: None,
        threads: None,
        minor_faults: None,
        major_faults: None,
        state: None,
    }
}

impl Counts {
    fn of(stat: &PidStat<'_>) -> Self {
        let PidStat { run_ns, minor_faults, major_faults, .. } = *stat;
        Self { run_ns, minor_faults, major_faults }
    }
}
