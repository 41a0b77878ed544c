//! How many calls of which kind a request of which page makes on average, from nothing but how many
//! of them come while how many of those are under way: where it is not known whose a call is, it is
//! shared out among the requests under way by these very averages, again and again (expectation
//! maximisation of superposed Poisson processes).

use crate::event_loop::commonness::Commonness;
use crate::event_loop::open::Open;
use crate::event_loop::request::{Call, Request};
use crate::names::Name;
use crate::topology::Topology;
use crate::visit::Visit;
use rustc_hash::FxHashMap;

const ROUNDS: usize = 30;
/// A shared literal makes a request likelier by no more than this.
const RAREST: f64 = 10_000.0;

/// Averages by page and call.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// Those that share a literal with their request are another kind.
    calls: FxHashMap<(Name, Name, bool), f64>,
    sums: FxHashMap<Name, f64>,
}

/// A call, and the pages of the requests that may have made it, each with its weight.
type Shared = (Name, Vec<((Name, bool), f64)>);

impl Rates {
    /// From a sample, in any order.
    pub fn of(
        parents: &[&Visit],
        children: &[&Visit],
        literals: &Commonness,
        topology: &Topology,
    ) -> Self {
        let mut visits: FxHashMap<Name, f64> = FxHashMap::default();
        parents.iter().for_each(|it| *visits.entry(it.label).or_default() += 1.0);
        let calls = shared_calls(parents, children, literals, topology);
        let mut it = Self::default();
        for (call, pages) in &calls {
            for &((page, is_shared), _) in pages {
                it.calls.insert((page, *call, is_shared), 1.0);
            }
        }
        for _round in 0..ROUNDS {
            let mut next: FxHashMap<(Name, Name, bool), f64> = FxHashMap::default();
            for (call, pages) in &calls {
                let weight = |&((page, is_shared), weight): &((Name, bool), f64)| {
                    it.calls[&(page, *call, is_shared)] * weight
                };
                let all: f64 = pages.iter().map(weight).sum::<f64>().max(1e-300);
                for each in pages {
                    let (page, is_shared) = each.0;
                    *next.entry((page, *call, is_shared)).or_default() +=
                        weight(each) / all / visits[&page];
                }
            }
            it.calls = next;
        }
        for (&(page, ..), rate) in &it.calls {
            *it.sums.entry(page).or_default() += rate;
        }
        it
    }

    /// Calls of a kind for each visit of a page.
    pub fn calls(&self, page: Name, call: Name) -> f64 {
        let of = |is_shared| self.calls.get(&(page, call, is_shared)).copied().unwrap_or(0.0);
        of(true) + of(false)
    }

    /// All calls for each visit of a page.
    pub fn all(&self, page: Name) -> f64 {
        self.sums.get(&page).copied().unwrap_or(0.0)
    }
}

fn shared_calls(
    parents: &[&Visit],
    children: &[&Visit],
    literals: &Commonness,
    topology: &Topology,
) -> Vec<Shared> {
    enum What {
        Asked(Request),
        Replied(i64),
        Called(Call),
    }
    let mut moments = Vec::new();
    for parent in parents {
        let request = Request::of(parent);
        moments.push((request.span.departure_ns, What::Replied(request.visit)));
        moments.push((request.span.arrival_ns, What::Asked(request)));
    }
    moments
        .extend(children.iter().map(|it| (it.span.arrival_ns, What::Called(Call::of(it, false)))));
    moments.sort_by_key(|it| it.0);
    let mut open = Open::default();
    let mut calls = Vec::new();
    for (_, what) in moments {
        match what {
            What::Asked(request) => drop(open.ask(request)),
            What::Replied(visit) => {
                if let Some(slot) = open.slot(visit) {
                    open.close(slot);
                }
            }
            What::Called(_) if open.is_crowded() => {}
            What::Called(call) => {
                let mut pages: FxHashMap<(Name, bool), f64> = FxHashMap::default();
                for slot in open.around(&call, topology) {
                    if let Some(request) = open.request(slot) {
                        let rarity = literals.rarity(&call.literals, &request.literals);
                        let kind = (request.page, rarity > 0.0);
                        *pages.entry(kind).or_default() += rarity.clamp(1.0, RAREST);
                    }
                }
                calls.push((call.label, pages.into_iter().collect()));
            }
        }
    }
    calls
}
