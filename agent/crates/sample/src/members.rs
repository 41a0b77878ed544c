//! Which processes belong to a subject: those of its control group and those the plan gives.

use crate::awaited_file::AwaitedFile;
use crate::plan::Subject;
use crate::text::{lines, number};
use tierlab_record::clock::Moment;

/// The processes of one subject.
pub struct Members {
    name: String,
    procs: Option<AwaitedFile>,
    given: Vec<i32>,
    pids: Vec<i32>,
}

impl Members {
    /// Of the plan's subject.
    pub fn of(subject: &Subject) -> Self {
        let folder = subject.cgroups.members();
        let procs = folder.map(|folder| AwaitedFile::new(folder.join("cgroup.procs")));
        Self { name: subject.name.clone(), procs, given: subject.pids.clone(), pids: Vec::new() }
    }

    /// The subject's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True when it can have no process: the plan gives none and no control group.
    pub fn never(&self) -> bool {
        self.procs.is_none() && self.given.is_empty()
    }

    /// Lists the processes now; returns how many there are.
    pub fn list(&mut self, now: Moment) -> usize {
        self.pids.clear();
        self.pids.extend_from_slice(&self.given);
        if let Some(text) = self.procs.as_mut().and_then(|procs| procs.read_anew(now)) {
            // 0 is a process of another pid namespace, which cannot be read from here.
            let pids = lines(text).filter_map(number).map(|pid| pid as i32);
            self.pids.extend(pids.filter(|pid| *pid != 0));
        }
        self.pids.len()
    }

    /// One of the processes listed last.
    pub fn pid(&self, at: usize) -> i32 {
        self.pids[at]
    }

    /// A given process has ended: another that gets its number later is not the subject's.
    pub fn forget(&mut self, pid: i32) {
        self.given.retain(|given| *given != pid);
    }
}
