//! Burst: users who come all at once, fetch pages with their images without pause, and leave.

use crate::crowd::{Crowd, Talk};
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
pub struct Burst {
    /// How many come at once.
    #[serde(default = "two_hundred")]
    users: usize,
    /// The network of 2^20 addresses that they come from, apart from the driver's users.
    #[serde(default = "on_the_loopback")]
    sources: Ipv4Addr,
    /// What each of them fetches, in order and over again, starting at another place each: pages,
    /// each followed by its images.
    paths: Vec<String>,
}

fn two_hundred() -> usize {
    200
}

fn on_the_loopback() -> Ipv4Addr {
    Ipv4Addr::new(127, 160, 0, 0)
}

struct Surge {
    crowd: Crowd,
    users: usize,
    end_ns: i64,
}

impl Burst {
    /// Makes the requests.
    pub fn prepare(&self, planned: &Planned) -> Result<Box<dyn Disturbance>> {
        ensure!(!self.paths.is_empty(), "`paths` is empty; give the pages that users fetch");
        let (target, host) = planned.target.site()?;
        let paths = self.paths.clone();
        let talk = Talk::Fetch { host, paths };
        let crowd = Crowd::new(target, Some(self.sources), talk, self.users)?;
        Ok(Box::new(Surge { crowd, users: self.users, end_ns: 0 }))
    }
}

impl Disturbance for Surge {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let start_ns = realtime_ns();
        self.crowd.come(0..self.users)?;
        Ok(start_ns)
    }

    fn keep_up(&mut self, until_ns: i64, stop: Stop) -> Result<()> {
        while !stop.asked() && steady_ns() < until_ns {
            self.crowd.attend(until_ns, true)?;
        }
        self.end_ns = realtime_ns();
        self.crowd.hear_out(&stop)
    }

    fn end(&mut self) -> Result<End> {
        let unanswered = self.crowd.leave();
        let effect = json!({
            "users": self.users,
            "requests": self.crowd.sent(),
            "unanswered": unanswered,
            "answered_by_ns": realtime_ns(),
        });
        Ok(End { at_ns: self.end_ns, ..End::now(effect) })
    }
}
