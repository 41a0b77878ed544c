//! Times in which a capture's interface is down. The kernel then hands over nothing and fails the
//! next call once; when the interface is up again it goes on by itself.

use crate::ring::{Ring, RingError};
use crate::summary::Summary;
use crate::tables::Tables;
use std::io::Write;
use tierlab_record::clock::Moment;

/// Waits for a block, but no longer than this. An interface that is down is no error: `seen` has
/// since when.
pub(crate) fn wait(ring: &mut Ring, longest_ms: i32, seen: &mut Summary) -> Result<(), RingError> {
    match ring.wait(longest_ms) {
        Err(RingError::InterfaceDown) if seen.down_since.is_none() => {
            seen.down_since = Some(Moment::now());
            seen.interface_downs += 1;
        }
        Err(RingError::InterfaceDown) => {}
        waited => waited?,
    }
    if seen.down_since.is_some() && ring.is_up() {
        seen.down_since = None;
    }
    Ok(())
}

/// Writes outages into the table of events.
#[derive(Default)]
pub(crate) struct Outages {
    count: u64,
    since: Option<Moment>,
}

impl Outages {
    /// Takes what was seen by `now`. An outage is an event once it is over.
    pub(crate) fn follow(
        &mut self,
        seen: &Summary,
        last: Moment,
        now: Moment,
        tables: &mut Tables,
    ) {
        if seen.interface_downs > self.count {
            self.count = seen.interface_downs;
            self.since.get_or_insert(seen.down_since.unwrap_or(last));
            // Not eprintln!, which panics when the log's disk is full.
            let _ = writeln!(
                std::io::stderr(),
                "tierlab-agent: the captured interface went down; the capture goes on when it is up"
            );
        }
        if seen.down_since.is_none() {
            self.end(now, tables);
        }
    }

    /// The outage, if there is one, is over, or the capture is.
    pub(crate) fn end(&mut self, now: Moment, tables: &mut Tables) {
        if let Some(since) = self.since.take() {
            tables.interface_down(since.t_ns, now.since(since));
        }
    }
}
