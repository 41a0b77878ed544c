//! Which of the targets a user's requests go to.

use crate::plan::{Plan, Target};
use crate::wire::Wire;
use std::net::SocketAddr;

/// A target, ready to be called.
pub struct Destination {
    /// Where to connect.
    pub address: SocketAddr,
    /// What it is called in the `Host` header.
    pub host: String,
    /// Its requests as bytes.
    pub wire: Wire,
}

/// All targets of a plan, of which there is at least one.
pub struct Destinations(Box<[Destination]>);

impl Destinations {
    /// The plan's.
    pub fn new(plan: &Plan) -> Self {
        let ready = |target: &Target| Destination {
            address: target.socket(),
            host: target.host(),
            wire: Wire::new(plan, target),
        };
        Self(plan.targets.iter().map(ready).collect())
    }

    /// The one of the user `number` among all users, whoever drives it: they take turns.
    pub fn of(&self, number: u32) -> &Destination {
        &self.0[number as usize % self.0.len()]
    }
}
