//! How requests behave: which call follows which on a page, after which gap, and which is the last.
//!
//! A page is a Markov chain whose state is the label of the last call and how often the page has made
//! it, so that a page that calls twice differs from one that calls again and again. A call that
//! begins while another of the same request is under way is a step of its own kind.

use super::gaps::{Density, Gaps, cell, density};
use rustc_hash::FxHashMap;

/// In place of a call's label: the page has made no call yet, or makes no further one.
pub const NONE: u16 = u16::MAX;
/// Stands for all pages.
const ANY_PAGE: u16 = u16::MAX;
/// Calls of one label are counted up to this.
pub const MOST_REPEATS: usize = 7;
/// Weight of the page's average against the steps counted from a state.
const PRIOR: f64 = 0.4;
/// Share of calls that begin beside another, where nothing is known.
const BESIDE: f64 = 0.02;
/// Gaps of other pages weigh at most this much in a page's own.
const OTHERS: f64 = 4.0;
/// A page may make any call with at least this share.
const LEAST: f64 = 1e-4;

/// What a request has done so far: its page, its last call's label and how often it made that call.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub page: u16,
    pub last: u16,
    pub repeats: usize,
}

/// What a request does next: a call, beside the one under way or after it, or its reply.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub kind: u16,
    pub is_beside: bool,
}

fn key(state: State, next: Next) -> u64 {
    from(state) << 17 | u64::from(next.is_beside) << 16 | u64::from(next.kind)
}

fn from(state: State) -> u64 {
    u64::from(state.page) << 20 | u64::from(state.last) << 4 | state.repeats as u64
}

/// Steps counted, with their gaps.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    steps: FxHashMap<u64, Gaps>,
    from: FxHashMap<u64, f64>,
    /// By page: requests; by page and label: calls.
    requests: FxHashMap<u16, f64>,
    calls: FxHashMap<(u16, u16), f64>,
}

impl Counts {
    /// Counts a step.
    pub fn step(&mut self, state: State, next: Next, gap_ns: i64, weight: f64) {
        for page in [state.page, ANY_PAGE] {
            let state = State { page, ..state };
            self.steps.entry(key(state, next)).or_default().count(gap_ns, weight);
        }
        *self.from.entry(from(state)).or_default() += weight;
        if next.kind == NONE {
            *self.requests.entry(state.page).or_default() += weight;
        } else {
            *self.calls.entry((state.page, next.kind)).or_default() += weight;
        }
    }

    /// Counts calls of a page that no step tells of, and requests.
    pub fn expect(&mut self, page: u16, kind: u16, calls: f64) {
        *self.calls.entry((page, kind)).or_default() += calls;
    }

    /// Counts requests of a page.
    pub fn request(&mut self, page: u16) {
        *self.requests.entry(page).or_default() += 1.0;
    }

    /// How many calls of a label a request of a page makes, on average.
    pub fn calls_per_request(&self, page: u16, kind: u16) -> f64 {
        let of = self.requests.get(&page).copied().unwrap_or(0.0);
        (self.calls.get(&(page, kind)).copied().unwrap_or(0.0) + 0.01) / (of + 1.0)
    }

    /// Multiplies all counts.
    pub fn scale(&mut self, factor: f64) {
        self.steps.values_mut().for_each(|it| it.scale(factor));
        self.from.values_mut().for_each(|it| *it *= factor);
        self.requests.values_mut().for_each(|it| *it *= factor);
        self.calls.values_mut().for_each(|it| *it *= factor);
    }
}

struct Step {
    log_share: f32,
    density: u32,
}

/// The behaviour of all pages, ready to be looked up.
pub struct Behaviour {
    steps: FxHashMap<u64, Step>,
    densities: Vec<Density>,
    /// By page and label: the share of steps, where no more is known; and by page for its reply.
    average: FxHashMap<(u16, u16), f64>,
    reply: FxHashMap<u16, f64>,
    /// By page and state: the weight of the average.
    unseen: FxHashMap<u64, f32>,
}

impl Behaviour {
    /// The behaviour that counts show.
    pub fn of(counts: &Counts) -> Self {
        let mut calls: FxHashMap<u16, f64> = FxHashMap::default();
        for &(page, kind) in counts.calls.keys() {
            *calls.entry(page).or_default() += counts.calls_per_request(page, kind);
        }
        let share = |&(page, kind): &(u16, u16)| {
            let share = counts.calls_per_request(page, kind) / (1.0 + calls[&page]);
            ((page, kind), share.max(LEAST))
        };
        let mut it = Self {
            steps: FxHashMap::default(),
            densities: vec![density(&Gaps::default(), None)],
            average: counts.calls.keys().map(share).collect(),
            reply: calls.iter().map(|(&page, calls)| (page, 1.0 / (1.0 + calls))).collect(),
            unseen: FxHashMap::default(),
        };
        for (&from, &weight) in &counts.from {
            it.unseen.insert(from, (PRIOR / (weight + PRIOR)).ln() as f32);
        }
        for (&key, gaps) in &counts.steps {
            it.add(key, gaps, counts);
        }
        it
    }

    fn add(&mut self, key: u64, gaps: &Gaps, counts: &Counts) {
        /// A page's gaps that weigh less are those of all pages.
        const FEW: f64 = 2.0;
        let (from, next) = (key >> 17, Next { kind: key as u16, is_beside: key >> 16 & 1 == 1 });
        let page = (from >> 20) as u16;
        let any = u64::from(ANY_PAGE) << 37 | (key & ((1 << 37) - 1));
        if page != ANY_PAGE && gaps.weight() < FEW {
            return;
        }
        let others = counts.steps.get(&any).filter(|_| page != ANY_PAGE);
        let number = self.densities.len() as u32;
        self.densities.push(density(gaps, others.map(|it| (it, OTHERS))));
        let whole = counts.from.get(&from).copied().unwrap_or(0.0);
        let share = (gaps.weight() + PRIOR * self.average(page, next)) / (whole + PRIOR);
        self.steps.insert(key, Step { log_share: share.ln() as f32, density: number });
    }

    fn average(&self, page: u16, next: Next) -> f64 {
        if next.kind == NONE {
            return self.reply.get(&page).copied().unwrap_or(0.5);
        }
        let share = self.average.get(&(page, next.kind)).copied().unwrap_or(LEAST);
        share * if next.is_beside { BESIDE } else { 1.0 - BESIDE }
    }

    /// The logarithm of the probability of a step, and of the density of its gap, per second.
    pub fn log_density(&self, state: State, next: Next, gap_ns: i64) -> f64 {
        let cell = cell(gap_ns);
        if let Some(step) = self.steps.get(&key(state, next)) {
            return f64::from(step.log_share + self.densities[step.density as usize][cell]);
        }
        let any = State { page: ANY_PAGE, ..state };
        let of_any = self.steps.get(&key(any, next)).map_or(0, |it| it.density);
        let unseen = self.unseen.get(&from(state)).copied().unwrap_or(0.0);
        let share = self.average(state.page, next).ln();
        share + f64::from(unseen + self.densities[of_any as usize][cell])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_calls_twice_does_not_call_a_third_time() {
        let mut counts = Counts::default();
        let state = |last, repeats| State { page: 0, last, repeats };
        let call = Next { kind: 5, is_beside: false };
        let reply = Next { kind: NONE, is_beside: false };
        for _ in 0..50 {
            counts.step(state(NONE, 0), call, 1_000_000, 1.0);
            counts.step(state(5, 1), call, 1_000_000, 1.0);
            counts.step(state(5, 2), reply, 1_000_000, 1.0);
        }
        let it = Behaviour::of(&counts);
        let at = |state, next| it.log_density(state, next, 1_000_000);
        assert!(at(state(5, 1), call) > at(state(5, 1), reply) + 3.0);
        assert!(at(state(5, 2), reply) > at(state(5, 2), call) + 3.0);
    }
}
