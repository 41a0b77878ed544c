//! What a program does with its inputs: which messages it sends upon which, how soon, and how
//! strictly in the order of what came in. Counts may be fractions, because the causes behind them
//! are uncertain.

use crate::event_loop::commonness::Commonness;
use crate::event_loop::rates::Rates;
use crate::infer::delay::Delays;
use crate::names::Name;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// A message that is sent: a call, by its label, or one of those below.
pub type Output = u32;
/// The reply to the request.
pub const REPLY: Output = u32::MAX;
/// Nothing more upon this input.
pub const END: Output = u32::MAX - 1;
/// Nothing yet upon this input.
pub const START: Output = u32::MAX - 2;
/// The input is the request itself, not the answer to a call.
pub const REQUEST: Name = u32::MAX - 3;

/// How much a coarser context weighs in a finer one.
const COARSER: f64 = 0.5;
const RARE: f64 = 0.02;
/// A kind of output is as likely as if it had been seen so often.
const UNSEEN: f64 = 0.01;
/// Weights of a literal that is shared with the true request, and of none that is, before any is seen.
const SHARED: (f64, f64) = (0.5, 0.5);
/// A rarer literal says no more than one that is as rare as this.
const RAREST: f64 = 10_000.0;

/// What is known of a request when it gets an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Context {
    /// The request's label.
    pub page: Name,
    /// What came: the label of the call that was answered, or [`REQUEST`].
    pub input: Name,
    /// What the answer was like.
    pub answer: Answer,
    /// How many of the request's calls were unanswered then.
    pub outstanding: u8,
    /// The last output upon this input.
    pub before: Output,
}

/// What an answer was like.
#[derive(Clone, Copy, Debug, Default, Hash, PartialEq, Eq)]
pub struct Answer {
    /// The protocol's status.
    pub status: i32,
    /// The logarithm of its size.
    pub size: u8,
}

/// How an output follows what was sent before it and its input.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Pace {
    /// The input came when nothing else was being worked on: since the input.
    Idle,
    /// The input had to wait: since the last output.
    Busy,
    /// Not the first output upon its input: since the last one.
    Next,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    total: f64,
    outputs: Vec<(Output, f64)>,
}

impl Counts {
    fn see(&mut self, output: Output, weight: f64) {
        self.total += weight;
        match self.outputs.iter_mut().find(|it| it.0 == output) {
            Some(known) => known.1 += weight,
            None => self.outputs.push((output, weight)),
        }
    }

    fn of(&self, output: Output) -> f64 {
        self.outputs.iter().find(|it| it.0 == output).map_or(0.0, |it| it.1)
    }
}

/// The learned behaviour.
#[derive(Clone, Default)]
pub struct Behaviour {
    rates: Rates,
    /// How common literals are.
    pub literals: Commonness,
    /// How much the rates say beside what was seen.
    pub heed: f64,
    all: Counts,
    contexts: FxHashMap<u64, Counts>,
    paces: FxHashMap<(Pace, Output, Output), Delays>,
    shared: FxHashMap<(Name, Name), (f64, f64)>,
}

impl Behaviour {
    /// What the averages alone say.
    pub fn new(rates: Rates, literals: Commonness, heed: f64) -> Self {
        Self { rates, literals, heed, ..Self::default() }
    }

    /// Nothing seen, with the same averages.
    pub fn afresh(&self, heed: f64) -> Self {
        Self::new(self.rates.clone(), self.literals.clone(), heed)
    }

    /// The logarithm of how likely a request of a page is to have made so many calls in the end, up to
    /// a constant.
    pub fn log_calls(&self, page: Name, calls: u32) -> f64 {
        let expected = self.rates.all(page);
        -self.heed * (f64::from(calls) - expected).powi(2) / (expected + 0.5)
    }

    /// The probability of an output by the averages.
    fn usual(&self, page: Name, output: Output) -> f64 {
        let seen = match output {
            REPLY => 1.0,
            END => 0.5,
            call => self.rates.calls(page, call),
        };
        (seen + UNSEEN) / (self.rates.all(page) + 1.5 + UNSEEN)
    }

    /// An output, or [`END`], in a context.
    pub fn see(&mut self, context: &Context, output: Output, weight: f64) {
        self.all.see(output, weight);
        for key in keys(context) {
            self.contexts.entry(key).or_default().see(output, weight);
        }
    }

    /// The logarithm of the probability of an output, or of [`END`], in a context.
    pub fn log_probability(&self, context: &Context, output: Output) -> f64 {
        let mut probability = self.usual(context.page, output);
        for key in keys(context) {
            let Some(seen) = self.contexts.get(&key) else { break };
            // What is rare beside the rest of what follows is most likely a mistake.
            let doubtful = RARE * seen.total + COARSER;
            let certain = (seen.of(output) - doubtful).max(0.0);
            let rest =
                seen.total - seen.outputs.iter().map(|it| (it.1 - doubtful).max(0.0)).sum::<f64>();
            probability = (certain + (rest + COARSER) * probability) / (seen.total + COARSER);
        }
        probability.ln()
    }

    /// The logarithm of an output's share of all.
    pub fn log_share(&self, output: Output) -> f64 {
        let kinds = self.all.outputs.len() as f64 + 1.0;
        ((self.all.of(output) + UNSEEN) / (self.all.total + UNSEEN * kinds)).ln()
    }

    /// An output so long after what it is measured from; `upon` is its input or the output before.
    pub fn see_pace(&mut self, pace: Pace, upon: Output, output: Output, ns: i64, weight: f64) {
        let delays = self.paces.entry((pace, upon, output)).or_insert_with(Delays::new);
        delays.see(ns, weight);
    }

    /// The logarithm of the density of such a delay, per second.
    pub fn log_pace(&self, pace: Pace, upon: Output, output: Output, ns: i64) -> f64 {
        match self.paces.get(&(pace, upon, output)) {
            Some(delays) => delays.density(ns).ln(),
            // As if all were as likely up to a millisecond.
            None if (0..1_000_000).contains(&ns) => 1e3_f64.ln(),
            None => 1.0_f64.ln(),
        }
    }

    /// Whether a call of a page shared a literal with its request.
    pub fn see_literal(&mut self, page: Name, call: Name, is_shared: bool, weight: f64) {
        let seen = self.shared.entry((page, call)).or_insert(SHARED);
        if is_shared {
            seen.0 += weight;
        } else {
            seen.1 += weight;
        }
    }

    /// How much likelier a request is for a call's literals: `rarity` is the number of calls for
    /// each that has the rarest that both have, or 0 where they share none.
    pub fn log_literal(&self, page: Name, call: Name, rarity: f64) -> f64 {
        let (with, without) = self.shared.get(&(page, call)).copied().unwrap_or(SHARED);
        if rarity > 0.0 {
            (with / (with + without) * rarity.min(RAREST)).ln()
        } else {
            (without / (with + without)).ln()
        }
    }
}

/// A context's keys, coarser ones first.
fn keys(context: &Context) -> [u64; 3] {
    let Context { page, input, answer, outstanding, before } = *context;
    let key = |level: u8, finer: (u8, i32, u8)| {
        let mut hasher = FxHasher::default();
        (level, page, input, before, finer).hash(&mut hasher);
        hasher.finish()
    };
    [
        key(0, (0, 0, 0)),
        key(1, (outstanding, answer.status, 0)),
        key(2, (outstanding, answer.status, answer.size)),
    ]
}
