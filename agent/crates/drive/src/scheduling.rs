//! The driver's priority: it shares the machine with the servers that it drives, and what it does
//! late is not theirs to answer for.

use crate::plan::Priority;
use tierlab_record::priority::Role;

/// The role that the plan asks for.
pub fn role(priority: Priority) -> Role {
    match priority {
        Priority::Normal => Role::Ordinary,
        Priority::Realtime => Role::Driver,
    }
}
