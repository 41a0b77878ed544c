//! Whether recorded visits make sense.

use crate::plan::LONGEST_TIME_NS;
use crate::workload::Workload;

/// What is wrong with the workload's visits, if anything.
pub fn check(workload: &Workload) -> Result<(), String> {
    for (number, visit) in workload.visits.iter().enumerate() {
        let wrong = |what: String| Err(format!("visit {number}: {what}"));
        if visit.is_empty() {
            return wrong("has no request".into());
        }
        if !visit.is_sorted_by_key(|(at_ns, ..)| *at_ns) {
            return wrong("its requests must be in the order of their times".into());
        }
        for (at_ns, state, target) in visit {
            if !(0..=LONGEST_TIME_NS).contains(at_ns) {
                return wrong(format!("the time {at_ns} must be 0 to ten years"));
            }
            if workload.state(state).is_none() {
                return wrong(format!("{state:?} is not a state"));
            }
            if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
                return wrong(format!("{target:?} is not the target of a request"));
            }
        }
    }
    Ok(())
}
