//! The CPU clock of another process: nanoseconds that all its threads have run.

/// Reads it; the clock's id is made of the process's as clock_getcpuclockid(3) does it. `None` when
/// there is no such process.
pub fn cpu_clock_ns(pid: i32) -> Option<u64> {
    const CPUCLOCK_SCHED: libc::clockid_t = 2;
    let clock = (!pid << 3) | CPUCLOCK_SCHED;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec; an unknown clock id is refused.
    let done = unsafe { libc::clock_gettime(clock, &mut time) };
    (done == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierlab_record::clock;

    #[test]
    fn the_cpu_clock_is_that_of_the_process() {
        let before = clock::process_cpu_ns() as u64;
        let read = cpu_clock_ns(std::process::id() as i32).unwrap();
        let after = clock::process_cpu_ns() as u64;
        // Of a process's other threads that run now, the kernel has the time up to the last tick.
        assert!(read + 20_000_000 >= before && read <= after + 20_000_000);
        assert_eq!(cpu_clock_ns(i32::MAX - 1), None);
    }
}
