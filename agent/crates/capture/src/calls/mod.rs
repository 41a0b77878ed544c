//! Who calls whom: which programs of this network namespace open connections to which, and what is
//! spoken on them.
//!
//! A new connection is seen by its SYN. Connections that were open before, or whose SYN was lost, are in
//! the kernel's table of sockets, which this reads ten times a second. A connection belongs to the
//! process that holds its socket; if it is closed before that process is found, its owner stays
//! unknown. Its first bytes show the protocol; none of them are kept.
//!
//! All this runs at real-time priority, so its work is bounded: the search for owners has a budget,
//! and a flood of packets delays neither the next reading of the table nor the end.

mod budget;
mod flow;
#[cfg(test)]
mod load_tests;
mod owners;
mod socket;
mod sockets;
mod watch;

use crate::plan::CallsPlan;
use crate::ring::RingError;
use anyhow::Result;
use serde_json::json;
use socket::Socket;
use std::time::Duration;
use tierlab_dissect::{LinkType, Segment};
use tierlab_record::Stop;
use tierlab_record::clock::{monotonic_in, monotonic_ns, process_cpu_ns};
use tierlab_record::priority::{self, Role};
use tierlab_record::status::say;
use watch::Watch;

/// The time from one look at the table of sockets to the next.
const LOOK_NS: i64 = 100_000_000;
const WAIT: Duration = Duration::from_millis(20);

/// Watches until a signal comes or the plan's time is over.
pub(crate) fn run(plan: &CallsPlan) -> Result<()> {
    let stop = Stop::on_signals();
    let end_ns = plan.duration_ns.map_or(i64::MAX, monotonic_in);
    let over = || stop.asked() || monotonic_ns() >= end_ns;
    let mut socket = Socket::open()?;
    let mut watch = Watch::new()?;
    watch.look()?;
    // Whose a short connection is can be known at once, or never.
    priority::take(Role::Observer);
    say(&json!({ "ready": true }));
    watch_until(over, &mut socket, &mut watch)?;
    watch.look()?;
    let lost = json!({
        "drops": socket.drops()?,
        "crowded_out": watch.crowded_out(),
        "unattributed": watch.unattributed(),
    });
    let (calls, cpu_ns) = (watch.calls(), process_cpu_ns());
    say(&json!({ "summary": { "calls": calls, "lost": lost, "cpu_ns": cpu_ns } }));
    Ok(())
}

/// Where packets come from.
trait Packets {
    /// Waits for a packet, but no longer than this.
    fn wait(&self, longest: Duration) -> Result<(), RingError>;

    /// The next packet, from its IP header on; none if none is there.
    fn read(&mut self) -> Result<Option<&[u8]>, RingError>;
}

/// Takes packets, and looks at the table of sockets now and then, until it is `over`.
fn watch_until(
    over: impl Fn() -> bool,
    packets: &mut impl Packets,
    watch: &mut Watch,
) -> Result<()> {
    let mut looked_ns = monotonic_ns();
    while !over() {
        if monotonic_ns() - looked_ns >= LOOK_NS {
            watch.look()?;
            looked_ns = monotonic_ns();
        }
        let Some(packet) = packets.read()? else {
            packets.wait(WAIT)?;
            continue;
        };
        if let Some(segment) = Segment::parse(LinkType::Raw, packet) {
            watch.segment(&segment);
        }
    }
    Ok(())
}
