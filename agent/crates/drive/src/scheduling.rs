//! The driver's priority: it shares the machine with the servers that it drives, and what it does
//! late is not theirs to answer for.

use crate::plan::Priority;
use tierlab_record::priority::{Role, Scheduling, assist, take};

/// The role that the plan asks for.
pub fn role(priority: Priority) -> Role {
    match priority {
        Priority::Normal => Role::Ordinary,
        Priority::Realtime => Role::Driver,
    }
}

/// Gives the calling thread, one of `threads` on `cores`, the priority that the plan asks for, as
/// far as it is allowed. Of several threads only those that leave a core are real-time: what the
/// kernel keeps from such threads is too little for the servers.
pub fn take_turn(priority: Priority, threads: u32, cores: u32) -> Scheduling {
    let role = role(priority);
    if threads == 1 || threads < cores { take(role) } else { assist(role) }
}
