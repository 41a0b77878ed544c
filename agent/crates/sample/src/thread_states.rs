//! How many threads of a control group run, wait for a device or are stopped, as the kernel counts
//! them in one go: cgroupstats (kernel's Documentation/accounting/cgroupstats.rst), which it has for
//! control groups of version 1.

use crate::netlink::{HEADER, Netlink, attributes, cut, header, u16_at, u64_at};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

const NETLINK_GENERIC: i32 = 16;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CGROUPSTATS_CMD_GET: u8 = 4;
const CGROUPSTATS_CMD_ATTR_FD: u16 = 1;
const CGROUPSTATS_TYPE_CGROUP_STATS: u16 = 1;
/// A `struct genlmsghdr`.
const GENERIC: usize = 4;

/// Threads of a control group, by what they do at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadStates {
    /// On a core or waiting for one.
    pub running: i64,
    /// In a sleep that no signal ends: of a device, mostly.
    pub blocked: i64,
    /// Stopped by a signal.
    pub stopped: i64,
}

/// A netlink socket that asks for them.
pub struct StateCounter {
    netlink: Netlink,
    family: u16,
}

impl StateCounter {
    /// Opens the socket; fails where the kernel keeps no task statistics. It tells them only to the
    /// machine's own network namespace, in which the socket is opened if this is another.
    pub fn open() -> io::Result<Self> {
        match Self::open_here() {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {
                in_namespace_of_init(Self::open_here)
            }
            opened => opened,
        }
    }

    fn open_here() -> io::Result<Self> {
        let mut netlink = Netlink::open(NETLINK_GENERIC)?;
        let request =
            request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0");
        let mut family = None;
        netlink.ask(&request, 1, |_, answer| {
            let id = attribute(answer?, CTRL_ATTR_FAMILY_ID);
            family = id.and_then(|id| u16_at(id, 0));
            Ok(())
        })?;
        Ok(Self { netlink, family: family.ok_or_else(cut)? })
    }

    /// Counts the threads of the group whose folder this is.
    pub fn count(&mut self, folder: &File) -> io::Result<ThreadStates> {
        let fd = folder.as_raw_fd().to_ne_bytes();
        let request = request(self.family, CGROUPSTATS_CMD_GET, CGROUPSTATS_CMD_ATTR_FD, &fd);
        let mut states = None;
        let asked = self.netlink.ask(&request, 1, |_, answer| {
            states = attribute(answer?, CGROUPSTATS_TYPE_CGROUP_STATS).and_then(parsed);
            Ok(())
        });
        asked.and_then(|()| states.ok_or_else(cut))
    }
}

/// Does something in the first process's network namespace, on a thread that ends there.
fn in_namespace_of_init<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let there = || {
        let namespace = File::open("/proc/1/ns/net")?;
        // SAFETY: setns takes a descriptor, which is open, and no pointer.
        match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
            0 => work(),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let panicked = |_| io::Error::other("the thread in the machine's network namespace failed");
    std::thread::scope(|scope| scope.spawn(there).join().map_err(panicked)?)
}

/// A `struct cgroupstats`. Waits for a device that a kill may end are counted apart.
fn parsed(stats: &[u8]) -> Option<ThreadStates> {
    let count = |at: usize| Some(u64_at(stats, at * 8)? as i64);
    let (running, stopped) = (count(1)?, count(2)?);
    Some(ThreadStates { running, blocked: count(3)? + count(4)?, stopped })
}

fn attribute(body: &[u8], wanted: u16) -> Option<&[u8]> {
    let found = attributes(body.get(GENERIC..)?).find(|(kind, _)| *kind == wanted);
    found.map(|(_, value)| value)
}

fn request(family: u16, command: u8, attribute: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let body = GENERIC + length.next_multiple_of(4);
    let mut bytes = header(family, 0, 0, body).to_vec();
    bytes.extend([command, 1, 0, 0]);
    bytes.extend((length as u16).to_ne_bytes());
    bytes.extend(attribute.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(HEADER + body, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_answer_counts_nothing() {
        let stats: Vec<u8> = (1..=5u64).flat_map(u64::to_ne_bytes).collect();
        let whole = ThreadStates { running: 2, stopped: 3, blocked: 4 + 5 };
        assert_eq!(parsed(&stats), Some(whole));
        for length in 0..stats.len() {
            assert_eq!(parsed(&stats[..length]), None, "{length}");
        }
    }

    #[test]
    fn the_threads_of_the_root_group_run_here() {
        let mut counter = match StateCounter::open() {
            Ok(counter) => counter,
            Err(error) => {
                assert_eq!(error.raw_os_error(), Some(libc::ENOENT), "no task statistics: {error}");
                return;
            }
        };
        let Ok(root) = File::open("/sys/fs/cgroup/cpuacct") else { return };
        let states = counter.count(&root).unwrap();
        assert!(states.running >= 1, "{states:?}: this very thread runs");
        assert!(counter.count(&File::open("/").unwrap()).is_err(), "no control group");
        assert_eq!(counter.count(&root).unwrap().stopped, states.stopped, "it goes on");
    }
}
