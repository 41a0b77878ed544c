//! Exchanges that take longer than the plan's timeouts allow.

use crate::failure::Failure;
use crate::flight::Stage;
use crate::shard::Shard;
use anyhow::Result;

impl Shard {
    /// Gives up what is late.
    pub(crate) fn expire(&mut self, now: i64) -> Result<()> {
        loop {
            let flights = &self.flights;
            let connecting = |place: usize, token: u32| {
                flights
                    .get(place)
                    .is_some_and(|flight| flight.connection == token && flight.is_connecting())
            };
            let waiting = |place: usize, token: u32| {
                flights.get(place).is_some_and(|flight| {
                    flight.exchange == token
                        && matches!(flight.stage, Stage::Sending | Stage::Receiving)
                })
            };
            let late = match self.connect_deadlines.due(now, connecting) {
                Some((place, _)) => Some((place, Failure::ConnectTimeout)),
                None => self
                    .request_deadlines
                    .due(now, waiting)
                    .map(|(place, _)| (place, Failure::RequestTimeout)),
            };
            match late {
                Some((place, failure)) => {
                    self.cancel(place);
                    self.fail(place, failure)?;
                }
                None => return Ok(()),
            }
        }
    }
}
