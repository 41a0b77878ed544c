//! What every class of disturbance can do.

use crate::moment;
use anyhow::Result;
use serde_json::{Map, Value};
use tierlab_record::Stop;

/// A disturbance that is prepared: nothing is left to do but to cause it. Dropping it undoes it,
/// whatever its state.
pub trait Disturbance: Send {
    /// Causes it, to end by itself or by [`Self::end`] at `until_ns`. Returns when it took effect.
    fn start(&mut self, until_ns: i64) -> Result<i64>;

    /// Keeps it up until `until_ns`, or until the agent is asked to stop.
    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        moment::wait(until_ns, stop);
        Ok(())
    }

    /// Undoes it. Called once after a start, also when keeping it up has failed.
    fn end(&mut self) -> Result<End>;
}

/// How a disturbance ended.
#[derive(Debug)]
pub struct End {
    /// When its effect was over (CLOCK_REALTIME).
    pub at_ns: i64,
    /// What it is known to have done, by the class's own names.
    pub effect: Map<String, Value>,
}

impl End {
    /// It is over just now.
    pub fn now(effect: Value) -> Self {
        let at_ns = tierlab_record::clock::realtime_ns();
        let effect = if let Value::Object(effect) = effect { effect } else { Map::new() };
        Self { at_ns, effect }
    }
}
