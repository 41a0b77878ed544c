//! The inference of one tier's parents, by what its calls look like.

use crate::infer::at_once::at_once;
use crate::infer::sequences::Sequences;
use crate::infer::window::LeaseMatching;
use crate::topology::Topology;
use crate::visit::{Linked, Visit};

/// With more requests under way than this, the times of single calls tell little, and the lease that
/// all calls of a request share tells more. (RUBiS with 127 under way: 99 of 100 right by leases, one
/// by sequences.)
const CROWD: usize = 32;

/// Finds the parents of one tier's visits by inference.
pub enum Inference {
    /// Each request has one lease of one connection at most, and a crowd is under way.
    Leases(Box<LeaseMatching>),
    /// Requests make any calls on any connections.
    Sequences(Box<Sequences>),
}

impl Inference {
    /// Learns from a sample of parents and children, each in the order of departure.
    pub fn learn(parents: &[&Visit], children: &[&Visit], topology: &Topology) -> Self {
        if !at_once(parents.len(), children) && usually_around(parents, children) > CROWD {
            Self::Leases(Box::new(LeaseMatching::learn(parents, children, topology)))
        } else {
            Self::Sequences(Box::new(Sequences::learn(parents, children, topology)))
        }
    }

    /// A visit that looks for its parent.
    pub fn child(&mut self, visit: Visit) {
        match self {
            Self::Leases(it) => it.child(visit),
            Self::Sequences(it) => it.child(visit),
        }
    }

    /// A visit that may be a parent.
    pub fn parent(&mut self, visit: &Visit) {
        match self {
            Self::Leases(it) => it.parent(visit),
            Self::Sequences(it) => it.parent(visit),
        }
    }

    /// Decides what can be decided at `now_ns`; everything at `i64::MAX`.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        match self {
            Self::Leases(it) => it.advance(now_ns, topology, out),
            Self::Sequences(it) => it.advance(now_ns, topology, out),
        }
    }
}

/// How many parents are under way when a child arrives, at the median.
fn usually_around(parents: &[&Visit], children: &[&Visit]) -> usize {
    let sorted = |mut times: Vec<i64>| {
        times.sort_unstable();
        times
    };
    let arrivals = sorted(parents.iter().map(|it| it.span.arrival_ns).collect());
    let departures = sorted(parents.iter().map(|it| it.ended_ns).collect());
    let around = |child: &&Visit| {
        let at_ns = child.span.arrival_ns;
        let come = arrivals.partition_point(|&it| it <= at_ns);
        come - departures.partition_point(|&it| it < at_ns).min(come)
    };
    let mut counts: Vec<usize> = children.iter().map(around).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or(0)
}
