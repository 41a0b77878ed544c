//! The threads of one process: how long each ran and how long it waited to run, from
//! `/proc/<pid>/task/<tid>/schedstat` (kernel's Documentation/scheduler/sched-stats.rst).

use crate::counter::grown;
use crate::kernel_file::KernelFile;
use crate::text::{number, words};
use std::path::{Path, PathBuf};
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Process as ProcessTable, ProcessRow};

/// A process's threads.
pub struct Threads {
    tasks: PathBuf,
    threads: Vec<Thread>,
    /// The number of threads when they were listed. As long as it stays and none of them ends,
    /// listing them again would show the same.
    listed: Option<u64>,
}

struct Thread {
    tid: i32,
    name: String,
    schedstat: KernelFile,
    before: Option<(Moment, Schedstat)>,
}

/// Nanoseconds on a core, and nanoseconds runnable without one.
#[derive(Clone, Copy)]
struct Schedstat {
    run_ns: Option<u64>,
    wait_ns: Option<u64>,
}

impl Threads {
    /// Of the process whose folder in /proc this is.
    pub fn of(folder: &Path) -> Self {
        Self { tasks: folder.join("task"), threads: Vec::new(), listed: None }
    }

    /// Pushes a row for each thread, made from `row`; returns how long they all waited, those that
    /// came since the last time included. `count` is the number of threads now.
    pub fn sample<'a>(
        &mut self,
        now: Moment,
        count: u64,
        row: impl Fn(Moment) -> ProcessRow<'a>,
        table: &mut ProcessTable,
    ) -> Option<i64> {
        let first = self.listed.is_none();
        if self.listed != Some(count) {
            self.listed = Some(count);
            self.list();
        }
        let mut waited = (!first && !self.threads.is_empty()).then_some(0);
        let before = self.threads.len();
        self.threads.retain_mut(|thread| {
            let Some(stat) = thread.read() else { return false };
            let Some((earlier, before)) = thread.before.replace((now, stat)) else {
                waited = waited.zip(stat.wait_ns).map(|(sum, ns)| sum + ns as i64);
                return true;
            };
            let wait_ns = grown(before.wait_ns, stat.wait_ns, 1);
            waited = waited.zip(wait_ns).map(|(sum, ns)| sum + ns);
            if thread.name.is_empty() {
                thread.name = name(&self.tasks, thread.tid);
            }
            table.push(ProcessRow {
                thread: Some(i64::from(thread.tid)),
                name: &thread.name,
                run_ns: grown(before.run_ns, stat.run_ns, 1),
                wait_ns,
                ..row(earlier)
            });
            true
        });
        if self.threads.len() < before {
            self.listed = Some(u64::MAX);
        }
        waited
    }

    /// Takes in the threads that are not known yet.
    fn list(&mut self) {
        let Ok(tasks) = std::fs::read_dir(&self.tasks) else { return };
        for tid in tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()) {
            if self.threads.iter().any(|known| known.tid == tid) {
                continue;
            }
            let path = self.tasks.join(format!("{tid}/schedstat"));
            // One that cannot be opened has ended since it was listed.
            if let Ok(schedstat) = KernelFile::open_small(&path, 64) {
                let (name, before) = (String::new(), None);
                self.threads.push(Thread { tid, name, schedstat, before });
            }
        }
    }
}

impl Thread {
    /// `None` when it has ended.
    fn read(&mut self) -> Option<Schedstat> {
        let mut numbers = words(self.schedstat.read().ok()?).map(number);
        let (run_ns, wait_ns) = (numbers.next().flatten(), numbers.next().flatten());
        Some(Schedstat { run_ns, wait_ns })
    }
}

/// A thread's own name. It is read for its first row, some time after it has begun, since it is
/// named only then.
fn name(tasks: &Path, tid: i32) -> String {
    let comm = std::fs::read_to_string(tasks.join(format!("{tid}/comm")));
    comm.map_or_else(|_| "?".to_owned(), |comm| comm.trim_end().to_owned())
}
