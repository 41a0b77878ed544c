//! One window's leases and parents, and who may be whose.

use crate::infer::delay::Delay;
use crate::infer::grammar::Grammar;
use crate::infer::lease::Lease;
use crate::infer::marginals::{Edges, marginals};
use crate::infer::page_models::{PageModels, Place, Reference, Scale};
use crate::infer::ratio::Anchors;
use crate::infer::replies::{Known, Sizes};
use crate::infer::sample::{Index, Parent};
use crate::infer::sequence_probabilities::SequenceProbabilities;
use crate::names::Name;
use crate::topology::Topology;
use crate::visit::Span;
use rustc_hash::FxHashMap;

/// A parent that is less likely than the best by this factor (e to its power) is left out.
const HOPELESS: f64 = 20.0;
/// A page that is less likely than the best by this factor to say what a lease says is left out,
/// unless a rare literal speaks for it.
const UNHEARD: f64 = 9.0;
/// A lease has no more possible parents than this: those whose pages are likeliest to say what it
/// says and, of these, those that came first.
const MOST_CANDIDATES: usize = 256;
/// Of all leases, how many have no parent that was captured.
const ORPHANS: f64 = 0.0002;
/// A visit's chance to have a lease is never taken for certain.
const DOUBT: f64 = 0.001;
/// A link that is surer than this is known well enough to judge others by.
const SURE: f64 = 0.8;
/// Beliefs below this teach nothing.
const FAINT: f64 = 0.01;

/// A parent that a lease may have.
pub struct Candidate {
    /// Its position among the window's parents.
    pub parent: u32,
    /// The probability that it is the one.
    pub belief: f64,
    place: Place,
    /// The logarithm of the page's probability to say what the lease says.
    says: f64,
    rarity: f64,
}

/// A lease of the window.
pub struct Seeker {
    /// Its possible parents.
    pub candidates: Vec<Candidate>,
    /// The logarithm of an average page's probability to say what it says.
    usual: f64,
    start_ns: i64,
    answered_ns: i64,
    bytes: i64,
    reference: Reference,
}

/// The window.
pub struct Matching<'a> {
    parents: &'a [Parent],
    /// The leases, in their order.
    pub seekers: Vec<Seeker>,
    /// The parents' pages, and each one's chance to have a lease.
    pages: Vec<(Name, f64)>,
    /// By parent: the position of its page, and the share of that page's visits of its size.
    page_of: Vec<u32>,
    usual: Vec<f64>,
    now_ns: i64,
    seconds: f64,
}

impl<'a> Matching<'a> {
    /// Sets out every lease's possible parents. `parents` are in the order of arrival.
    pub fn new(
        leases: &[Lease],
        parents: &'a [Parent],
        grammar: &Grammar,
        topology: &Topology,
        now_ns: i64,
    ) -> Self {
        let first_ns = leases.iter().map(|lease| lease.span().arrival_ns).min().unwrap_or(0);
        let last_ns = leases.iter().map(|lease| lease.span().arrival_ns).max().unwrap_or(0);
        let chance = |page| grammar.fertility(page).clamp(DOUBT, 1.0 - DOUBT);
        let fertility: FxHashMap<Name, f64> =
            grammar.pages().map(|page| (page, chance(page))).collect();
        let index = Index::new(parents, Span { arrival_ns: first_ns, departure_ns: last_ns });
        let mut sequences = SequenceProbabilities::new(grammar, &fertility);
        let seekers = (leases.iter())
            .map(|lease| {
                let around = around(lease, parents, &index, topology);
                seeker(lease, parents, &index, &mut sequences, &around)
            })
            .collect();
        let mut pages: Vec<Name> = parents.iter().map(|parent| parent.page).collect();
        pages.sort_unstable();
        pages.dedup();
        let page_of = |parent: &Parent| pages.partition_point(|&page| page < parent.page) as u32;
        let sizes = Sizes::of(parents.iter().map(|parent| (parent.page, parent.bytes)));
        Self {
            parents,
            seekers,
            page_of: parents.iter().map(page_of).collect(),
            usual: parents.iter().map(|it| sizes.share(it.page, it.bytes)).collect(),
            pages: pages.into_iter().map(|page| (page, chance(page))).collect(),
            now_ns,
            seconds: ((last_ns - first_ns) as f64 * 1e-9).max(0.1),
        }
    }

    /// Works out every candidate's belief, jointly, under these models.
    pub fn solve(&mut self, page_models: &PageModels) {
        let followed = page_models.followed();
        let scales: Vec<Scale<'_>> =
            self.pages.iter().map(|&(page, _)| page_models.scale(page, &followed)).collect();
        let per_second = self.seekers.len() as f64 / self.seconds;
        let mut edges = Edges::new();
        let mut ends = Vec::new();
        for (at, seeker) in self.seekers.iter().enumerate() {
            let late_ns = self.now_ns.saturating_sub(seeker.answered_ns);
            let alone = (per_second * (ORPHANS + page_models.later(late_ns))).ln() + seeker.usual;
            let by_page = self.by_page(seeker, page_models);
            let weights: Vec<f64> = (seeker.candidates.iter())
                .map(|candidate| self.weight(seeker, candidate, &scales, &by_page))
                .collect();
            let best = weights.iter().copied().fold(alone, f64::max);
            let mut likely = Vec::new();
            for (which, candidate) in seeker.candidates.iter().enumerate() {
                if weights[which] > best - HOPELESS {
                    likely.push((candidate.parent, weights[which]));
                    ends.push((at, which));
                }
            }
            edges.lease(&likely, alone);
        }
        let beliefs = marginals(&edges, &self.childless(page_models), &self.free());
        for candidate in self.seekers.iter_mut().flat_map(|seeker| &mut seeker.candidates) {
            candidate.belief = 0.0;
        }
        for (&(at, which), belief) in ends.iter().zip(beliefs) {
            self.seekers[at].candidates[which].belief = belief;
        }
    }

    /// Takes the delays of the links that are sure as references for their neighbours in time.
    pub fn refer(&mut self) {
        let mut known = (Vec::new(), Vec::new());
        for (at, seeker) in self.seekers.iter().enumerate() {
            for candidate in seeker.candidates.iter().filter(|it| it.belief > SURE) {
                let Place { before, after, .. } = candidate.place;
                known.0.extend(before.log.map(|log| (seeker.start_ns, log, at as u32)));
                known.1.extend(after.log.map(|log| (seeker.answered_ns, log, at as u32)));
            }
        }
        let (before, after) = (Anchors::new(known.0), Anchors::new(known.1));
        for (at, seeker) in self.seekers.iter_mut().enumerate() {
            seeker.reference = Reference {
                before: before.reference(seeker.start_ns, at as u32),
                after: after.reference(seeker.answered_ns, at as u32),
            };
        }
    }

    /// Teaches the models what the first `due` leases, and the parents until `decided_ns`, show.
    pub fn teach(&self, due: usize, decided_ns: i64, page_models: &mut PageModels) {
        let mut childless: Vec<f64> =
            self.parents.iter().map(|parent| 1.0 - parent.taken).collect();
        for candidate in self.seekers.iter().flat_map(|seeker| &seeker.candidates) {
            childless[candidate.parent as usize] -= candidate.belief;
        }
        for seeker in &self.seekers[..due] {
            let sure = seeker.candidates.iter().find(|it| it.belief > SURE);
            page_models.reuse.see(sure.and_then(|it| it.place.again));
            for it in seeker.candidates.iter().filter(|it| it.belief > FAINT) {
                let parent = &self.parents[it.parent as usize];
                page_models.see_lease(parent.page, it.place, it.rarity > 0.0, it.belief);
                page_models.see_ratios(it.place, seeker.reference, it.belief);
                page_models.replies.see(parent.page, seeker.bytes, parent.bytes, it.belief);
            }
        }
        for (parent, childless) in self.parents.iter().zip(childless) {
            if childless > FAINT && parent.span.departure_ns <= decided_ns {
                page_models.see_childless(parent.page, reply_ns(parent), childless);
            }
        }
    }

    /// By page: the sizes that followed what a lease was answered, and the weight of all that the
    /// lease itself has taught of them.
    fn by_page<'h>(
        &self,
        seeker: &Seeker,
        page_models: &'h PageModels,
    ) -> Vec<(Option<Known<'h>>, f64)> {
        let known = |&(page, _): &(Name, f64)| (page_models.replies.after(page, seeker.bytes), 0.0);
        let mut by_page: Vec<_> = self.pages.iter().map(known).collect();
        for it in seeker.candidates.iter().filter(|it| it.belief > FAINT) {
            by_page[self.page_of[it.parent as usize] as usize].1 += it.belief;
        }
        by_page
    }

    fn weight(
        &self,
        seeker: &Seeker,
        it: &Candidate,
        scales: &[Scale<'_>],
        by_page: &[(Option<Known<'_>>, f64)],
    ) -> f64 {
        let (parent, page) =
            (&self.parents[it.parent as usize], self.page_of[it.parent as usize] as usize);
        let own = if it.belief > FAINT { it.belief } else { 0.0 };
        let replies = by_page[page].0.map_or(0.0, |known| {
            let taught = (own, if own > 0.0 { by_page[page].1 } else { 0.0 });
            known.evidence(parent.bytes, self.usual[it.parent as usize], taught)
        });
        self.pages[page].1.ln()
            + it.says
            + scales[page].place(it.place, seeker.reference)
            + scales[page].literals(it.rarity)
            + replies
    }

    fn childless(&self, page_models: &PageModels) -> Vec<f64> {
        let weight = |(parent, &page): (&Parent, &u32)| {
            (1.0 - self.pages[page as usize].1)
                * page_models.childless(parent.page, reply_ns(parent))
        };
        self.parents.iter().zip(&self.page_of).map(weight).collect()
    }

    fn free(&self) -> Vec<f64> {
        self.parents.iter().map(|parent| (1.0 - parent.taken).max(DOUBT)).collect()
    }
}

fn reply_ns(parent: &Parent) -> i64 {
    parent.reply_start_ns.saturating_sub(parent.request_end_ns)
}

/// The parents of a server that calls the lease's whose span contains it.
fn around(lease: &Lease, parents: &[Parent], index: &Index, topology: &Topology) -> Vec<u32> {
    (index.around(lease.span(), parents))
        .filter(|&at| topology.calls(parents[at as usize].server, lease.server()))
        .collect()
}

fn seeker(
    lease: &Lease,
    parents: &[Parent],
    index: &Index,
    sequences: &mut SequenceProbabilities<'_>,
    around: &[u32],
) -> Seeker {
    let (span, answered_ns) = (lease.span(), lease.answered_ns());
    let mut rarity = Vec::new();
    index.shared(&lease.literals(), around, &mut rarity);
    let sequence = sequences.of(lease.labels());
    let candidates = around.iter().zip(rarity).filter_map(|(&at, rarity)| {
        let parent = &parents[at as usize];
        let says = sequence.on(parent.page);
        let place = Place {
            before: Delay::new(span.arrival_ns - parent.request_end_ns),
            after: Delay::new(parent.reply_start_ns.saturating_sub(answered_ns)),
            again: lease.next_ns.map(|next| Delay::new(next.saturating_sub(parent.reply_start_ns))),
        };
        let hopeless = says < sequence.best - UNHEARD && rarity == 0.0;
        (!hopeless).then_some(Candidate { parent: at, belief: 0.0, place, says, rarity })
    });
    let mut candidates: Vec<Candidate> = candidates.collect();
    if candidates.len() > MOST_CANDIDATES {
        let speaks = |it: &Candidate| it.says + it.rarity.max(1.0).ln();
        candidates.sort_by(|a, b| speaks(b).total_cmp(&speaks(a)));
        candidates.truncate(MOST_CANDIDATES);
        candidates.shrink_to_fit();
    }
    Seeker {
        candidates,
        usual: sequence.usual,
        start_ns: span.arrival_ns,
        answered_ns,
        bytes: lease.children.iter().map(|child| child.bytes_out).sum(),
        reference: Reference::default(),
    }
}
