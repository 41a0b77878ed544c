//! Who starts when: a closed loop's users at first and after each think, an open loop's sessions as
//! they arrive.

use crate::arrivals::ArrivalTimes;
use crate::flight::{Flight, Stage};
use crate::plan::Pace;
use crate::replay::Replay;
use crate::session::User;
use crate::shard::{NOWHERE, Shard};
use anyhow::Result;
use std::cmp::Reverse;
use std::sync::Arc;

/// Interactions started before sockets are looked at again: replies must not wait for a burst.
const STARTS_PER_TURN: usize = 32;

impl Shard {
    /// Schedules the users' first interactions. `began_ns` is monotonic.
    pub(crate) fn schedule_starts(&mut self, began_ns: i64) {
        let plan = &self.common.plan;
        let places = 0..self.users.len() as u32;
        match plan.pace {
            Pace::Open { rate_per_s, arrivals } => {
                let curve = self.common.curve.clone();
                let (seed, share) = (plan.seed, self.share);
                let times = ArrivalTimes::new(arrivals, rate_per_s, curve, seed, began_ns, share);
                self.arrivals = Some(times);
                self.idle.extend(places);
            }
            Pace::Closed { think_ns, .. } => {
                let common = Arc::clone(&self.common);
                if let Some(curve) = &common.curve {
                    return self.schedule_by(curve, began_ns, think_ns);
                }
                let start = self.common.script.workload.rules.start;
                let over = start.over_ns(plan.users, plan.phases[0].duration_ns);
                let users = i128::from(plan.users);
                let at = |rank: u32| (i128::from(rank) * i128::from(over) / users) as i64;
                let first = |place| Reverse((began_ns + at(self.share.rank(place)), place));
                self.schedule.extend(places.map(first));
            }
            Pace::Recorded { speed } => {
                self.replay = Replay::new(places.end, speed);
                let due = |place| Some(Reverse((self.recorded_due(place)?, place)));
                let first: Vec<_> = places.filter_map(due).collect();
                self.schedule.extend(first);
            }
        }
    }

    /// Starts what is due. True when there is more than one turn should do.
    pub(crate) fn start_due(&mut self, now: i64) -> Result<bool> {
        for _ in 0..STARTS_PER_TURN {
            let scheduled = self.schedule.peek().map(|Reverse(due)| *due);
            if let Some((due, user)) = scheduled.filter(|(due, _)| *due <= now) {
                self.schedule.pop();
                self.go_on(user, due)?;
            } else if let Some(due) = self.arrival_due(now) {
                let user = self.idle.pop_front().unwrap_or_else(|| self.add_user());
                self.begin(user, due)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn arrival_due(&mut self, now: i64) -> Option<i64> {
        let arrivals = self.arrivals.as_mut()?;
        let due = arrivals.next_ns();
        (due <= now).then(|| {
            arrivals.advance();
            due
        })
    }

    /// A user more: one of the plan's, or a session that the open loop needs.
    pub(crate) fn add_user(&mut self) -> u32 {
        let place = self.users.len() as u32;
        let number = self.share.number(place);
        self.users.push(User::new(&self.common.script, self.common.plan.seed, number));
        self.places.push(NOWHERE);
        place
    }

    /// The user's time has come: to begin an interaction, or to open one again.
    fn go_on(&mut self, user: u32, due: i64) -> Result<()> {
        if matches!(self.common.plan.pace, Pace::Recorded { .. }) {
            return self.replay(user, due);
        }
        let place = self.places[user as usize] as usize;
        match self.flights.get(place) {
            Some(flight) if flight.stage == Stage::Pausing => self.exchange(place),
            _ => self.begin(user, due),
        }
    }

    pub(crate) fn begin(&mut self, user: u32, intended_ns: i64) -> Result<()> {
        if self.users[user as usize].is_new() && self.replay.owner(user) == user {
            self.count_start(user);
        }
        let place = match self.places[user as usize] {
            NOWHERE => {
                let place = self.flights.insert(Flight::new(user));
                self.places[user as usize] = place as u32;
                place
            }
            place => place as usize,
        };
        self.in_flight += 1;
        self.start_page(place, intended_ns)
    }
}
