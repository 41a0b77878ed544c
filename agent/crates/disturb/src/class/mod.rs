//! The classes of disturbance, one file each: its keys, how it is prepared, caused and undone.

mod burst;
mod checkpoint;
mod cold_cache;
mod cpu;
mod disk;
mod freeze;
mod gc;
mod lock;
mod loss;
mod memory;
mod network;
mod pool;
mod quota;
mod restart;
mod slow_clients;
mod weight;

use crate::attach::Doors;
use crate::disturbance::Disturbance;
use crate::keeper::Keeper;
use crate::plan::Planned;
use crate::shaper::Shaper;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// What is done to a server, and how much of it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "class", rename_all = "snake_case")]
pub enum Class {
    /// Users come all at once.
    Burst(burst::Burst),
    /// It writes its changed pages.
    Checkpoint(checkpoint::Checkpoint),
    /// It forgets its pages.
    ColdCache(cold_cache::ColdCache),
    /// A neighbour on its PUs.
    Cpu(cpu::Cpu),
    /// A neighbour on its disk.
    Disk(disk::Disk),
    /// It is stopped and continued.
    Freeze(freeze::Freeze),
    /// Its JVM collects garbage.
    Gc(gc::Gc),
    /// Another transaction holds what it needs.
    Lock(lock::Lock),
    /// Packets to it are lost.
    Loss(loss::Loss),
    /// A neighbour in its memory.
    Memory(memory::Memory),
    /// A rate limit on the way to it.
    Network(network::Network),
    /// One of its soft resources is used up.
    Pool(pool::Pool),
    /// A limit on its CPU time.
    Quota(quota::Quota),
    /// Its workers end and others come in their place.
    Restart(restart::Restart),
    /// Clients send their requests slowly.
    SlowClients(slow_clients::SlowClients),
    /// It weighs less than a neighbour on its PUs.
    Weight(weight::Weight),
}

impl Class {
    /// Its name, and its keys as planned.
    pub fn words(&self) -> (String, Map<String, Value>) {
        let mut words = match serde_json::to_value(self) {
            Ok(Value::Object(words)) => words,
            _ => Map::new(),
        };
        let class = match words.remove("class") {
            Some(Value::String(class)) => class,
            _ => String::new(),
        };
        // How to log in belongs to the plan, not to the truth.
        words.retain(|key, _| !lock::LOGIN.contains(&key.as_str()));
        (class, words)
    }

    /// Does everything that can be done before its time.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &mut Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        match self {
            Self::Burst(burst) => burst.prepare(planned),
            Self::Checkpoint(checkpoint) => checkpoint.prepare(planned, preparation),
            Self::ColdCache(cold) => cold.prepare(planned, preparation),
            Self::Cpu(cpu) => cpu.prepare(planned, preparation),
            Self::Disk(disk) => disk.prepare(planned, preparation),
            Self::Freeze(_) => freeze::prepare(planned, preparation),
            Self::Gc(_) => gc::prepare(planned, preparation),
            Self::Lock(lock) => lock.prepare(planned),
            Self::Loss(loss) => loss.prepare(planned, preparation),
            Self::Memory(memory) => memory.prepare(planned, preparation),
            Self::Network(network) => network.prepare(planned, preparation),
            Self::Pool(pool) => pool.prepare(planned),
            Self::Quota(quota) => quota.prepare(planned, preparation),
            Self::Restart(restart) => restart.prepare(planned),
            Self::SlowClients(slow_clients) => slow_clients.prepare(planned),
            Self::Weight(weight) => weight.prepare(planned, preparation),
        }
    }
}

/// What preparations share.
pub struct Preparation {
    /// Who knows the way back from every change.
    pub keeper: Keeper,
    /// The doors of JVMs that stand open.
    pub doors: Doors,
    /// The tables whose pages are written.
    pub tables: checkpoint::Tables,
    /// The caches that are emptied.
    pub caches: cold_cache::Caches,
    /// What stands in the way of packets, once anything does.
    shaper: Option<Shaper>,
}

impl Preparation {
    /// Nothing is prepared yet.
    pub fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            doors: Doors::new(),
            tables: HashMap::new(),
            caches: HashMap::new(),
            shaper: None,
        }
    }

    /// What stands in the way of packets, installed when first asked for.
    pub fn shaper(&mut self) -> Result<&mut Shaper> {
        match &mut self.shaper {
            Some(shaper) => Ok(shaper),
            none => Ok(none.insert(Shaper::install(&self.keeper)?)),
        }
    }
}
