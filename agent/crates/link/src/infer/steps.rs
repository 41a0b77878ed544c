//! A sample as chains of steps: on each connection child after child, each with the parents whose
//! span contains it.

use crate::infer::sample::{Index, Parent};
use crate::names::Name;
use crate::topology::Topology;
use crate::visit::{Span, Visit};

/// How much rarer than chance a shared literal may make a pair of child and parent.
const STRONGEST: f64 = 1_000.0;
/// A child among more parents than this teaches nothing that others do not teach better.
const MOST_CANDIDATES: usize = 1_000;

/// A child of the sample and those that may be its parent.
pub struct Step {
    pub label: Name,
    pub pause_ns: i64,
    pub candidates: Vec<u32>,
    pub evidence: Vec<f32>,
    /// By candidate: its position among those of the step before, or `NEW`.
    pub before: Vec<u32>,
}

/// Was no candidate in the step before.
pub const NEW: u32 = u32::MAX;

/// The connections as chains, parted where a child has no possible parent.
pub fn chains(
    parents: &[Parent],
    connections: &[Vec<&Visit>],
    topology: &Topology,
) -> Vec<Vec<Step>> {
    let arrivals = || connections.iter().flatten().map(|visit| visit.span.arrival_ns);
    let (first_ns, last_ns) = (arrivals().min().unwrap_or(0), arrivals().max().unwrap_or(0));
    let during = Span { arrival_ns: first_ns, departure_ns: last_ns };
    let index = Index::new(parents, during);
    let mut chains = Vec::new();
    let mut rarity = Vec::new();
    for children in connections {
        let mut chain: Vec<Step> = Vec::new();
        let mut free_since = None;
        for child in children {
            let candidates: Vec<u32> = (index.around(child.stay(), parents))
                .filter(|&at| topology.calls(parents[at as usize].server, child.server))
                .collect();
            if candidates.is_empty() || candidates.len() > MOST_CANDIDATES {
                chains.push(std::mem::take(&mut chain));
                free_since = None;
                continue;
            }
            index.shared(&child.literals, &candidates, &mut rarity);
            let evidence = rarity.iter().map(|rare| rare.clamp(1.0, STRONGEST) as f32).collect();
            let pause_ns = free_since.map_or(0, |since| child.span.arrival_ns - since);
            let before = positions(&candidates, chain.last().map(|step| &step.candidates[..]));
            chain.push(Step { label: child.label, pause_ns, candidates, evidence, before });
            free_since = Some(child.ended_ns);
        }
        chains.push(chain);
    }
    chains.retain(|chain| !chain.is_empty());
    chains
}

fn positions(candidates: &[u32], before: Option<&[u32]>) -> Vec<u32> {
    let position = |it| before.and_then(|before| before.binary_search(it).ok());
    candidates.iter().map(|it| position(it).map_or(NEW, |at| at as u32)).collect()
}

/// The parents' pages, numbered densely, and how likely a parent is to begin a lease per second.
pub struct Pages {
    pub names: Vec<Name>,
    pub of: Vec<u32>,
    pub haste: Vec<f64>,
}

impl Pages {
    pub fn of(parents: &[Parent]) -> Self {
        let mut names: Vec<Name> = parents.iter().map(|parent| parent.page).collect();
        names.sort_unstable();
        names.dedup();
        let number = |parent: &Parent| names.partition_point(|&page| page < parent.page) as u32;
        let of = parents.iter().map(number).collect();
        let haste = |parent: &Parent| {
            1e9 / (parent.span.departure_ns.saturating_sub(parent.span.arrival_ns) as f64 + 1e6)
        };
        Self { of, haste: parents.iter().map(haste).collect(), names }
    }
}
