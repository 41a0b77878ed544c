//! Stopping: SIGINT and SIGTERM ask a running verb to finish its tables and leave.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_signal: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

/// A handle that says whether this process was asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop(());

impl Stop {
    /// Installs handlers for SIGINT and SIGTERM. System calls are not restarted, so that a waiting
    /// loop returns with EINTR and can look at [`Stop::asked`].
    pub fn on_signals() -> Self {
        for signal in [libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
        Self(())
    }

    /// True once a signal has arrived.
    pub fn asked(self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}
