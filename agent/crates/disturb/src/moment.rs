//! Waiting for a time that was agreed upon, on the steady clock.

use tierlab_record::Stop;
use tierlab_record::clock::{monotonic_at, steady_ns};

/// A signal to another thread does not wake this one: how long it may sleep without looking.
const NAP_NS: i64 = 20_000_000;

/// Waits until `at_ns` of the steady clock. False if the agent was asked to stop meanwhile.
pub fn wait(at_ns: i64, stop: Stop) -> bool {
    loop {
        if stop.asked() {
            return false;
        }
        let now = steady_ns();
        if now >= at_ns {
            return true;
        }
        sleep_until(at_ns.min(now + NAP_NS));
    }
}

/// Sleeps until `at_ns` of the steady clock, or until a signal.
pub fn sleep_until(at_ns: i64) {
    let at_ns = monotonic_at(at_ns).max(0);
    let until = libc::timespec { tv_sec: at_ns / 1_000_000_000, tv_nsec: at_ns % 1_000_000_000 };
    // SAFETY: `until` is a valid timespec; no remainder is wanted for an absolute time.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        );
    }
}
