//! Constants of the running machine.

use std::sync::OnceLock;

/// Bytes of a page.
pub fn page_size() -> i64 {
    static BYTES: OnceLock<i64> = OnceLock::new();
    // SAFETY: sysconf reads a constant.
    *BYTES.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
}

/// Nanoseconds of a tick in which `/proc/stat` and `/proc/<pid>/stat` count (USER_HZ; 10 ms).
pub fn tick_ns() -> i64 {
    static NS: OnceLock<i64> = OnceLock::new();
    // SAFETY: sysconf reads a constant.
    *NS.get_or_init(|| 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1))
}

/// Lets this process keep as many files open as it is allowed to.
pub fn allow_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls; a refusal leaves the limit as it was.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
