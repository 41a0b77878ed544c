//! Which process holds a socket (proc_pid_fd(5)).
//!
//! The kernel does not say which process holds a socket, so this searches the processes' lists of
//! descriptors. A list of thousands takes some ten milliseconds, so each kind of search has a
//! [`Budget`].

use super::budget::Budget;
use anyhow::{Context, Result};
use procfs::process::{FDTarget, Process};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use tierlab_record::clock::thread_cpu_ns;

/// So many processes are asked first, who had sockets last.
const MOST_RECENT: usize = 32;
/// A process has no more above it.
const DEEPEST: usize = 64;
/// After so much CPU time the rest of a list is not read.
const LONGEST_NS: i64 = 250_000_000;
/// So many descriptors are read before the time is looked at.
const AT_ONCE: usize = 1_024;

pub(super) struct Owners {
    processes: Processes,
    /// For each new connection: those who had sockets last.
    for_recent: Budget,
    /// For each new connection of none of these: all others.
    for_others: Budget,
    /// For all that the table of sockets shows.
    for_table: Budget,
}

/// Sockets, and the processes that were found to hold them.
#[derive(Default)]
pub(super) struct Search {
    sought: HashSet<u64>,
    /// Of a socket: the process that holds it and those above it, nearest first.
    pub owners: HashMap<u64, Vec<i32>>,
    /// Some list was not read, or not to its end.
    pub is_cut: bool,
    /// The budget is used up.
    is_exhausted: bool,
}

impl Search {
    fn of(inodes: impl IntoIterator<Item = u64>) -> Self {
        Self { sought: inodes.into_iter().collect(), ..Self::default() }
    }

    fn is_over(&self) -> bool {
        self.is_exhausted || self.sought.is_empty()
    }

    /// Whether the budget allows another list to be read; otherwise the search is over.
    fn may_go_on(&mut self, budget: &mut Budget) -> bool {
        if !budget.is_left() {
            (self.is_cut, self.is_exhausted) = (true, true);
        }
        !self.is_exhausted
    }
}

impl Owners {
    pub(super) fn new() -> Result<Self> {
        let namespace = std::fs::read_link("/proc/self/ns/net");
        let namespace = namespace.context("cannot tell this network namespace")?;
        Ok(Self {
            processes: Processes { namespace, recent: Vec::new(), resume_at: 0 },
            for_recent: Budget::new(),
            for_others: Budget::new(),
            for_table: Budget::new(),
        })
    }

    /// Pays for asking the kernel for a new connection's socket; none if that may not be done now.
    pub(super) fn look_up<T>(&mut self, work: impl FnOnce() -> T) -> Option<T> {
        self.for_recent.is_left().then(|| self.for_recent.pay_for(work))
    }

    /// Searches for the owner of a new connection's socket.
    pub(super) fn of_new(&mut self, inode: u64) -> Search {
        let mut search = Search::of([inode]);
        self.processes.ask_recent(&mut search, &mut self.for_recent);
        self.processes.ask_others(&mut search, &mut self.for_others);
        search
    }

    /// Searches for the owners of sockets that the table of sockets shows.
    pub(super) fn of_all(&mut self, inodes: impl IntoIterator<Item = u64>) -> Search {
        let mut search = Search::of(inodes);
        self.processes.ask_recent(&mut search, &mut self.for_table);
        self.processes.ask_others(&mut search, &mut self.for_table);
        search
    }
}

/// The processes whose lists are searched, and in which order.
struct Processes {
    namespace: PathBuf,
    /// Who had sockets last, the latest first.
    recent: Vec<i32>,
    /// A search among all came this far before it was cut: the next one begins here.
    resume_at: i32,
}

impl Processes {
    fn ask_recent(&mut self, search: &mut Search, budget: &mut Budget) {
        for pid in self.recent.clone() {
            if search.is_over() || !search.may_go_on(budget) {
                return;
            }
            budget.pay_for(|| self.ask(pid, search));
        }
    }

    /// Asks all who are not among the recent ones.
    fn ask_others(&mut self, search: &mut Search, budget: &mut Budget) {
        if search.is_over() || !search.may_go_on(budget) {
            return;
        }
        let others = budget.pay_for(|| self.others());
        for pid in others {
            if search.is_over() {
                return;
            }
            if !search.may_go_on(budget) {
                self.resume_at = pid;
                return;
            }
            budget.pay_for(|| {
                if self.is_here(pid) {
                    self.ask(pid, search);
                }
            });
        }
    }

    /// All who are not among the recent ones, from where the last search was cut.
    fn others(&self) -> Vec<i32> {
        let mut others: Vec<i32> = all().filter(|pid| !self.recent.contains(pid)).collect();
        others.sort_unstable();
        let first = others.partition_point(|&pid| pid < self.resume_at);
        others.rotate_left(first);
        others
    }

    /// Those in other namespaces are asked in vain, but for the one that started this: it may have
    /// sockets here.
    fn is_here(&self, pid: i32) -> bool {
        let its = std::fs::read_link(format!("/proc/{pid}/ns/net"));
        its.is_ok_and(|its| its == self.namespace)
            || pid == std::os::unix::process::parent_id() as i32
    }

    fn ask(&mut self, pid: i32, search: &mut Search) {
        // One that has ended meanwhile, or may not be looked at, holds none that can be known.
        let Ok(descriptors) = Process::new(pid).and_then(|process| process.fd()) else { return };
        let (mut line, began_ns) = (None, thread_cpu_ns());
        for (number, descriptor) in descriptors.flatten().enumerate() {
            if number % AT_ONCE == AT_ONCE - 1 && thread_cpu_ns() - began_ns > LONGEST_NS {
                search.is_cut = true;
                break;
            }
            if let FDTarget::Socket(inode) = descriptor.target
                && search.sought.remove(&inode)
            {
                let line = line.get_or_insert_with(|| lineage(pid));
                search.owners.insert(inode, line.clone());
            }
            if search.sought.is_empty() {
                break;
            }
        }
        if line.is_some() {
            self.recent.retain(|&it| it != pid);
            self.recent.insert(0, pid);
            self.recent.truncate(MOST_RECENT);
        }
    }
}

/// The processes that there are.
fn all() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A process and those above it, without the first of all.
fn lineage(pid: i32) -> Vec<i32> {
    let above = |&pid: &i32| Process::new(pid).and_then(|it| it.stat()).ok().map(|it| it.ppid);
    let line = std::iter::successors(Some(pid), above);
    line.take_while(|&pid| pid > 1).take(DEEPEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// To list all processes takes a while, too.
    #[test]
    fn a_search_without_a_budget_takes_no_time() {
        let mut owners = Owners::new().expect("allowed");
        while owners.for_others.is_left() {
            let began_ns = thread_cpu_ns();
            owners.for_others.pay_for(|| while thread_cpu_ns() - began_ns < 400_000_000 {});
        }
        let began_ns = thread_cpu_ns();
        for _ in 0..2_000 {
            assert!(owners.of_new(u64::MAX).is_cut, "nobody holds this socket");
        }
        let spent_ms = (thread_cpu_ns() - began_ns) / 1_000_000;
        assert!(spent_ms < 100, "2,000 searches took {spent_ms} ms of CPU time");
    }
}
