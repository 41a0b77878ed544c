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
    requests: Vec<u8>,
    asked: usize,
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
        let mut requests = Vec::new();
        let name = (CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0".as_slice());
        add_request(&mut requests, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, name);
        let mut family = None;
        netlink.ask(&requests, 1, |_, answer| {
            let id = attribute(answer?, CTRL_ATTR_FAMILY_ID);
            family = id.and_then(|id| u16_at(id, 0));
            Ok(())
        })?;
        requests.clear();
        Ok(Self { netlink, family: family.ok_or_else(cut)?, requests, asked: 0 })
    }

    /// Asks for the threads of the group whose folder this is; all that is asked goes out at once.
    pub fn ask(&mut self, number: u32, folder: &File) {
        let fd = folder.as_raw_fd().to_ne_bytes();
        let folder = (CGROUPSTATS_CMD_ATTR_FD, fd.as_slice());
        add_request(&mut self.requests, self.family, CGROUPSTATS_CMD_GET, number, folder);
        self.asked += 1;
    }

    /// Calls `each` with the number and the threads of the groups that were asked for, without those
    /// that are none (any more).
    pub fn answers(&mut self, mut each: impl FnMut(usize, ThreadStates)) -> io::Result<()> {
        let asked = std::mem::take(&mut self.asked);
        if asked == 0 {
            return Ok(());
        }
        let answered = self.netlink.ask(&self.requests, asked, |number, answer| {
            if let Ok(body) = answer {
                let states = attribute(body, CGROUPSTATS_TYPE_CGROUP_STATS).and_then(parsed);
                each(number, states.ok_or_else(cut)?);
            }
            Ok(())
        });
        self.requests.clear();
        answered
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

/// Appends a request with one attribute.
fn add_request(
    requests: &mut Vec<u8>,
    family: u16,
    command: u8,
    number: u32,
    (attribute, value): (u16, &[u8]),
) {
    let length = 4 + value.len();
    let body = GENERIC + length.next_multiple_of(4);
    let end = requests.len() + HEADER + body;
    requests.extend(header(family, 0, number, body));
    requests.extend([command, 1, 0, 0]);
    requests.extend((length as u16).to_ne_bytes());
    requests.extend(attribute.to_ne_bytes());
    requests.extend(value);
    requests.resize(end, 0);
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
}
