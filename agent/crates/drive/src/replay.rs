//! Visits as they were recorded: each request is sent at its own time, whether or not those before it
//! have been answered. A visit's requests share its cookies; what is asked for while another is
//! under way has a connection of its own, as a browser's has.

use crate::shard::{NOWHERE, Shard};
use anyhow::Result;
use std::cmp::Reverse;

/// A request of a visit.
pub struct Recorded {
    /// When it was sent, since the start of the run.
    pub at_ns: i64,
    /// What its interaction is.
    pub state: u8,
    /// Path and query.
    pub target: Box<[u8]>,
}

/// How far one thread's visits are.
#[derive(Default)]
pub struct Replay {
    /// How many times as fast as recorded.
    speed: f64,
    /// By visit: its next request.
    next: Vec<usize>,
    /// By visit: the users besides its own that it took when it asked for several things at once.
    others: Vec<Vec<u32>>,
    /// By user: whose visit it is.
    owners: Vec<u32>,
}

impl Replay {
    /// The visits of the users at the first so many places, at their beginning.
    pub fn new(visits: u32, speed: f64) -> Self {
        let count = visits as usize;
        let others = vec![Vec::new(); count];
        Self { speed, next: vec![0; count], others, owners: (0..visits).collect() }
    }

    /// The user in whose visit the one at `place` asks.
    pub fn owner(&self, place: u32) -> u32 {
        self.owners.get(place as usize).copied().unwrap_or(place)
    }
}

impl Shard {
    /// When the next request of a visit is due, in monotonic time; `None` when it is over.
    pub(crate) fn recorded_due(&self, visit: u32) -> Option<i64> {
        let requests = &self.common.script.visits[self.share.rank(visit) as usize];
        let next = requests.get(self.replay.next[visit as usize])?;
        Some(self.began_ns.saturating_add((next.at_ns as f64 / self.replay.speed) as i64))
    }

    /// Sends the next request of a visit, which is due.
    pub(crate) fn replay(&mut self, visit: u32, due: i64) -> Result<()> {
        let user = self.free_user(visit);
        let at = self.replay.next[visit as usize];
        let request = &self.common.script.visits[self.share.rank(visit) as usize][at];
        self.users[user as usize].ask(request.state, &request.target);
        self.replay.next[visit as usize] += 1;
        self.schedule.extend(self.recorded_due(visit).map(|due| Reverse((due, visit))));
        self.begin(user, due)
    }

    /// Closes the connections of a visit that is over, but those on which a request is under way.
    pub(crate) fn close_if_over(&mut self, visit: u32) {
        if self.recorded_due(visit).is_some() {
            return;
        }
        let others = std::mem::take(&mut self.replay.others[visit as usize]);
        for user in others.iter().copied().chain([visit]) {
            let place = self.places[user as usize];
            if place != NOWHERE && !self.waits(user) {
                self.release(place as usize);
            }
        }
        self.replay.others[visit as usize] = others;
    }

    /// Whether a user waits for what it has asked for.
    fn waits(&self, user: u32) -> bool {
        let place = self.places[user as usize];
        place != NOWHERE && self.flights[place as usize].is_under_way()
    }

    /// A user of the visit that waits for nothing; another one where all of them do.
    fn free_user(&mut self, visit: u32) -> u32 {
        if !self.waits(visit) {
            return visit;
        }
        let others = &self.replay.others[visit as usize];
        let user = match others.iter().copied().find(|user| !self.waits(*user)) {
            Some(user) => user,
            None => {
                let user = self.add_user();
                self.replay.owners.push(visit);
                self.replay.others[visit as usize].push(user);
                user
            }
        };
        let jar = self.users[visit as usize].jar.clone();
        self.users[user as usize].jar = jar;
        user
    }
}
