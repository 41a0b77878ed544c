//! Slow clients: many send their requests line by line, as over a bad radio link, and are done with
//! them at the end. A server that has a worker for each connection has it read what comes, and wait.
//!
//! It is the sending that is slow: an answer that is taken slowly holds a worker only where it is
//! larger than what the server and the kernel keep of it.

use crate::crowd::{Crowd, END_OF_HEAD, Talk};
use crate::disturbance::{Disturbance, End};
use crate::plan::Planned;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::Ipv4Addr;
use tierlab_record::Stop;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlowClients {
    /// How many there are.
    clients: usize,
    /// The network of 2^20 addresses that they come from, apart from the driver's users.
    sources: Ipv4Addr,
    /// What each of them asks for; it should cost the server little.
    path: String,
}

/// A line of the head that says nothing.
const LINE: &[u8] = b"X-Slow: 1\r\n";
/// Each sends a line so often, in so many turns. Servers take a hundred lines at most; the longest
/// disturbance has fifty of them.
const LINE_NS: i64 = 200_000_000;
const TURNS: usize = 20;
const TURN_NS: i64 = LINE_NS / TURNS as i64;

struct Slow {
    crowd: Crowd,
    clients: usize,
    finished: usize,
    end_ns: i64,
}

impl SlowClients {
    /// Makes the clients, who have not come yet.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        ensure!(self.clients > 0, "`clients` is 0; give how many there are");
        let (target, host) = planned.target.site()?;
        let talk = Talk::Begin { host, path: self.path.clone() };
        let crowd = Crowd::new(target, Some(self.sources), talk, self.clients)?;
        Ok(Box::new(Slow { crowd, clients: self.clients, finished: 0, end_ns: 0 }))
    }
}

impl Disturbance for Slow {
    fn start(&mut self, until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        self.crowd.come_in_waves(until_ns)?;
        Ok(start_ns)
    }

    /// Who is turned away comes again. At the end all send what is left.
    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        let mut turn = 0;
        let mut next_ns = steady_ns() + TURN_NS;
        while !stop.asked() && steady_ns() < until_ns {
            self.crowd.attend(until_ns.min(next_ns), true)?;
            self.crowd.insist()?;
            if steady_ns() >= next_ns {
                self.crowd.go_on((turn..self.clients).step_by(TURNS), LINE);
                turn = (turn + 1) % TURNS;
                next_ns += TURN_NS;
            }
        }
        self.finished = self.crowd.go_on(0..self.clients, END_OF_HEAD);
        self.end_ns = realtime_ns();
        self.crowd.hear_out(&stop)
    }

    fn end(&mut self) -> Result<End> {
        let unanswered = self.crowd.leave();
        let effect = json!({
            "clients": self.clients,
            "requests": self.finished,
            "unanswered": unanswered,
        });
        Ok(End { at_ns: self.end_ns, ..End::now(effect) })
    }
}
