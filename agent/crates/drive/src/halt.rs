//! The early end of a run: a signal, or a thread that failed. All threads leave at once.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use tierlab_record::Stop;

/// Whether to leave, and what wakes those who wait. A signal interrupts only one thread's wait.
pub struct Halt {
    stop: Stop,
    called: AtomicBool,
    bell: OwnedFd,
}

impl Halt {
    /// Leaves when `stop` says so, too.
    pub fn new(stop: Stop) -> io::Result<Self> {
        // SAFETY: no pointers; the descriptor that returns is owned by nobody else.
        let bell = unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd)
        };
        Ok(Self { stop, called: AtomicBool::new(false), bell })
    }

    /// Whether to leave.
    pub fn asked(&self) -> bool {
        self.stop.asked() || self.called.load(Ordering::Relaxed)
    }

    /// Tells all threads to leave, and wakes them.
    pub fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
        let one = 1u64;
        // SAFETY: the pointer is to a local of the length that is passed. It cannot fail: the
        // counter is far from full.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
    }

    /// Becomes readable when all threads are to leave.
    pub fn fd(&self) -> RawFd {
        self.bell.as_raw_fd()
    }
}
