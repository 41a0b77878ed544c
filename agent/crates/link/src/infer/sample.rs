//! The two sides of an inference: parents, each with its time and contents, and the children that
//! look for theirs.

use crate::names::Name;
use crate::topology::Server;
use crate::visit::{Span, Visit};
use rustc_hash::FxHashMap;

/// Slack of containment: the front server may send its last byte before its child's end mark.
pub const SLACK_NS: i64 = 200_000;

/// A literal that more than this share of parents carry says nothing.
const COMMON_LITERAL: f64 = 0.1;

/// A visit that may have children.
#[derive(Clone, Debug)]
pub struct Parent {
    /// Its number.
    pub visit: i64,
    /// Where it was.
    pub server: Server,
    /// When.
    pub span: Span,
    /// Its request was complete.
    pub request_end_ns: i64,
    /// Its reply began.
    pub reply_start_ns: i64,
    /// Its page.
    pub page: Name,
    /// The size of its reply.
    pub bytes: i64,
    /// What it was asked for.
    pub literals: Box<[u64]>,
    /// The probability that a lease that is already decided is its own.
    pub taken: f64,
}

impl Parent {
    /// The side of a visit that its children look at.
    pub fn of(visit: &Visit) -> Self {
        Self {
            visit: visit.visit,
            server: visit.server,
            span: visit.stay(),
            request_end_ns: visit.request_end_ns,
            reply_start_ns: visit.reply_start_ns.unwrap_or(visit.ended_ns),
            page: visit.label,
            bytes: visit.bytes_out,
            literals: visit.literals.clone(),
            taken: 0.0,
        }
    }
}

/// Finds the parents whose span contains a child's, and those that share a rare literal with it.
pub struct Index {
    slot_ns: i64,
    slots: FxHashMap<i64, Vec<u32>>,
    carriers: FxHashMap<u64, Vec<u32>>,
    parents: usize,
}

impl Index {
    /// An index of `parents` for children that arrive in `during`.
    pub fn new(parents: &[Parent], during: Span) -> Self {
        let slot_ns = 10_000_000;
        let mut slots: FxHashMap<i64, Vec<u32>> = FxHashMap::default();
        let mut carriers: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (at, parent) in parents.iter().enumerate() {
            let from_ns = parent.span.arrival_ns.max(during.arrival_ns);
            let until_ns = parent.span.departure_ns.min(during.departure_ns);
            let first = (from_ns - SLACK_NS).div_euclid(slot_ns);
            let last = (until_ns + SLACK_NS).div_euclid(slot_ns);
            for slot in first..=last {
                slots.entry(slot).or_default().push(at as u32);
            }
            for &literal in &parent.literals {
                let carriers = carriers.entry(literal).or_default();
                if carriers.last() != Some(&(at as u32)) {
                    carriers.push(at as u32);
                }
            }
        }
        let most = (parents.len() as f64 * COMMON_LITERAL).max(2.0) as usize;
        carriers.retain(|_, carriers| carriers.len() <= most);
        Self { slot_ns, slots, carriers, parents: parents.len() }
    }

    /// The parents whose span contains `span`, in their order.
    pub fn around<'a>(
        &'a self,
        span: Span,
        parents: &'a [Parent],
    ) -> impl Iterator<Item = u32> + 'a {
        let slot = span.arrival_ns.div_euclid(self.slot_ns);
        let inside = self.slots.get(&slot).map_or(&[][..], Vec::as_slice);
        inside.iter().copied().filter(move |&at| parents[at as usize].span.contains(span, SLACK_NS))
    }

    /// True if some parent carries one of these literals, and few enough do for it to say something.
    pub fn has_carrier(&self, literals: &[u64]) -> bool {
        literals.iter().any(|literal| self.carriers.contains_key(literal))
    }

    /// For each parent of `candidates` (ascending), how much rarer than chance a literal is that it
    /// shares with `literals`: parents over carriers, or 0 where they share none.
    pub fn shared(&self, literals: &[u64], candidates: &[u32], rarity: &mut Vec<f64>) {
        rarity.clear();
        rarity.resize(candidates.len(), 0.0);
        let (Some(&first), Some(&last)) = (candidates.first(), candidates.last()) else { return };
        for literal in literals {
            let Some(carriers) = self.carriers.get(literal) else { continue };
            let rare = self.parents as f64 / carriers.len() as f64;
            let from = carriers.partition_point(|&at| at < first);
            for carrier in carriers[from..].iter().take_while(|&&at| at <= last) {
                if let Ok(at) = candidates.binary_search(carrier) {
                    rarity[at] = rarity[at].max(rare);
                }
            }
        }
    }
}
