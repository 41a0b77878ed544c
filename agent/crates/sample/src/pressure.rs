//! Table `pressure`: pressure stall information (kernel's Documentation/accounting/psi.rst) of the
//! host and of the subjects' control groups (version 2 only). `full` of the host's CPU is null: the
//! kernel prints a zero there that means nothing.
//!
//! What stalls a group's tasks stalls the host's, of whom they are: while the host's total of a
//! resource stands still, the groups' are read only once a second, to see whether they are there.

use crate::awaited_file::AwaitedFile;
use crate::counter::{Share, increase};
use crate::events::EventLog;
use crate::plan::Subject;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::text::{lines, number};
use std::path::PathBuf;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Pressure, PressureRow};

const RESOURCES: [&str; 4] = ["cpu", "memory", "io", "irq"];
const SLOW_NS: i64 = 1_000_000_000;

/// Samples pressure files.
pub struct PressureSampler {
    host: Vec<Source>,
    groups: Vec<Source>,
}

struct Source {
    subject: String,
    /// Its place in `RESOURCES`.
    resource: usize,
    file: AwaitedFile,
    before: Option<(Moment, Totals)>,
    slow_due_ns: i64,
    shares: [Share; 2],
}

/// Microseconds stalled since boot.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    some: Option<u64>,
    full: Option<u64>,
}

impl PressureSampler {
    /// Opens the host's files and remembers where the subjects' will be.
    pub fn open(roots: &Roots, subjects: &[Subject]) -> Result<Self, NotMeasured> {
        let folder = roots.proc.join("pressure");
        let resources = || RESOURCES.into_iter().enumerate();
        let host: Vec<Source> = resources()
            .map(|(resource, name)| Source::new("host", resource, folder.join(name)))
            // Opening succeeds with psi=0 too; only reading tells.
            .filter(|source| std::fs::read(source.file.path()).is_ok())
            .collect();
        let mut groups = Vec::new();
        for subject in subjects {
            let Some(folder) = &subject.cgroups.unified else { continue };
            groups.extend(resources().map(|(resource, name)| {
                Source::new(&subject.name, resource, folder.join(format!("{name}.pressure")))
            }));
        }
        if host.is_empty() && groups.is_empty() {
            return Err(NotMeasured(format!(
                "{} cannot be read: the kernel has no pressure stall information or was started \
                 with psi=0",
                folder.display()
            )));
        }
        Ok(Self { host, groups })
    }
}

impl Sampler for PressureSampler {
    type Table = Pressure;

    fn sample(&mut self, now: Moment, table: &mut Pressure, _events: &mut EventLog) {
        let mut grew = [true; RESOURCES.len()];
        for source in &mut self.host {
            grew[source.resource] = source.sample(now, true, table);
        }
        for source in &mut self.groups {
            source.sample(now, grew[source.resource], table);
        }
    }
}

impl Source {
    fn new(subject: &str, resource: usize, path: PathBuf) -> Self {
        Self {
            subject: subject.to_owned(),
            resource,
            file: AwaitedFile::new(path),
            before: None,
            slow_due_ns: i64::MIN,
            shares: Default::default(),
        }
    }

    /// Pushes its row; false when its totals are known not to have grown.
    fn sample(&mut self, now: Moment, may_have_grown: bool, table: &mut Pressure) -> bool {
        let totals = match self.before {
            Some((_, before)) if !may_have_grown && now.monotonic_ns < self.slow_due_ns => {
                Some(before)
            }
            _ => self.read(now),
        };
        let Some(totals) = totals else {
            self.before = None;
            return true;
        };
        let Some((earlier, before)) = self.before.replace((now, totals)) else { return true };
        let dt_ns = now.since(earlier);
        let mut share = |which: usize, before: Option<u64>, now: Option<u64>| {
            let stalled_us = increase(before?, now?)?;
            Some(self.shares[which].of(stalled_us as i64 * 1000, dt_ns))
        };
        table.push(PressureRow {
            t_ns: now.t_ns,
            dt_ns,
            subject: &self.subject,
            resource: RESOURCES[self.resource],
            some: share(0, before.some, totals.some),
            full: share(1, before.full, totals.full),
        });
        before != totals
    }

    fn read(&mut self, now: Moment) -> Option<Totals> {
        self.slow_due_ns = now.monotonic_ns + SLOW_NS;
        let text = self.file.read(now)?;
        let mut totals = totals(text);
        if RESOURCES[self.resource] == "cpu" && self.subject == "host" {
            totals.full = None;
        }
        Some(totals)
    }
}

/// Of `some avg10=0.00 avg60=0.00 avg300=0.00 total=33188256` and the like line with `full`.
fn totals(text: &[u8]) -> Totals {
    let mut totals = Totals::default();
    for line in lines(text) {
        let total = line
            .iter()
            .rposition(|byte| *byte == b'=')
            .and_then(|equals| number(&line[equals + 1..]));
        if line.starts_with(b"some ") {
            totals.some = total;
        } else if line.starts_with(b"full ") {
            totals.full = total;
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Place;
    use tierlab_record::priority::Role;
    use tierlab_record::{WhenFull, Writer};

    /// The group's total is read again when the host's grew, and a second later at the latest.
    #[test]
    fn a_group_is_read_when_the_host_has_stalled() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        for made in [folder.path().join("proc/pressure"), group.clone()] {
            std::fs::create_dir_all(made).unwrap();
        }
        let write = |host: u64, of_group: u64| {
            let text = |total| format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\n");
            std::fs::write(folder.path().join("proc/pressure/io"), text(host)).unwrap();
            std::fs::write(group.join("io.pressure"), text(of_group)).unwrap();
        };
        write(100, 10);
        let mut subject: Subject = serde_json::from_str(r#"{"name": "db.1"}"#).unwrap();
        subject.cgroups.unified = Some(group.clone());
        let roots = Roots::fixture(folder.path());
        let mut sampler = PressureSampler::open(&roots, &[subject]).unwrap();
        let writer = Writer::start(WhenFull::Drop, Role::Ordinary).unwrap();
        let place = Place { writer: &writer, folder: folder.path() };
        let mut events = EventLog::create(place).unwrap();
        let mut table = Pressure::default();
        let mut group_total_at = |ms: i64, host: u64, of_group: u64| {
            write(host, of_group);
            let now = Moment { t_ns: 0, monotonic_ns: ms * 1_000_000 };
            sampler.sample(now, &mut table, &mut events);
            let io = |source: &&Source| source.resource == 2;
            sampler.groups.iter().find(io).unwrap().before.unwrap().1.some.unwrap()
        };
        assert_eq!(group_total_at(0, 100, 10), 10);
        assert_eq!(group_total_at(50, 100, 11), 10, "the host stood still");
        assert_eq!(group_total_at(100, 101, 12), 12);
        assert_eq!(group_total_at(150, 101, 13), 12);
        assert_eq!(group_total_at(1100, 101, 13), 13, "a second later");
    }
}
