//! Which core a thread runs on.

use libc::{CPU_ISSET, CPU_SET, CPU_SETSIZE, cpu_set_t};

/// A core that the calling thread keeps to until this is dropped.
pub(crate) struct Kept {
    before: cpu_set_t,
}

/// The cores on which the calling thread may run; none if the kernel does not tell.
pub(crate) fn allowed() -> Vec<usize> {
    let Some(set) = affinity() else { return Vec::new() };
    // SAFETY: the numbers are within the set.
    (0..CPU_SETSIZE as usize).filter(|&core| unsafe { CPU_ISSET(core, &set) }).collect()
}

/// Keeps the calling thread on a core that is allowed. None if the kernel refuses: then the thread
/// runs where it did.
pub(crate) fn keep_to(core: usize) -> Option<Kept> {
    let before = affinity()?;
    // SAFETY: an empty set is all zeros, and the core's number is within it.
    let only = unsafe {
        let mut only = std::mem::zeroed();
        CPU_SET(core, &mut only);
        only
    };
    set_affinity(&only).then_some(Kept { before })
}

impl Drop for Kept {
    fn drop(&mut self) {
        set_affinity(&self.before);
    }
}

fn affinity() -> Option<cpu_set_t> {
    // SAFETY: the kernel fills a set of this size; 0 is the calling thread.
    unsafe {
        let mut set = std::mem::zeroed();
        (libc::sched_getaffinity(0, size_of::<cpu_set_t>(), &raw mut set) == 0).then_some(set)
    }
}

fn set_affinity(set: &cpu_set_t) -> bool {
    // SAFETY: the set is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<cpu_set_t>(), set) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_to_its_core_and_then_runs_where_it_did() {
        let before = allowed();
        assert!(!before.is_empty());
        for &core in &before {
            let kept = keep_to(core);
            assert!(kept.is_some());
            assert_eq!(allowed(), [core]);
        }
        assert_eq!(allowed(), before);
    }
}
