//! Which of the targets a user's requests go to, and in which protocol.

use crate::answer::Answer;
use crate::plan::{Plan, Target};
use crate::reply::Reply;
use crate::sql::{Dialogue, Login};
use crate::wire::Wire;
use std::net::SocketAddr;
use std::sync::Arc;

/// A target, ready to be called.
pub struct Destination {
    /// Where to connect.
    pub address: SocketAddr,
    /// Requests of HTTP's as bytes.
    pub wire: Wire,
    /// As whom one comes to a database, where it is one.
    login: Option<Arc<Login>>,
}

impl Destination {
    /// What is spoken with it, as tables call it.
    pub fn protocol(&self) -> &'static str {
        if self.login.is_some() { "postgresql" } else { "http1" }
    }

    /// The answer to a page's request or a statement, before anything was sent. `buffer` is for the
    /// page; `reused`: on a connection that has served an exchange before.
    pub fn answer(&self, buffer: Vec<u8>, reused: bool) -> Answer {
        match &self.login {
            Some(login) => Answer::Sql(Box::new(Dialogue::new(Arc::clone(login), reused))),
            None => Answer::Http(Reply::kept_in(buffer)),
        }
    }
}

/// All targets of a plan, of which there is at least one, and then those of its further servers.
pub struct Destinations(Box<[Box<[Destination]>]>);

impl Destinations {
    /// The plan's.
    pub fn new(plan: &Plan) -> Self {
        let ready = |target: &Target| Destination {
            address: target.socket(),
            wire: Wire::new(plan, target),
            login: target.login.clone().map(Arc::new),
        };
        let servers = [&plan.targets].into_iter().chain(plan.servers.values());
        Self(servers.map(|targets| targets.iter().map(ready).collect()).collect())
    }

    /// The one of a server that the user `number` among all users calls, whoever drives it: they take
    /// turns.
    pub fn of(&self, number: u32, server: u8) -> &Destination {
        let targets = &self.0[usize::from(server)];
        &targets[number as usize % targets.len()]
    }
}
