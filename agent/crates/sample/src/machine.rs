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
