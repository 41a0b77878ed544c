//! Which users of a closed loop are there, where their number follows a curve: of N users the first
//! level · N. Who has to leave ends the interaction under way first, and stays away; the time that
//! it thinks goes on when it is back. So what a user asks for is the same whatever the curve.

use crate::curve::Curve;
use crate::plan::Pace;
use crate::random::{Stream, mix};
use crate::shard::Shard;
use std::cmp::Reverse;

impl Shard {
    /// Schedules the first interactions of those who are there at first, as the rules have it, and
    /// of each other user a think time after it first comes. `began_ns` is monotonic.
    pub(crate) fn schedule_by(&mut self, curve: &Curve, began_ns: i64, think_ns: i64) {
        let plan = &self.common.plan;
        let at_first = present(curve, 0, plan.users);
        self.coming = self.share.count(at_first) as usize;
        let start = self.common.script.workload.rules.start;
        let over = start.over_ns(at_first, plan.phases[0].duration_ns);
        for place in 0..self.users.len() as u32 {
            let rank = self.share.rank(place);
            let least = threshold(rank, plan.users);
            let first = if rank < at_first {
                let at = (i128::from(rank) * i128::from(over) / i128::from(at_first)) as i64;
                curve.after(least, at, 0)
            } else {
                // A stream of its own: the user's is for what it asks for.
                let number = u64::from(self.share.number(place));
                let mut random = Stream::new(mix(plan.seed), number);
                let think = random.exponential(think_ns as f64) as i64;
                curve.after(least, 0, think)
            };
            self.schedule.extend(first.map(|at| Reverse((began_ns + at, place))));
        }
    }

    /// Counts the user at `place`, who begins for the first time.
    pub(crate) fn count_start(&mut self, place: u32) {
        self.started_users += 1;
        let Some(curve) = &self.common.curve else { return };
        if self.share.rank(place) < present(curve, 0, self.common.plan.users) {
            self.coming = self.coming.saturating_sub(1);
        }
    }

    /// When the user at `place` goes on that thinks for `think_ns` from `now_ns` on, by the
    /// monotonic clock; `None` when it is gone for good.
    pub(crate) fn thought_by(&self, place: u32, now_ns: i64, think_ns: i64) -> Option<i64> {
        match &self.common.curve {
            None => Some(now_ns + think_ns),
            Some(curve) => {
                let least = threshold(self.share.rank(place), self.common.plan.users);
                let went_on = curve.after(least, now_ns - self.began_ns, think_ns);
                went_on.map(|at| self.began_ns + at)
            }
        }
    }

    /// Users of the share who are there: of those who should be all but who comes yet in the
    /// ramp-up, and those who still wait for what they asked for before they had to leave. Who
    /// thinks before the first request loads the system as others who think do.
    pub(crate) fn users_there(&self, now_ns: i64) -> usize {
        let (Some(curve), Pace::Closed { .. }) = (&self.common.curve, &self.common.plan.pace)
        else {
            return self.started_users;
        };
        let asked = present(curve, now_ns - self.began_ns, self.common.plan.users);
        let waiting = self
            .flights
            .iter()
            .filter(|(_, flight)| flight.is_under_way() && self.share.rank(flight.user) >= asked);
        let stay = self.share.count(asked) as usize;
        stay.saturating_sub(self.coming) + waiting.count()
    }
}

/// How many of so many users there are to be.
fn present(curve: &Curve, at_ns: i64, users: u32) -> u32 {
    (curve.level(at_ns) * f64::from(users)).round() as u32
}

/// The level at which the user of this rank is one of them.
fn threshold(rank: u32, users: u32) -> f64 {
    (f64::from(rank) + 0.5) / f64::from(users)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Point;

    #[test]
    fn so_many_users_are_there_as_the_curve_asks_for() {
        let points = [(0, 0.1), (1000, 0.9)].map(|(at_ns, level)| Point { at_ns, level });
        let curve = Curve::new(&points).expect("there are points");
        for users in [1, 7, 250] {
            for at in (0..1000).step_by(7) {
                let there = (0..users)
                    .filter(|rank| curve.after(threshold(*rank, users), at, 0) == Some(at))
                    .count();
                assert_eq!(there, present(&curve, at, users) as usize, "{users} users at {at}");
            }
        }
    }
}
