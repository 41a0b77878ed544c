//! Which process holds a socket (proc_pid_fd(5)).

use anyhow::{Context, Result};
use procfs::process::{FDTarget, Process, all_processes};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// So many processes are asked first, who had sockets last.
const MOST_RECENT: usize = 32;
/// A process has no more above it.
const DEEPEST: usize = 64;

pub(super) struct Owners {
    namespace: PathBuf,
    /// Who had sockets last, the latest first.
    recent: Vec<i32>,
}

impl Owners {
    pub(super) fn new() -> Result<Self> {
        let namespace = std::fs::read_link("/proc/self/ns/net");
        let namespace = namespace.context("cannot tell this network namespace")?;
        Ok(Self { namespace, recent: Vec::new() })
    }

    /// The processes that hold these sockets: each with those above it, nearest first.
    pub(super) fn of(&mut self, inodes: &[u64]) -> HashMap<u64, Vec<i32>> {
        let mut sought: HashSet<u64> = inodes.iter().copied().collect();
        let mut found = HashMap::new();
        self.ask_recent(&mut sought, &mut found);
        if !sought.is_empty() {
            for process in all_processes().into_iter().flatten().flatten() {
                if self.is_here(process.pid) {
                    self.ask(process.pid, &mut sought, &mut found);
                }
            }
        }
        found
    }

    /// The same of one socket, by those only who had some last: that is quick.
    pub(super) fn soon(&mut self, inode: u64) -> Option<Vec<i32>> {
        let mut found = HashMap::new();
        self.ask_recent(&mut HashSet::from([inode]), &mut found);
        found.remove(&inode)
    }

    fn ask_recent(&mut self, sought: &mut HashSet<u64>, found: &mut HashMap<u64, Vec<i32>>) {
        for pid in self.recent.clone() {
            self.ask(pid, sought, found);
        }
    }

    /// Those in other namespaces are asked in vain, but for the one that started this: it may have
    /// sockets here.
    fn is_here(&self, pid: i32) -> bool {
        let its = std::fs::read_link(format!("/proc/{pid}/ns/net"));
        its.is_ok_and(|its| its == self.namespace)
            || pid == std::os::unix::process::parent_id() as i32
    }

    fn ask(&mut self, pid: i32, sought: &mut HashSet<u64>, found: &mut HashMap<u64, Vec<i32>>) {
        if sought.is_empty() {
            return;
        }
        // One that has ended meanwhile, or may not be looked at, holds none that can be known.
        let Ok(descriptors) = Process::new(pid).and_then(|process| process.fd()) else { return };
        let mut line = None;
        for descriptor in descriptors.flatten() {
            let FDTarget::Socket(inode) = descriptor.target else { continue };
            if sought.remove(&inode) {
                let line = line.get_or_insert_with(|| lineage(pid));
                found.insert(inode, line.clone());
            }
        }
        if line.is_some() {
            self.recent.retain(|&it| it != pid);
            self.recent.insert(0, pid);
            self.recent.truncate(MOST_RECENT);
        }
    }
}

/// A process and those above it, without the first of all.
fn lineage(pid: i32) -> Vec<i32> {
    let above = |&pid: &i32| Process::new(pid).and_then(|it| it.stat()).ok().map(|it| it.ppid);
    let line = std::iter::successors(Some(pid), above);
    line.take_while(|&pid| pid > 1).take(DEEPEST).collect()
}
