//! A process for certain. Its number alone is not enough some time after it was found: the process
//! may have ended by then, and the kernel may have given the number to another one.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A process by its number and its start time.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Clock ticks after boot (proc_pid_stat(5), field 22).
    pub start: u64,
}

impl Process {
    /// The process that has this number now.
    pub fn find(pid: i32) -> Result<Self> {
        let start = start_of(pid).with_context(|| format!("there is no process {pid}"))?;
        Ok(Self { pid, start })
    }

    /// Sends it a signal. Returns false, and sends none, if it has ended.
    pub fn signal(&self, signal: libc::c_int) -> io::Result<bool> {
        match self.send(signal) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(false),
            sent => sent.map(|()| true),
        }
    }

    fn send(&self, signal: libc::c_int) -> io::Result<()> {
        let handle = handle_of(self.pid)?;
        // After the handle was taken: it cannot come to be another process's any more.
        if start_of(self.pid).ok() != Some(self.start) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let sent = match handle {
            // SAFETY: the descriptor is open; without siginfo the kernel reads no memory of ours.
            Some(handle) => unsafe {
                let number = libc::SYS_pidfd_send_signal;
                libc::syscall(number, handle.as_raw_fd(), signal, std::ptr::null::<u8>(), 0)
            },
            // SAFETY: no pointer is passed.
            None => i64::from(unsafe { libc::kill(self.pid, signal) }),
        };
        if sent == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// A descriptor of the process that has this number now; none on Linux before 5.3.
fn handle_of(pid: i32) -> io::Result<Option<OwnedFd>> {
    // SAFETY: no pointer is passed.
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if handle >= 0 {
        // SAFETY: the kernel has just opened it for us.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(handle as i32) }));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ENOSYS) => Ok(None),
        error => Err(error),
    }
}

fn start_of(pid: i32) -> io::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold blanks and parentheses; the fields count from its end.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split_whitespace());
    let start = fields.and_then(|mut fields| fields.nth(19)?.parse().ok());
    start.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no start time"))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    /// A process, and what is known of an earlier one that had its number.
    pub fn successor() -> (Child, Process) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let now = Process::find(child.id() as i32).unwrap();
        (child, Process { start: now.start - 1, ..now })
    }

    /// Ends the child, which no signal has ended before.
    pub fn end_unharmed(mut child: Child) {
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_gets_its_signal() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::find(child.id() as i32).unwrap();
        assert!(process.signal(libc::SIGTERM).unwrap());
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert!(!process.signal(libc::SIGTERM).unwrap());
    }

    #[test]
    fn a_process_that_has_the_number_of_one_that_ended_gets_no_signal() {
        let (child, before) = successor();
        assert!(!before.signal(libc::SIGKILL).unwrap());
        end_unharmed(child);
    }
}
