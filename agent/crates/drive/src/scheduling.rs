//! The driver's priority: it shares the machine with the servers that it drives, and what it does
//! late is not theirs to answer for.

use crate::plan::Priority;
use tierlab_record::priority::{DRIVER, Scheduling, be_nice, raise};

/// Takes the priority that the plan asks for, as far as it is allowed. Real-time only where the
/// kernel keeps a share of the CPU from real-time threads (sched(7)), so that a driver with more to
/// do than it can does not stop the machine.
pub fn take(priority: Priority) -> Scheduling {
    match priority {
        Priority::Normal => Scheduling::Normal,
        Priority::Realtime if is_bounded() => raise(DRIVER),
        Priority::Realtime => be_nice(),
    }
}

/// Takes the priority of a thread that works for the driving one. It may wait, but not for long: what
/// it holds meanwhile (the heap, the address space) the driving one waits for too.
pub fn assist(priority: Priority) {
    if priority == Priority::Realtime {
        be_nice();
    }
}

fn is_bounded() -> bool {
    let limit = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
    limit.ok().and_then(|limit| limit.trim().parse().ok()).is_some_and(|limit: i64| limit >= 0)
}
