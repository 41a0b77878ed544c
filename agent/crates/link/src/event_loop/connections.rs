//! Which connection was lent again as soon as it was free because no other was.

use crate::event_loop::behaviour::Output;
use crate::event_loop::hypothesis::Sending;
use crate::event_loop::request::Call;
use crate::topology::Server;
use rustc_hash::FxHashMap;

/// A connection that was not used for so long is taken for closed.
const CLOSED_NS: i64 = 10_000_000_000;

/// A lent connection.
#[derive(Clone, Copy)]
struct Lent {
    is_busy: bool,
    since_ns: i64,
}

/// The connections that were used.
#[derive(Default)]
pub struct Connections {
    lent: FxHashMap<Server, FxHashMap<i64, Lent>>,
}

impl Connections {
    /// A call is sent.
    pub fn send(&mut self, call: &Call) -> Sending {
        let at_ns = call.span.arrival_ns;
        let output: Output = call.label;
        if !call.lent {
            return Sending { at_ns, output, freed_ns: None };
        }
        let pool = self.lent.entry(call.server).or_default();
        let others = pool.iter().any(|(&connection, it)| {
            connection != call.connection && !it.is_busy && it.since_ns > at_ns - CLOSED_NS
        });
        let before = pool.insert(call.connection, Lent { is_busy: true, since_ns: at_ns });
        let freed_ns = before.filter(|it| !it.is_busy && !others).map(|it| it.since_ns);
        Sending { at_ns, output, freed_ns }
    }

    /// A call is answered.
    pub fn answer(&mut self, call: &Call) {
        if call.lent {
            let pool = self.lent.entry(call.server).or_default();
            let since_ns = call.span.departure_ns;
            pool.insert(call.connection, Lent { is_busy: false, since_ns });
            if pool.len() > 64 {
                pool.retain(|_, it| it.since_ns > since_ns - CLOSED_NS);
            }
        }
    }
}
