//! Who calls whom: which programs of this network namespace open connections to which, and what is
//! spoken on them.
//!
//! Connections are seen as they are opened, by their SYN; those that were open before, and those
//! whose SYN was lost, in the kernel's table of sockets, which is looked at ten times a second. Whose
//! a connection is tells the process that holds its socket: of one that is closed sooner than it is
//! looked for, nobody knows that. What is spoken tell its first words, of which nothing is kept.

mod flow;
mod owners;
mod socket;
mod sockets;
mod watch;

use crate::plan::CallsPlan;
use anyhow::Result;
use serde_json::json;
use socket::Socket;
use std::time::Duration;
use tierlab_dissect::{LinkType, Segment};
use tierlab_record::Stop;
use tierlab_record::clock::{monotonic_ns, process_cpu_ns};
use tierlab_record::priority::{self, Role};
use tierlab_record::status::say;
use watch::Watch;

/// The time from one look at the table of sockets to the next.
const LOOK_NS: i64 = 100_000_000;
const WAIT: Duration = Duration::from_millis(20);

/// Watches until it is told to stop.
pub(crate) fn run(plan: &CallsPlan) -> Result<()> {
    let stop = Stop::on_signals();
    let end_ns = plan.duration_ns.map(|duration_ns| monotonic_ns() + duration_ns);
    let over = || stop.asked() || end_ns.is_some_and(|end_ns| monotonic_ns() >= end_ns);
    let mut socket = Socket::open()?;
    let mut watch = Watch::new()?;
    watch.look()?;
    // Whose a short connection is can be known at once, or never.
    priority::take(Role::Observer);
    say(&json!({ "ready": true }));
    let mut looked_ns = monotonic_ns();
    while !over() {
        if socket.wait(WAIT)? {
            while let Some(packet) = socket.read()? {
                if let Some(segment) = Segment::parse(LinkType::Raw, packet) {
                    watch.segment(&segment);
                }
            }
        }
        if monotonic_ns() - looked_ns >= LOOK_NS {
            watch.look()?;
            looked_ns = monotonic_ns();
        }
    }
    watch.look()?;
    let (calls, crowded_out) = (watch.calls(), watch.crowded_out());
    let (drops, cpu_ns) = (socket.drops()?, process_cpu_ns());
    let lost = json!({ "drops": drops, "crowded_out": crowded_out });
    say(&json!({ "summary": { "calls": calls, "lost": lost, "cpu_ns": cpu_ns } }));
    Ok(())
}
