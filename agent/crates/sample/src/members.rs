//! Which processes belong to a subject: those of its control group, and those the plan gives with
//! whoever descends from them.

use crate::awaited_file::AwaitedFile;
use crate::family::Family;
use crate::plan::Subject;
use crate::text::{lines, number};
use std::path::Path;
use tierlab_record::clock::Moment;

/// The processes of one subject.
pub struct Members {
    name: String,
    procs: Option<AwaitedFile>,
    family: Family,
    pids: Vec<i32>,
}

impl Members {
    /// Of each of the plan's subjects.
    pub fn of_all(subjects: &[Subject], proc: &Path) -> Vec<Self> {
        let given: Vec<i32> = subjects.iter().flat_map(|subject| &subject.pids).copied().collect();
        subjects.iter().map(|subject| Self::of(subject, proc, &given)).collect()
    }

    fn of(subject: &Subject, proc: &Path, given: &[i32]) -> Self {
        let folder = subject.cgroups.members();
        let procs = folder.map(|folder| AwaitedFile::new(folder.join("cgroup.procs")));
        let family = Family::of(proc, &subject.pids, given);
        Self { name: subject.name.clone(), procs, family, pids: Vec::new() }
    }

    /// The subject's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True when it can have no process: the plan gives none and no control group.
    pub fn never(&self) -> bool {
        self.procs.is_none() && self.family.is_empty()
    }

    /// Lists the processes now, each once; returns how many there are.
    pub fn list(&mut self, now: Moment) -> usize {
        self.pids.clear();
        self.pids.extend_from_slice(self.family.look());
        let family = self.pids.len();
        if let Some(text) = self.procs.as_mut().and_then(|procs| procs.read_anew(now)) {
            // 0 is a process of another pid namespace, which cannot be read from here.
            let pids = lines(text).filter_map(number).map(|pid| pid as i32);
            for pid in pids.filter(|pid| *pid != 0) {
                if !self.pids[..family].contains(&pid) {
                    self.pids.push(pid);
                }
            }
        }
        self.pids.len()
    }

    /// One of the processes listed last.
    pub fn pid(&self, at: usize) -> i32 {
        self.pids[at]
    }

    /// A process has ended: another that gets its number later is not the subject's.
    pub fn forget(&mut self, pid: i32) {
        self.family.forget(pid);
    }
}
