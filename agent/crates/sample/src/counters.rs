//! Table `counters`: events that the processor or the kernel counts on each core, by subject.
//!
//! What no subject's control group had is `host`'s, the kernel's own work and the idle threads' among
//! it. Control groups of version 2 alone can be asked for: those of version 1 have a hierarchy of
//! their own for this (kernel's Documentation/admin-guide/cgroup-v2.rst, "perf_event").

use crate::counting::Cell;
use crate::events::EventLog;
use crate::perf_event::{Counter, Event};
use crate::plan::Subject;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::text::{lines, number};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Counters, CountersRow};

const HOST: &str = "host";
const SLOW_NS: i64 = 1_000_000_000;

/// Samples counters.
pub struct CountersSampler {
    cells: Vec<Cell>,
    groups: Vec<Group>,
    /// Of events that cannot be counted.
    missing: Vec<(&'static str, String)>,
    /// Subjects without a control group that can be asked for.
    groupless: Vec<String>,
    earlier: Option<Moment>,
}

/// A subject's control group.
struct Group {
    subject: String,
    folder: PathBuf,
    /// Its folder's number: one that comes in its place has another.
    inode: Option<u64>,
    slow_due_ns: i64,
    /// Why it cannot be counted, though it is there.
    refused: Option<String>,
}

impl CountersSampler {
    /// Opens the events' counters on all cores.
    pub fn open(
        roots: &Roots,
        events: &[Event],
        subjects: &[Subject],
    ) -> Result<Self, NotMeasured> {
        let groups: Vec<Group> = subjects.iter().filter_map(Group::of).collect();
        let no_group = |it: &&Subject| it.cgroups.unified.is_none();
        let groupless = subjects.iter().filter(no_group).map(|it| it.name.clone()).collect();
        let cores = cores(roots)?;
        let (mut cells, mut missing) = (Vec::new(), Vec::new());
        for &event in events {
            match on_all_cores(event, &cores, groups.len()) {
                Ok(opened) => cells.extend(opened),
                Err(why) => missing.push((event.name, why)),
            }
        }
        if events.is_empty() {
            return Err(NotMeasured("the plan gives no events".to_owned()));
        }
        Ok(Self { cells, groups, missing, groupless, earlier: None })
    }
}

impl Sampler for CountersSampler {
    type Table = Counters;

    fn sample(&mut self, now: Moment, table: &mut Counters, _events: &mut EventLog) {
        for (at, group) in self.groups.iter_mut().enumerate() {
            group.look(at, now, &mut self.cells);
        }
        let dt_ns = self.earlier.replace(now).map_or(0, |it| now.since(it));
        let groups = &self.groups;
        for cell in &mut self.cells {
            let (event, core) = (cell.event, cell.core);
            cell.grown(|group, count| {
                table.push(CountersRow {
                    t_ns: now.t_ns,
                    dt_ns,
                    cpu: Some(core),
                    domain: group.map_or(HOST, |at| groups[at].subject.as_str()),
                    binary: None,
                    symbol: None,
                    event: event.name,
                    count,
                    source: event.by().name(),
                    period: None,
                    stack: None,
                });
            });
        }
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        let groupless =
            self.groupless.iter().map(|it| format!("{it} (no control group of version 2)"));
        let refused = self
            .groups
            .iter()
            .filter_map(|it| it.refused.as_ref().map(|why| format!("{} ({why})", it.subject)));
        let unknown: Vec<String> = groupless.chain(refused).collect();
        let mut missing = self.missing.clone();
        if !unknown.is_empty() {
            missing
                .push(("domain", format!("what these had is `{HOST}`'s: {}", unknown.join(", "))));
        }
        missing
    }
}

impl Group {
    fn of(subject: &Subject) -> Option<Self> {
        let folder = subject.cgroups.unified.clone()?;
        let subject = subject.name.clone();
        Some(Self { subject, folder, inode: None, slow_due_ns: i64::MIN, refused: None })
    }

    /// Once a second: the group that is there now is counted from now on.
    fn look(&mut self, at: usize, now: Moment, cells: &mut [Cell]) {
        if now.monotonic_ns < self.slow_due_ns {
            return;
        }
        self.slow_due_ns = now.monotonic_ns + SLOW_NS;
        let folder = File::open(&self.folder).ok();
        let inode = folder.as_ref().and_then(|it| it.metadata().ok()).map(|it| it.ino());
        if inode == self.inode {
            return;
        }
        self.inode = inode;
        for cell in cells {
            let open = |folder: &File| {
                Counter::open(cell.event, cell.core, Some(folder.as_raw_fd()))
                    .map_err(|error| self.refused = Some(format!("perf_event_open: {error}")))
                    .ok()
            };
            let counter = folder.as_ref().and_then(open);
            cell.count_group(at, counter);
        }
    }
}

/// An event's cells, or why there are none: what some cores count alone is not the machine's.
fn on_all_cores(event: Event, cores: &[i32], groups: usize) -> Result<Vec<Cell>, String> {
    let open = |&core: &i32| match Counter::open(event, core, None) {
        Ok(counter) => Ok(Cell::new(event, core, counter, groups)),
        Err(error) => Err(format!("PU {core}: {error} (perf_event_open)")),
    };
    cores.iter().map(open).collect()
}

/// The numbers of the cores that are online.
fn cores(roots: &Roots) -> Result<Vec<i32>, NotMeasured> {
    let path = roots.proc.join("stat");
    let text = std::fs::read(&path).map_err(|error| NotMeasured::file(&path, &error))?;
    let core = |line: &[u8]| {
        let digits = line.strip_prefix(b"cpu")?.split(|byte| *byte == b' ').next()?;
        number(digits).map(|it| it as i32)
    };
    Ok(lines(&text).filter_map(core).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_those_of_proc_stat() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::fixture(folder.path());
        assert!(cores(&roots).is_err());
        std::fs::create_dir(&roots.proc).unwrap();
        let text = "cpu  9 9\ncpu0 1 2\ncpu2 1 2\nintr 5\n";
        std::fs::write(roots.proc.join("stat"), text).unwrap();
        assert_eq!(cores(&roots).unwrap(), [0, 2]);
    }

    #[test]
    fn what_some_cores_do_not_count_is_counted_on_none() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::fixture(folder.path());
        std::fs::create_dir(&roots.proc).unwrap();
        std::fs::write(roots.proc.join("stat"), "cpu  9 9\ncpu0 1 2\ncpu4095 1 2\n").unwrap();
        let event: Event = serde_json::from_value("page-faults".into()).unwrap();
        let sampler = CountersSampler::open(&roots, &[event], &[]).unwrap();
        assert!(sampler.cells.is_empty());
        let missing = sampler.missing_columns();
        let [(name, why)] = missing.as_slice() else { panic!("{missing:?}") };
        assert_eq!(*name, "page-faults");
        assert!(why.starts_with("PU ") && why.ends_with("(perf_event_open)"), "{why}");
    }

    #[test]
    fn without_events_there_is_no_table() {
        let Err(NotMeasured(reason)) = CountersSampler::open(&Roots::machine(), &[], &[]) else {
            panic!("it opened");
        };
        assert_eq!(reason, "the plan gives no events");
    }
}
