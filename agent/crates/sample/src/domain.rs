//! Table `domain`: the subjects' control groups, version 1 or 2 (kernel's
//! Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst).
//!
//! `memory_limit` is null where there is no limit; it and `processes` are read once a second, and
//! `processes` is null in the rows between, since version 1 walks all threads to list processes.
//! Faults, refaults and bytes are read again when the machine has had any since the tick before, and
//! once a second while it had any in the last three, since the kernel may bring a group's faults up to
//! date that much later (2 s at most).
//! Writes that the kernel does later are not in version 1's `bytes_written`, where they belong to
//! the root group.
//!
//! What the group's threads do (`threads_*`, `frozen`) costs the kernel a walk over all of them. It is
//! looked at once a second, and at every tick in which the group used less than 0.2 % of a core: one
//! that is stopped, frozen or blocked does.

use crate::awaited_file::AwaitedFile;
use crate::counter::grown;
use crate::events::EventLog;
use crate::group_files::{CpuCounts, CpuFiles, Faults, MemoryFiles, WeightFile};
use crate::group_io::IoFile;
use crate::group_state::GroupState;
use crate::plan::Subject;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::tally::{Tallies, Tally};
use crate::text::lines;
use crate::thread_states::{StateCounter, ThreadStates};
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Domain, DomainRow};

const SLOW_NS: i64 = 1_000_000_000;
/// So long after a fault of the machine its group may be told of it.
const LATE_NS: i64 = 3_000_000_000;
/// Threads are looked at while their group uses less than this part of a core.
const IDLE_PART: i64 = 500;

/// Samples the subjects' control groups.
pub struct DomainSampler {
    groups: Vec<Group>,
    threads: Option<StateCounter>,
    /// Why there is no counter of threads.
    no_threads: String,
}

struct Group {
    subject: String,
    members: AwaitedFile,
    limit: Option<u64>,
    slow_due_ns: i64,
    cpu: Option<CpuFiles>,
    weight: Option<WeightFile>,
    memory: Option<MemoryFiles>,
    io: Option<IoFile>,
    state: GroupState,
    tallies: Tallies,
    before: Option<(Moment, Counts)>,
    /// What this tick's row will say, if it has one.
    interval: Option<Interval>,
}

/// An interval that ends now.
struct Interval {
    since: Moment,
    before: Counts,
    now: Counts,
    memory: Option<u64>,
    weight: Option<u64>,
    processes: Option<i64>,
    /// Whether the group's state is looked at.
    looked_at: bool,
    threads: Option<ThreadStates>,
}

#[derive(Clone, Copy)]
struct Counts {
    cpu: CpuCounts,
    faults: Faults,
    /// Read and written.
    bytes: [Option<u64>; 2],
    limit_hits: Option<u64>,
}

impl DomainSampler {
    /// Remembers where the groups are or will be.
    pub fn open(
        roots: &Roots,
        subjects: &[Subject],
        tallies: &Tallies,
    ) -> Result<Self, NotMeasured> {
        let groups = subjects.iter().filter_map(|subject| Group::of(subject, roots, tallies));
        let groups: Vec<Group> = groups.collect();
        if groups.is_empty() {
            return Err(NotMeasured("the plan gives no subject a control group".to_owned()));
        }
        let (threads, no_threads) = match roots.live.then(StateCounter::open) {
            Some(Ok(counter)) => (Some(counter), String::new()),
            Some(Err(error)) => (None, format!("cgroupstats: {error}")),
            None => (None, "threads can only be counted on this machine".to_owned()),
        };
        Ok(Self { groups, threads, no_threads })
    }

    /// Counts the threads of the groups that are looked at.
    fn count_threads(&mut self) {
        let Self { groups, threads: Some(counter), .. } = self else { return };
        for (number, group) in groups.iter_mut().enumerate() {
            if group.interval.as_ref().is_some_and(|interval| interval.looked_at)
                && let Some(folder) = group.state.counted()
            {
                counter.ask(number as u32, folder);
            }
        }
        let counted = counter.answers(|number, threads| {
            let group = groups.get_mut(number);
            if let Some(interval) = group.and_then(|group| group.interval.as_mut()) {
                interval.threads = Some(threads);
            }
        });
        if counted.is_err() {
            // A late answer would be taken for that to the next question.
            self.threads = StateCounter::open().ok();
        }
    }
}

impl Sampler for DomainSampler {
    type Table = Domain;

    fn sample(&mut self, now: Moment, table: &mut Domain, events: &mut EventLog) {
        for group in &mut self.groups {
            group.read(now, events);
        }
        self.count_threads();
        self.groups.iter_mut().for_each(|group| group.push(now, table));
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        let without = |given: fn(&Group) -> bool| self.groups.iter().all(|group| !given(group));
        let none = |kind: &str| format!("the plan gives no subject a {kind} group");
        let mut missing = Vec::new();
        if without(|group| group.cpu.is_some()) {
            let columns = ["cpu_ns", "throttled_ns", "throttled_periods"];
            missing.extend(columns.map(|column| (column, none("cpu"))));
        }
        if without(|group| group.weight.is_some()) {
            missing.push(("weight", none("cpu")));
        }
        if without(|group| group.memory.is_some()) {
            let columns = ["memory", "memory_limit", "major_faults", "refaults", "limit_hits"];
            missing.extend(columns.map(|column| (column, none("memory"))));
        }
        if without(|group| group.io.is_some()) {
            missing.extend(["bytes_read", "bytes_written"].map(|column| (column, none("blkio"))));
        }
        if self.groups.iter().all(|group| group.io.as_ref().is_some_and(|io| !io.counts())) {
            let reason = "no group's file of block device bytes lists a device; version 1 of recent \
                          kernels counts only once a group has a blkio limit";
            missing.extend(["bytes_read", "bytes_written"].map(|at| (at, reason.to_owned())));
        }
        let reason = match without(|group| group.state.counts_threads()) {
            true => "the kernel counts threads of control groups of version 1 only",
            false => &self.no_threads,
        };
        if !reason.is_empty() {
            let columns = ["threads_running", "threads_blocked", "threads_stopped"];
            missing.extend(columns.map(|column| (column, reason.to_owned())));
        }
        missing
    }
}

impl Group {
    fn of(subject: &Subject, roots: &Roots, tallies: &Tallies) -> Option<Self> {
        let groups = &subject.cgroups;
        let members = AwaitedFile::new(groups.members()?.join("cgroup.procs"));
        let (cpu, memory) = (CpuFiles::of(groups), MemoryFiles::of(groups));
        let (io, weight) = (IoFile::of(groups, &roots.sys), WeightFile::of(groups));
        Some(Self {
            subject: subject.name.clone(),
            members,
            limit: None,
            slow_due_ns: i64::MIN,
            cpu,
            weight,
            memory,
            io,
            state: GroupState::of(groups),
            tallies: tallies.clone(),
            before: None,
            interval: None,
        })
    }

    /// Reads the files.
    fn read(&mut self, now: Moment, events: &mut EventLog) {
        self.interval = None;
        let slow = !self.members.is_open() || now.monotonic_ns >= self.slow_due_ns;
        let processes = if slow { self.slowly(now, events) } else { None };
        let counts = self.counts(now, slow);
        let memory = self.memory.as_mut().and_then(|memory| memory.usage(now));
        if !self.members.is_open() || (memory.is_none() && counts.are_absent()) {
            return self.close();
        }
        let Some((since, before)) = self.before.replace((now, counts)) else { return };
        let weight = self.weight.as_mut().and_then(|weight| weight.read(now));
        let used_ns = grown(before.cpu.used_ns, counts.cpu.used_ns, 1);
        let idle = used_ns.is_some_and(|used_ns| used_ns < now.since(since) / IDLE_PART);
        let (looked_at, threads) = (slow || idle, None);
        self.interval = Some(Interval {
            since,
            before,
            now: counts,
            memory,
            weight,
            processes,
            looked_at,
            threads,
        });
    }

    /// Pushes the row.
    fn push(&mut self, now: Moment, table: &mut Domain) {
        let Some(interval) = self.interval.take() else { return };
        let Interval { before, now: counts, threads, .. } = interval;
        let frozen = if interval.looked_at { self.state.is_frozen(now) } else { None };
        let (throttled, throttled_before) = (counts.cpu.throttled, before.cpu.throttled);
        table.push(DomainRow {
            t_ns: now.t_ns,
            dt_ns: now.since(interval.since),
            subject: &self.subject,
            cpu_ns: grown(before.cpu.used_ns, counts.cpu.used_ns, 1),
            throttled_ns: grown(throttled_before.time_ns, throttled.time_ns, 1),
            memory: interval.memory.map(|bytes| bytes as i64),
            memory_limit: self.limit.map(|bytes| bytes as i64),
            major_faults: grown(before.faults.major, counts.faults.major, 1),
            bytes_read: grown(before.bytes[0], counts.bytes[0], 1),
            bytes_written: grown(before.bytes[1], counts.bytes[1], 1),
            processes: interval.processes,
            throttled_periods: grown(throttled_before.periods, throttled.periods, 1),
            refaults: grown(before.faults.refaults, counts.faults.refaults, 1),
            threads_running: threads.map(|threads| threads.running),
            threads_blocked: threads.map(|threads| threads.blocked),
            threads_stopped: threads.map(|threads| threads.stopped),
            frozen: frozen.map(i64::from),
            limit_hits: grown(before.limit_hits, counts.limit_hits, 1),
            weight: interval.weight.map(|weight| weight as i64),
        });
    }

    /// The group is gone; of one that comes in its place everything is read again.
    fn close(&mut self) {
        (self.before, self.slow_due_ns) = (None, i64::MIN);
        self.state.close();
    }

    /// Once a second: the limit, whether the group is there, and its number of processes.
    fn slowly(&mut self, now: Moment, events: &mut EventLog) -> Option<i64> {
        let was_there = self.members.is_open();
        self.slow_due_ns = now.monotonic_ns + SLOW_NS;
        self.limit = self.memory.as_mut().and_then(|memory| memory.limit(now));
        let processes = self.members.read_anew(now).map(|text| lines(text).count() as i64);
        if processes.is_some() != was_there {
            let kind = if was_there { "domain_end" } else { "domain_start" };
            events.at(now, kind, &self.subject, &self.members.path().to_string_lossy());
        }
        processes
    }

    fn counts(&mut self, now: Moment, slow: bool) -> Counts {
        let grew = |tally: &Tally| match self.before {
            Some((earlier, _)) => {
                tally.grew_since(earlier.monotonic_ns - if slow { LATE_NS } else { 0 })
            }
            None => true,
        };
        let (faults, bytes) = (grew(&self.tallies.faults), grew(&self.tallies.disk));
        let cpu = self.cpu.as_mut().map(|cpu| cpu.read(now, slow));
        let limited = self.memory.as_mut().filter(|_| self.limit.is_some());
        let limit_hits = limited.and_then(|memory| memory.limit_hits(now));
        let memory = self.memory.as_mut().map(|memory| memory.faults(now, faults));
        Counts {
            cpu: cpu.unwrap_or_default(),
            faults: memory.unwrap_or_default(),
            bytes: self.io.as_mut().map_or([None; 2], |io| io.read(now, bytes)),
            limit_hits,
        }
    }
}

impl Counts {
    fn are_absent(&self) -> bool {
        self.cpu.used_ns.is_none() && self.bytes[0].is_none()
    }
}
