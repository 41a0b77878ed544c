//! A subject's processes and control groups.

use crate::plan::Target;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

impl Target {
    /// The domain's processes at this moment: those in its control groups or, without any, those
    /// given and their descendants. An empty answer is an error.
    pub fn processes(&self) -> Result<Vec<i32>> {
        let mut found: BTreeSet<i32> =
            self.cgroups.folders().iter().flat_map(|folder| members(folder)).collect();
        if found.is_empty() {
            self.pids.iter().for_each(|pid| add_family(*pid, &mut found));
        }
        ensure!(!found.is_empty(), "no process runs in the domain (`cgroups`, `pids`)");
        Ok(found.into_iter().collect())
    }
}

fn members(folder: &Path) -> Vec<i32> {
    let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    listed.lines().filter_map(|line| line.parse().ok()).collect()
}

fn add_family(pid: i32, family: &mut BTreeSet<i32>) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    if !family.insert(pid) {
        return;
    }
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            add_family(child, family);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_control_groups_the_family_of_a_process_is_the_domain() {
        let mut child =
            std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let target = Target { pids: vec![child.id() as i32], ..Target::default() };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while target.processes().unwrap().len() < 2 {
            assert!(std::time::Instant::now() < deadline, "the grandchild was not found");
        }
        for pid in target.processes().unwrap() {
            // SAFETY: no pointer is passed.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        child.wait().unwrap();
        assert!(target.processes().is_err());
    }
}
