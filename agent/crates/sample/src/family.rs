//! Given processes and whoever descends from them, from the children of each of their threads
//! (`/proc/<pid>/task/<tid>/children`, proc_tid_children(5)).
//!
//! A server's session does not tell them: every child of PostgreSQL's first process has one of its
//! own.

use crate::kernel_file::KernelFile;
use crate::text::{number, words};
use std::fs;
use std::path::{Path, PathBuf};

/// All threads of a process are asked for children once in so many looks, its first one at each:
/// it is the one that forks, mostly, and a file for each thread would cost half as much as its sample.
const SELDOM: u32 = 10;

/// Processes with their descendants.
pub struct Family {
    proc: PathBuf,
    known: Vec<i32>,
    /// Given here or to another subject, whose they stay though they descend from ours.
    given: Vec<i32>,
    looks: u32,
}

impl Family {
    /// Of `pids`; `given` are those of all subjects.
    pub fn of(proc: &Path, pids: &[i32], given: &[i32]) -> Self {
        let mut known = pids.to_vec();
        known.sort_unstable();
        known.dedup();
        Self { proc: proc.to_owned(), known, given: given.to_vec(), looks: 0 }
    }

    /// True when nobody is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Takes in the descendants that came; gives the processes known now. Who was found once stays
    /// known though its parent ends, until it is forgotten.
    pub fn look(&mut self) -> &[i32] {
        let thorough = self.looks.is_multiple_of(SELDOM);
        self.looks = self.looks.wrapping_add(1);
        let mut at = 0;
        while at < self.known.len() {
            for child in self.children(self.known[at], thorough) {
                if !self.known.contains(&child) && !self.given.contains(&child) {
                    self.known.push(child);
                }
            }
            at += 1;
        }
        &self.known
    }

    /// A process has ended: another that gets its number later is none of the family.
    pub fn forget(&mut self, pid: i32) {
        self.known.retain(|known| *known != pid);
    }

    fn children(&self, pid: i32, thorough: bool) -> Vec<i32> {
        let tasks = self.proc.join(format!("{pid}/task"));
        if !thorough {
            return children_of(&tasks.join(pid.to_string()));
        }
        let Ok(tasks) = fs::read_dir(tasks) else { return Vec::new() };
        tasks.flatten().flat_map(|task| children_of(&task.path())).collect()
    }
}

/// The children that a thread has; those of one that ended are another thread's.
fn children_of(task: &Path) -> Vec<i32> {
    let file = KernelFile::open_small(&task.join("children"), 256);
    let Ok(mut file) = file else { return Vec::new() };
    let Ok(text) = file.read_records() else { return Vec::new() };
    words(text).filter_map(number).map(|pid| pid as i32).filter(|pid| *pid != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    const PROC: &str = "/proc";

    fn shell(script: &str) -> (Child, i32) {
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let pid = child.id() as i32;
        (child, pid)
    }

    /// The family once it has so many members.
    fn grown(family: &mut Family, members: usize) -> Vec<i32> {
        let deadline = Instant::now() + Duration::from_secs(30);
        while family.look().len() < members {
            assert!(Instant::now() < deadline, "{members} members were not found");
            std::thread::sleep(Duration::from_millis(1));
        }
        family.look().to_vec()
    }

    fn kill(pid: i32) {
        // SAFETY: no pointer is passed.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }

    #[test]
    fn who_has_a_session_of_its_own_is_found_and_stays_when_its_parent_ends() {
        let (mut child, pid) = shell("setsid sh -c 'sleep 60 & wait' & wait");
        let mut family = Family::of(Path::new(PROC), &[pid], &[pid]);
        let members = grown(&mut family, 3);
        kill(pid);
        child.wait().unwrap();
        family.forget(pid);
        assert_eq!(family.look(), &members[1..]);
        members[1..].iter().for_each(|pid| kill(*pid));
    }

    #[test]
    fn a_descendant_that_is_given_to_another_subject_stays_that_ones() {
        let (mut child, pid) = shell("sh -c 'sleep 60 & wait' & wait");
        let all = grown(&mut Family::of(Path::new(PROC), &[pid], &[pid]), 3);
        let given = [pid, all[1]];
        assert_eq!(Family::of(Path::new(PROC), &[pid], &given).look(), [pid]);
        assert_eq!(Family::of(Path::new(PROC), &given[1..], &given).look(), &all[1..]);
        let mut both = Family::of(Path::new(PROC), &[all[1], pid, pid], &given);
        assert_eq!(both.look().len(), 3, "none is listed twice");
        all.iter().for_each(|pid| kill(*pid));
        child.wait().unwrap();
    }

    #[test]
    fn children_of_other_threads_are_found_too_but_more_seldom() {
        let folder = tempfile::tempdir().unwrap();
        let task = |pid: i32, tid: i32, children: &str| {
            let task = folder.path().join(format!("{pid}/task/{tid}"));
            fs::create_dir_all(&task).unwrap();
            fs::write(task.join("children"), children).unwrap();
        };
        task(100, 100, "");
        let mut family = Family::of(folder.path(), &[100], &[100]);
        assert_eq!(family.look(), [100]);
        task(100, 100, "200 201 ");
        task(100, 101, "300 ");
        assert_eq!(family.look(), [100, 200, 201]);
        (2..SELDOM).for_each(|_| assert_eq!(family.look().len(), 3));
        assert_eq!(family.look(), [100, 200, 201, 300]);
    }
}
