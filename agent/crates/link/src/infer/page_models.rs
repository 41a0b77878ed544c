//! What is usual: how long what takes, and how large replies are, on one page and on all.

use crate::infer::delay::{BUCKETS, Delay, Delays, bucket};
use crate::infer::ratio::{RatioScale, Ratios};
use crate::infer::replies::Replies;
use crate::infer::reuse::{Reuse, ReuseScale};
use crate::names::Name;
use rustc_hash::FxHashMap;

/// What was seen in earlier windows weighs so much in the next.
const FADE: f64 = 0.5;
/// As many leases as this make a page's own delays weigh as much as those of all pages.
const OWN: f64 = 20.0;
/// How far delays follow those of their neighbours in time.
const FOLLOWS: f64 = 0.9;

/// The delays of one page's visits.
#[derive(Clone, Debug)]
struct PageModel {
    /// From the request to the first child.
    before: Delays,
    /// From the last child to the reply.
    after: Delays,
    /// From the request to the reply, of visits without children.
    childless: Delays,
    /// Leases that share a rare literal with their parent, and all leases.
    shared: f64,
    leases: f64,
}

impl PageModel {
    fn new() -> Self {
        let (before, after, childless) = (Delays::new(), Delays::new(), Delays::new());
        Self { before, after, childless, shared: 0.5, leases: 1.0 }
    }
}

/// What is usual.
#[derive(Clone, Debug)]
pub struct PageModels {
    all: PageModel,
    pages: FxHashMap<Name, PageModel>,
    before: Ratios,
    after: Ratios,
    /// The next uses of connections.
    pub reuse: Reuse,
    /// The sizes of replies.
    pub replies: Replies,
}

/// A lease's place in its parent's time.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// From the parent's request to the lease's first child.
    pub before: Delay,
    /// From the lease's last reply to the parent's reply.
    pub after: Delay,
    /// From the parent's reply to the next use of the lease's connection; none where there was none.
    pub again: Option<Delay>,
}

/// Logarithms of the delays that are usual at a lease's first and last moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference {
    /// Of [`Place::before`].
    pub before: Option<f64>,
    /// Of [`Place::after`].
    pub after: Option<f64>,
}

/// What holds for all pages, ready to be looked up: how far delays are from their references, and
/// when connections are used again.
pub struct Followed {
    before: RatioScale,
    after: RatioScale,
    reuse: ReuseScale,
}

/// What one page's models say of a lease, worked out for every place.
pub struct Scale<'a> {
    before: Vec<f64>,
    after: Vec<f64>,
    followed: &'a Followed,
    /// The share of the page's leases that share a rare literal with their parent.
    sharing: f64,
}

impl Scale<'_> {
    /// The logarithm of the density of a lease at this place, per second squared, and of the next
    /// use of its connection, if there was one.
    pub fn place(&self, place: Place, reference: Reference) -> f64 {
        let of = |table: &[f64], delay: Delay, reference, ratios: &RatioScale| {
            let usual = table[delay.bucket as usize];
            let (Some(log), Some(reference)) = (delay.log, reference) else { return usual };
            // The larger of a mixture's two parts stands for their sum.
            let followed: f64 = ratios.log_density(log - reference) - log;
            (followed + FOLLOWS.ln()).max(usual + (1.0 - FOLLOWS).ln())
        };
        of(&self.before, place.before, reference.before, &self.followed.before)
            + of(&self.after, place.after, reference.after, &self.followed.after)
            + place.again.map_or(0.0, |again| self.followed.reuse.log_density(again))
    }

    /// How much likelier a lease and a parent that share a literal (`rarity` times rarer than
    /// chance), or share none (0), are together than by chance; as a logarithm.
    pub fn literals(&self, rarity: f64) -> f64 {
        let likelihood = if rarity > 0.0 { self.sharing * rarity } else { 1.0 - self.sharing };
        likelihood.ln()
    }
}

impl PageModels {
    /// Nothing known.
    pub fn new() -> Self {
        Self {
            all: PageModel::new(),
            pages: FxHashMap::default(),
            before: Ratios::new(),
            after: Ratios::new(),
            reuse: Reuse::new(),
            replies: Replies::default(),
        }
    }

    /// Makes room for the next window's.
    pub fn fade(&mut self) {
        for page_model in self.pages.values_mut().chain([&mut self.all]) {
            for delays in [&mut page_model.before, &mut page_model.after, &mut page_model.childless]
            {
                delays.fade(FADE);
            }
        }
        self.before.fade(FADE);
        self.after.fade(FADE);
        self.reuse.fade(FADE);
        self.replies.fade(FADE);
    }

    /// Sees a lease at its parent, with the probability that it is its parent.
    pub fn see_lease(&mut self, page: Name, place: Place, shares_literal: bool, weight: f64) {
        for page_model in [&mut self.all, self.pages.entry(page).or_insert_with(PageModel::new)] {
            page_model.before.see_at(place.before.bucket.into(), weight);
            page_model.after.see_at(place.after.bucket.into(), weight);
            page_model.shared += if shares_literal { weight } else { 0.0 };
            page_model.leases += weight;
        }
    }

    /// Sees how far a lease's delays are from their reference.
    pub fn see_ratios(&mut self, place: Place, reference: Reference, weight: f64) {
        if let (Some(log), Some(reference)) = (place.before.log, reference.before) {
            self.before.see(log - reference, weight);
        }
        if let (Some(log), Some(reference)) = (place.after.log, reference.after) {
            self.after.see(log - reference, weight);
        }
    }

    /// Sees a visit without a lease, with the probability that it has none.
    pub fn see_childless(&mut self, page: Name, reply_ns: i64, weight: f64) {
        for page_model in [&mut self.all, self.pages.entry(page).or_insert_with(PageModel::new)] {
            page_model.childless.see(reply_ns, weight);
        }
    }

    /// What holds for all pages, worked out.
    pub fn followed(&self) -> Followed {
        let (before, after) = (self.before.scale(), self.after.scale());
        Followed { before, after, reuse: self.reuse.scale() }
    }

    /// One page's models, worked out.
    pub fn scale<'a>(&self, page: Name, followed: &'a Followed) -> Scale<'a> {
        let logs = |pick: fn(&PageModel) -> &Delays| {
            (0..BUCKETS).map(|at| self.density(page, pick, at).ln()).collect()
        };
        let own = self.pages.get(&page).unwrap_or(&self.all);
        let sharing = (own.shared / own.leases).clamp(0.003, 0.997);
        let (before, after) =
            (logs(|page_model| &page_model.before), logs(|page_model| &page_model.after));
        Scale { before, after, followed, sharing }
    }

    /// The density of a childless visit's reply, per second.
    pub fn childless(&self, page: Name, reply_ns: i64) -> f64 {
        self.density(page, |page_model| &page_model.childless, bucket(reply_ns))
    }

    /// The probability that a parent's reply comes later than this after its last child.
    pub fn later(&self, after_ns: i64) -> f64 {
        self.all.after.survival(after_ns)
    }

    fn density(&self, page: Name, pick: fn(&PageModel) -> &Delays, bucket: usize) -> f64 {
        let common = pick(&self.all).density_at(bucket);
        let Some(own) = self.pages.get(&page).map(pick) else { return common };
        let weight = own.weight() / (own.weight() + OWN);
        weight * own.density_at(bucket) + (1.0 - weight) * common
    }
}
