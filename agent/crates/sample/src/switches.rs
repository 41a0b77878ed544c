//! Busy time from context switches: a small eBPF program at the raw tracepoint `sched_switch` adds
//! up, for each core, the time in which a thread other than the idle one ran. Exact, but every
//! context switch of the machine pays for it.

use crate::bpf::{Instruction, PercpuValue, attach};
use std::io;
use std::os::fd::OwnedFd;
use tierlab_record::clock;

/// A core's value: nanoseconds that were busy up to `last`; the last switch (CLOCK_MONOTONIC); the
/// idle thread's address; whether the thread that runs since `last` is another.
const WORDS: usize = 4;
const BUSY: usize = 0;
const LAST: usize = 1;
const RUNS: usize = 3;

/// The attached program and its map.
pub struct Switches {
    value: PercpuValue,
    read_ns: u64,
    _program: [OwnedFd; 2],
}

impl Switches {
    /// Attaches the program; needs CAP_BPF and CAP_PERFMON, Linux 5.8 or later.
    pub fn open(possible_cores: usize) -> io::Result<Self> {
        let value = PercpuValue::create(WORDS, possible_cores)?;
        let program = attach(c"sched_switch", &program(value.number()))?;
        visit_cores(possible_cores);
        Ok(Self { value, read_ns: 0, _program: program })
    }

    /// Reads all cores.
    pub fn read(&mut self) {
        self.read_ns = match self.value.read() {
            Ok(()) => clock::monotonic_ns() as u64,
            Err(_) => 0,
        };
    }

    /// Busy nanoseconds of a core; `None` before its first switch.
    pub fn of_core(&self, core: usize) -> Option<i64> {
        let value = self.value.of_core(core)?;
        if self.read_ns == 0 || value[LAST] == 0 {
            return None;
        }
        let open = if value[RUNS] != 0 { self.read_ns.saturating_sub(value[LAST]) } else { 0 };
        Some((value[BUSY] + open) as i64)
    }
}

/// The program knows the idle thread of a core from the first time that it is switched away from,
/// so this thread sleeps a moment on each core: an idle one then switches from its idle thread.
fn visit_cores(cores: usize) {
    // SAFETY: the sets are valid, of the size given, and only bits within it are set; an affinity
    // that is refused (a core that is offline) leaves this thread where it was.
    unsafe {
        let mut home: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &mut home) != 0 {
            return;
        }
        for core in 0..cores.min(libc::CPU_SETSIZE as usize) {
            let mut there: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut there);
            if libc::sched_setaffinity(0, size, &there) == 0 {
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
        }
        libc::sched_setaffinity(0, size, &home);
    }
}

/// At a switch the current thread is still the one that leaves; the arguments are (preempt, leaving,
/// coming). In C, with `v` the core's value:
///
/// ```c
/// now = bpf_ktime_get_ns();
/// if (bpf_get_current_pid_tgid() == 0) v->idle = leaving;
/// else if (v->last) v->busy += now - v->last;
/// v->last = now;
/// v->runs = coming != v->idle;
/// ```
#[rustfmt::skip]
fn program(map: i32) -> Vec<Instruction> {
    const LOOKUP: i32 = 1;
    const KTIME: i32 = 5;
    const CURRENT: i32 = 14;
    vec![
        (0xbf, 0x16, 0, 0),        // r6 = r1: the arguments
        (0x62, 0x0a, -4, 0),       // *(u32 *)(r10 - 4) = 0: the key
        (0xbf, 0xa2, 0, 0),        // r2 = r10
        (0x07, 0x02, 0, -4),       // r2 += -4
        (0x18, 0x11, 0, map),      // r1 = map, in two instructions
        (0x00, 0x00, 0, 0),
        (0x85, 0x00, 0, LOOKUP),   // r0 = value
        (0x15, 0x00, 22, 0),       // if r0 == 0 goto end
        (0xbf, 0x07, 0, 0),        // r7 = r0: v
        (0x85, 0x00, 0, KTIME),
        (0xbf, 0x08, 0, 0),        // r8 = now
        (0x85, 0x00, 0, CURRENT),
        (0x55, 0x00, 3, 0),        // if r0 != 0 goto ran
        (0x79, 0x61, 8, 0),        // r1 = leaving
        (0x7b, 0x17, 16, 0),       // v->idle = r1
        (0x05, 0x00, 7, 0),        // goto mark
        (0x79, 0x71, 8, 0),        // ran: r1 = v->last
        (0x15, 0x01, 5, 0),        // if r1 == 0 goto mark
        (0xbf, 0x82, 0, 0),        // r2 = now
        (0x1f, 0x12, 0, 0),        // r2 -= r1
        (0x79, 0x71, 0, 0),        // r1 = v->busy
        (0x0f, 0x21, 0, 0),        // r1 += r2
        (0x7b, 0x17, 0, 0),        // v->busy = r1
        (0x7b, 0x87, 8, 0),        // mark: v->last = now
        (0x79, 0x61, 16, 0),       // r1 = coming
        (0x79, 0x72, 16, 0),       // r2 = v->idle
        (0xb7, 0x03, 0, 1),        // r3 = 1
        (0x5d, 0x21, 1, 0),        // if r1 != r2 goto store
        (0xb7, 0x03, 0, 0),        // r3 = 0
        (0x7b, 0x37, 24, 0),       // store: v->runs = r3
        (0xb7, 0x00, 0, 0),        // end: r0 = 0
        (0x95, 0x00, 0, 0),        // return
    ]
}
