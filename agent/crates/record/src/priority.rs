//! How soon the agent's threads get their turn. What measures does little but must not wait: on a
//! saturated machine a fair share comes too late just when it matters most. A capture's ring fills
//! up (measured: 5 % of a core used, 80 % of the time spent waiting for it), a sampler's tick and a
//! driver's request are late.

use serde::Serialize;

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It watches. It works less than the driver, and must see it.
    Observer,
    /// It drives: above every ordinary thread, below everything else that is real-time.
    Driver,
    /// It measures no time, or was told to be as any other.
    Ordinary,
}

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

/// Gives the calling thread the best priority for its role that is allowed. Threads that it starts
/// afterwards have an ordinary one. Real-time only where the kernel keeps a share of the CPU from
/// real-time threads (sched(7)), so that one with more to do than it can does not stop the machine.
pub fn take(role: Role) -> Scheduling {
    if role == Role::Observer {
        stay_in_memory();
    }
    match role {
        Role::Ordinary => Scheduling::Normal,
        Role::Driver if realtime(1) => Scheduling::Realtime,
        Role::Observer if realtime(2) => Scheduling::Realtime,
        Role::Driver | Role::Observer => be_nice(),
    }
}

/// Gives the calling thread the priority of one that works for those of `role`. It may wait, but not
/// for long: what it holds meanwhile (the heap, the address space) they wait for too.
pub fn assist(role: Role) -> Scheduling {
    if role == Role::Ordinary { Scheduling::Normal } else { be_nice() }
}

/// Signals to end must wake a thread that measures out of its sleep, not the calling one.
pub fn leave_signals_to_others() {
    // SAFETY: `all` is filled before it is used; only this thread's mask changes.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}

/// Keeps what the process has once used in memory, its program too, where that is allowed: read back
/// from a disk, it would be waited for on a machine that is short of memory or has its disk busy.
fn stay_in_memory() {
    // SAFETY: flags are passed and no pointer.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) };
}

fn realtime(priority: libc::c_int) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `parameters` is valid for the call; on Linux 0 is the calling thread.
    is_bounded() && unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } == 0
}

fn is_bounded() -> bool {
    let limit = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    limit.ok().and_then(|limit| limit.trim().parse().ok()).is_some_and(|limit: i64| limit >= 0)
}

fn be_nice() -> Scheduling {
    // SAFETY: no pointer is passed; on Linux 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) } == 0 {
        return Scheduling::Nice;
    }
    Scheduling::Normal
}
