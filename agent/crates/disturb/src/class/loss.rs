//! Loss: a share of the packets to the subject is lost.
//!
//! A filter sends packets to the subject's address by chance into a discipline that drops what it is
//! given and says that it was sent (`blackhole`), as netem does: a sender that is told of a drop on
//! its own machine behaves otherwise. The filter is there from the start to the end.

use crate::class::Preparation;
use crate::disturbance::{Disturbance, End};
use crate::keeper::{Held, Keeper};
use crate::plan::Planned;
use crate::shaper::{Way, words};
use crate::undo::Undo;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tierlab_record::clock::realtime_ns;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Of the packets to the subject, by chance.
    #[serde(default = "three_tenths")]
    share: f64,
}

fn three_tenths() -> f64 {
    0.3
}

struct Losing {
    // Before what it hangs on.
    filtered: Option<Held>,
    way: Arc<Way>,
    class: usize,
    program: String,
    keeper: Keeper,
}

impl Loss {
    /// Installs what drops, without a way to it.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(
            self.share > 0.0 && self.share <= 1.0,
            "`share` is {}; give more than 0 and at most 1",
            self.share
        );
        let address = planned.target.address.context("it needs the subject's `address`")?;
        let keeper = preparation.keeper.clone();
        let shaper = preparation.shaper()?;
        let (class, _) = shaper.class(format!("loss {address}"), "blackhole")?;
        let (way, program) = (shaper.way(), program(address, self.share));
        Ok(Box::new(Losing { filtered: None, way, class, program, keeper }))
    }
}

/// A classic BPF program as `tc` takes it: all ones for a packet that is to be lost.
fn program(address: Ipv4Addr, share: f64) -> String {
    const ETHERTYPE: u32 = 12;
    const DESTINATION: u32 = 14 + 16;
    const IPV4: u32 = 0x0800;
    /// The kernel's own random number (SKF_AD_OFF + SKF_AD_RANDOM).
    const RANDOM: u32 = (-0x1000i32 + 56) as u32;
    const LOAD_HALF: u16 = 0x28;
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    let last_lost = (share * f64::from(u32::MAX)) as u32;
    // Code, how many to skip if so, how many otherwise, operand.
    let instructions: [(u16, u8, u8, u32); 8] = [
        (LOAD_HALF, 0, 0, ETHERTYPE),
        (IF_EQUAL, 0, 5, IPV4),
        (LOAD, 0, 0, DESTINATION),
        (IF_EQUAL, 0, 3, address.to_bits()),
        (LOAD, 0, 0, RANDOM),
        (IF_GREATER, 1, 0, last_lost),
        (RETURN, 0, 0, u32::MAX),
        (RETURN, 0, 0, 0),
    ];
    let written = instructions
        .map(|(code, so, otherwise, operand)| format!("{code} {so} {otherwise} {operand}"));
    format!("{},{}", written.len(), written.join(","))
}

impl Disturbance for Losing {
    fn start(&mut self, _until_ns: i64) -> Result<i64> {
        let removed = format!("tc {}", self.remove());
        self.filtered = Some(self.keeper.hold(Undo::Run(words(&removed)))?);
        // Its preference puts it before the filters that have none.
        let (class, program) = (self.class, &self.program);
        self.way.tell(&format!(
            "filter add dev lo parent 1: protocol ip pref {class} bpf bytecode \"{program}\" \
             flowid 1:{class}"
        ))?;
        Ok(realtime_ns())
    }

    fn end(&mut self) -> Result<End> {
        self.way.tell(&self.remove())?;
        let end = End::now(json!({}));
        self.filtered.take().map(Held::forget).transpose()?;
        Ok(end)
    }
}

impl Losing {
    fn remove(&self) -> String {
        format!("filter del dev lo parent 1: pref {}", self.class)
    }
}
