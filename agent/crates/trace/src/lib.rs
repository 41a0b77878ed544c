//! Which thread read a request, which thread sent a call, and what that thread waited for in between,
//! by an eBPF program at the kernel's tracepoints.
//!
//! | file | does |
//! |---|---|
//! | `bpf` | runs in the kernel: times by state for each thread, an event for each turn |
//! | `kernel` | loads and attaches it, reads its events |
//! | `event` | what an event says |
//! | `programs` | which processes are written in Go |
//! | `turn` | what a thread did at a socket |
//! | `turns` | from events to turns: requests that a thread served, and calls that it sent |
//! | `unix` | UNIX sockets as connections for the dissector |
//! | `budget` | how much is traced, by what it costs |
//! | `session` | one run of the verb |
//!
//! A turn is no visit yet: `tierlab-link` joins the two by connection and time.

#![forbid(unsafe_code)]

mod budget;
mod calls;
mod event;
mod kernel;
mod loops;
mod plan;
mod programs;
mod session;
mod turn;
mod turns;
mod unix;

pub use event::{STATES, State, Times};

use anyhow::Result;
use std::path::Path;

/// Traces the threads of the plan's subjects until a signal comes or the plan's time is over. Tables
/// go to `out`: `raw_turns.arrows`, `threads.arrows`, and where servers listen at UNIX sockets
/// `unix.raw_visits.arrows` and `trace.events.arrows`.
///
/// # Errors
/// When the plan cannot be read, the kernel refuses the tracer, or tables cannot be written.
pub fn run(plan: &Path, out: &Path) -> Result<()> {
    session::run(&plan::Plan::read(plan)?, out)
}
