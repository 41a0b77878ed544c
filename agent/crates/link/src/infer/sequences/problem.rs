//! A stretch of a capture: requests at the callers, and the calls that look for theirs.

use crate::infer::sample::{Index, Parent};
use crate::names::Name;
use crate::topology::{Server, Topology};
use crate::visit::{Span, Visit};
use rustc_hash::FxHashMap;

/// A call that more requests may have made gets none: it would cost much and tell nothing.
pub const MOST_CANDIDATES: usize = 128;

/// Dense numbers for the labels of requests and of calls.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    pages: FxHashMap<(Server, Name), u16>,
    kinds: FxHashMap<(usize, Name), u16>,
}

/// Labels beyond this many share a number.
const MOST_LABELS: usize = 60_000;

impl Labels {
    fn page(&mut self, server: Server, label: Name) -> u16 {
        let next = self.pages.len().min(MOST_LABELS) as u16;
        *self.pages.entry((server, label)).or_insert(next)
    }

    fn kind(&mut self, pair: usize, label: Name) -> u16 {
        let next = self.kinds.len().min(MOST_LABELS) as u16;
        *self.kinds.entry((pair, label)).or_insert(next)
    }
}

/// A call.
pub struct Call {
    /// Its label, as a number.
    pub kind: u16,
    /// The pair in which it is a call.
    pub pair: usize,
    /// When it began, and when it was over.
    pub start_ns: i64,
    pub end_ns: i64,
    /// The call before it on its connection.
    pub before: Option<u32>,
    /// The requests that may have made it, by position.
    pub candidates: Vec<u32>,
    /// By candidate: how much rarer than chance a literal is that both carry; 0 for none.
    pub rarity: Vec<f32>,
    /// Some request of the stretch carries one of its literals.
    pub has_carrier: bool,
    /// Its request is decided: the only candidate, or none.
    pub is_decided: bool,
}

/// A stretch of a capture.
pub struct Problem {
    /// The requests, by arrival.
    pub callers: Vec<Parent>,
    /// Each one's page, as a number.
    pub pages: Vec<u16>,
    /// The calls, by start.
    pub calls: Vec<Call>,
    /// The first and the last moment of the stretch.
    pub during: Span,
}

/// A call that looks for its request, or has found it.
pub struct Seeker {
    pub visit: Visit,
    /// Decided: by which request; none for a call of no request.
    pub decided: Option<Option<i64>>,
}

/// When a call was over for its caller: its reply was there, or either side closed the connection.
pub fn over_ns(visit: &Visit) -> i64 {
    visit.closed_ns.map_or(visit.ended_ns, |closed_ns| closed_ns.min(visit.ended_ns))
}

impl Problem {
    /// Sets out which request may have made which call. `seekers` are in the order of start,
    /// `callers` of arrival.
    pub fn new(
        callers: Vec<Parent>,
        seekers: &[&Seeker],
        topology: &Topology,
        labels: &mut Labels,
    ) -> Self {
        let starts = || seekers.iter().map(|it| it.visit.span.arrival_ns);
        let ends = seekers.iter().map(|it| over_ns(&it.visit));
        let arrivals = callers.iter().map(|it| it.span.arrival_ns);
        let departures = callers.iter().map(|it| it.span.departure_ns);
        let during = Span {
            arrival_ns: starts().chain(arrivals).min().unwrap_or(0),
            departure_ns: ends.chain(departures).max().unwrap_or(0),
        };
        let index = Index::new(
            &callers,
            Span {
                arrival_ns: starts().min().unwrap_or(0),
                departure_ns: starts().max().unwrap_or(0),
            },
        );
        let numbers: FxHashMap<i64, u32> =
            callers.iter().zip(0..).map(|(it, at)| (it.visit, at)).collect();
        let mut last: FxHashMap<(Server, i64), u32> = FxHashMap::default();
        let mut rarity = Vec::new();
        let calls = seekers.iter().zip(0_u32..).map(|(seeker, at)| {
            let visit = &seeker.visit;
            let pair = topology.pair_above(visit.server).unwrap_or(0);
            let span = Span { departure_ns: over_ns(visit), ..visit.span };
            let mut candidates: Vec<u32> = match seeker.decided {
                Some(by) => by.and_then(|it| numbers.get(&it).copied()).into_iter().collect(),
                None => (index.around(span, &callers))
                    .filter(|&it| {
                        let caller = &callers[it as usize];
                        // Who waits for a connection or a thread calls just when another replies.
                        span.arrival_ns < caller.span.departure_ns
                            && topology.calls(caller.server, visit.server)
                    })
                    .collect(),
            };
            if candidates.len() > MOST_CANDIDATES {
                candidates.clear();
            }
            index.shared(&visit.literals, &candidates, &mut rarity);
            Call {
                kind: labels.kind(pair, visit.label),
                pair,
                start_ns: span.arrival_ns,
                end_ns: span.departure_ns,
                before: last.insert((visit.server, visit.connection), at),
                rarity: rarity.iter().map(|&it| it as f32).collect(),
                has_carrier: index.has_carrier(&visit.literals),
                candidates,
                is_decided: seeker.decided.is_some(),
            }
        });
        let calls = calls.collect();
        let pages = callers.iter().map(|it| labels.page(it.server, it.page)).collect();
        Self { callers, pages, calls, during }
    }

    /// Leaves the calls with the most candidates without any, until no more than `most` pairs of a
    /// call and a candidate are left.
    pub fn limit(&mut self, most: usize) {
        let mut allowed = MOST_CANDIDATES;
        while self.calls.iter().map(|it| it.candidates.len()).sum::<usize>() > most {
            allowed /= 2;
            for call in self.calls.iter_mut().filter(|it| it.candidates.len() > allowed) {
                call.candidates.clear();
                call.rarity.clear();
            }
        }
    }

    /// Seconds from the first moment to the last.
    pub fn seconds(&self) -> f64 {
        let length_ns = self.during.departure_ns - self.during.arrival_ns;
        (length_ns as f64 * 1e-9).max(1e-3)
    }

    /// By pair: over how many connections its calls spread, as the exponential of their entropy.
    pub fn connections(&self) -> FxHashMap<usize, f64> {
        let mut chain: Vec<u32> = Vec::with_capacity(self.calls.len());
        let mut uses: FxHashMap<(usize, u32), f64> = FxHashMap::default();
        for (call, at) in self.calls.iter().zip(0_u32..) {
            let first = call.before.map_or(at, |before| chain[before as usize]);
            chain.push(first);
            *uses.entry((call.pair, first)).or_default() += 1.0;
        }
        let mut sums: FxHashMap<usize, (f64, f64)> = FxHashMap::default();
        for ((pair, _), count) in uses {
            let sum = sums.entry(pair).or_default();
            *sum = (sum.0 + count, sum.1 + count * count.ln());
        }
        let spread = |(whole, logs): (f64, f64)| (whole.ln() - logs / whole).exp();
        sums.into_iter().map(|(pair, sum)| (pair, spread(sum))).collect()
    }
}
