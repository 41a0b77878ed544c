//! How many files, and so connections, the agent may have open.

use std::fs;

/// Raises this process's limit of open files as far as it goes, and returns it: the kernel's own
/// limit (fs.nr_open) for one that may exceed what it was given (CAP_SYS_RESOURCE), what it was given
/// for others. Source: getrlimit(2).
pub fn raise_limit() -> u64 {
    let given = limit();
    let most = fs::read_to_string("/proc/sys/fs/nr_open")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(given.rlim_max);
    for wanted in [most.max(given.rlim_max), given.rlim_max] {
        let raised = libc::rlimit { rlim_cur: wanted, rlim_max: wanted };
        // SAFETY: the pointer is to a local of the right type; a refusal changes nothing.
        if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) } == 0 {
            break;
        }
    }
    limit().rlim_cur
}

fn limit() -> libc::rlimit {
    let mut found = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut found) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_never_lowered_and_all_of_it_may_be_used() {
        let before = limit();

        let raised = raise_limit();

        let after = limit();
        assert_eq!((after.rlim_cur, after.rlim_max), (raised, raised));
        assert!(raised >= before.rlim_max);
    }
}
