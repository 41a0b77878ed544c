//! Network: a rate limit on the way into the subject.
//!
//! On the loopback of the trial's namespace, a token bucket (tbf) stands in the way of what goes to
//! the subject's address: wide open from the preparation on, narrowed at the start, opened at the
//! end. A change of its rate refills a bucket and leaves packets in it alone, so that both moments
//! are sharp; a datagram of our own takes what the bucket holds at the start.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::Planned;
use crate::shaper::{Way, discipline, words};
use crate::undo::{Undo, run};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::UdpSocket;
use std::sync::Arc;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bytes per second into the subject.
    #[serde(default = "rate_64_kib")]
    rate: u64,
}

fn rate_64_kib() -> u64 {
    64 << 10
}

/// More than any loopback carries, with a bucket that never empties.
const OPEN: &str = "rate 100gbit burst 4mb";
/// The largest packet of a loopback is 65,550 bytes; a bucket that cannot hold it drops it. What is
/// left in it once our datagram has passed is a few small packets.
const BUCKET: u64 = 66_000;
/// The largest UDP payload.
const DATAGRAM: usize = 65_507;

struct Limit {
    // Before what it hangs on.
    narrowed: Option<Held>,
    way: Arc<Way>,
    class: usize,
    rate: u64,
    drain: UdpSocket,
    keeper: Keeper,
}

impl Network {
    /// Installs what limits, wide open.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.rate > 0, "`rate` is 0; give 1 byte a second or more");
        let address = planned.target.address.context("it needs the subject's `address`")?;
        let keeper = preparation.keeper.clone();
        let shaper = preparation.shaper()?;
        let (class, is_new) = shaper.class(format!("limit {address}"), &bucket(OPEN))?;
        if is_new {
            run(&words(&format!(
                "tc filter add dev lo parent 1: protocol ip u32 match ip dst {address}/32 \
                 flowid 1:{class}"
            )))?;
        }
        // A socket of our own at the subject's address takes the datagram.
        let drain = UdpSocket::bind((address, 0))?;
        drain.connect(drain.local_addr()?)?;
        let way = shaper.way();
        Ok(Box::new(Limit { way, class, rate: self.rate, drain, narrowed: None, keeper }))
    }
}

impl Disturbance for Limit {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let opened = format!("tc {}", self.change(OPEN));
        self.narrowed = Some(self.keeper.hold(Undo::Run(words(&opened)))?);
        let narrow = format!("rate {}bit burst {BUCKET}", self.rate * 8);
        self.way.tell(&self.change(&narrow))?;
        // What the bucket holds would pass at once.
        let _ = self.drain.send(&[0; DATAGRAM]);
        Ok(realtime_ns())
    }

    fn end(&mut self) -> Result<End> {
        self.way.tell(&self.change(OPEN))?;
        let end = End::now(json!({}));
        // Those who wait are let go by the next packet that passes.
        let _ = self.drain.send(&[0]);
        self.narrowed.take().map(Held::forget).transpose()?;
        Ok(end)
    }
}

impl Limit {
    fn change(&self, rate: &str) -> String {
        discipline("change", self.class, &bucket(rate))
    }
}

fn bucket(rate: &str) -> String {
    format!("tbf {rate} limit 64mb")
}
