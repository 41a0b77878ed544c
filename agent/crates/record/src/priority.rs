//! How soon the calling thread gets its turn. What measures does little but must not wait: on a
//! saturated machine a fair share comes too late just when it matters most. A capture's ring fills
//! up (measured: 5 % of a core used, 80 % of the time spent waiting for it), a sampler's tick and a
//! driver's request are late.

use serde::Serialize;

/// The driver's: above every ordinary thread, below everything else that is real-time.
pub const DRIVER: libc::c_int = 1;

/// Of what watches: it works less than the driver, and must see it.
pub const OBSERVER: libc::c_int = 2;

/// The second best: well before the servers' default of 0. Where the kernel schedules sessions as
/// groups (sched_autogroup_enabled) it counts only within the agent's own.
const NICE: libc::c_int = -10;

/// How a thread is scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// SCHED_RR, in turns with others of its priority and never more than the kernel allows
    /// real-time threads (sched_rt_runtime_us).
    Realtime,
    /// SCHED_OTHER with a nice value of -10.
    Nice,
    /// As any other thread.
    #[default]
    Normal,
}

/// Raises the calling thread's priority, to the real-time one given if that is allowed.
pub fn raise(realtime: libc::c_int) -> Scheduling {
    let parameters = libc::sched_param { sched_priority: realtime };
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `parameters` is valid for the call; on Linux 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } == 0 {
        return Scheduling::Realtime;
    }
    be_nice()
}

/// Raises the calling thread's priority among the ordinary ones, if that is allowed.
pub fn be_nice() -> Scheduling {
    // SAFETY: no pointer is passed; on Linux 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } == 0 {
        return Scheduling::Nice;
    }
    Scheduling::Normal
}
