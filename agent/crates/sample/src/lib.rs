//! Samples every resource at a fixed interval: one file a sampler, one sampler a table.
//!
//! | table | sampler | what it reads |
//! |---|---|---|
//! | `cpu` | `cpu`, `busy`, `switches`, `bpf` | /proc/stat, cpuacct or eBPF |
//! | `memory` | `memory`, `levels` | /proc/meminfo, /proc/vmstat |
//! | `disk` | `disk` | /sys/block |
//! | `net` | `net`, `qdisc`, `netlink` | /proc/self/net/dev, rtnetlink |
//! | `tcp` | `tcp` | /proc/self/net/snmp, netstat |
//! | `listen` | `listen`, `sock_diag`, `netlink` | inet_diag over netlink |
//! | `pressure` | `pressure` | /proc/pressure, control groups |
//! | `process` | `process`, `threads`, `members`, `family`, `pid_stat`, `cpu_clock` | `/proc/<pid>`, CPU clocks |
//! | `database` | `database`, a file for each software | the server's own status, by its UNIX socket |
//! | `cache` | `cache`, a file for each software | the same, by its socket or a port of its own |
//! | `counters` | `counters`, `counting`, `perf_event` | perf_event_open(2) |
//! | `domain` | `domain`, `group_files`, `group_io`, `stacked_disks`, `group_state`, `thread_states` | control groups |
//!
//! Descriptors stay open and are read with pread into buffers that stay; nothing is executed and,
//! once everything is known, nothing allocated at a tick but the columns' own growth. Ticks are
//! absolute times of the monotonic clock (`grid`); each row has the interval that was measured.
//! What a machine does not have is null or an absent table with a reason, never zero.

mod awaited_file;
mod bpf;
mod busy;
mod cache;
mod counter;
mod counters;
mod counting;
mod cpu;
mod cpu_clock;
mod database;
mod disk;
mod domain;
mod events;
mod family;
#[cfg(test)]
mod golden;
mod grid;
mod group_files;
mod group_io;
mod group_state;
mod kernel_file;
mod keyed;
mod levels;
mod listen;
mod machine;
mod members;
mod memory;
mod net;
mod netlink;
mod perf_event;
mod pid_stat;
mod plan;
mod polls;
mod pressure;
mod process;
mod qdisc;
mod registry;
mod roots;
mod sampler;
mod session;
mod sock_diag;
mod stacked_disks;
mod switches;
mod tally;
mod tcp;
mod text;
mod thread_states;
mod threads;

use anyhow::Result;
pub use members::Members;
use plan::Plan;
pub use plan::Subject;
pub use sock_diag::SockDiag;
use std::path::Path;
use tierlab_record::Stop;

/// Samples as the plan file says until it is stopped; tables go to `out`.
pub fn run(plan: &Path, out: &Path) -> Result<()> {
    let plan = Plan::read(plan)?;
    let stop = Stop::on_signals();
    let session = session::Session::start(&plan, &roots::Roots::machine(), out)?;
    Ok(session.run(plan.duration_ns, stop)?)
}
