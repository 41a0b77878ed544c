//! The two cores that all tiers share.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Processor sharing: a job's work is done at a virtual time that runs at `2 / jobs` of real time.
#[derive(Default)]
pub struct Cores {
    pub virtual_us: f64,
    pub jobs: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Cores {
    pub fn rate(&self) -> f64 {
        (2.0 / self.jobs.len().max(1) as f64).min(1.0)
    }

    pub fn add(&mut self, user: usize, work_us: f64) {
        self.jobs.push(Reverse((((self.virtual_us + work_us) * 1e3) as u64, user)));
    }
}
