//! What assignments of calls to requests teach, and the model that follows from it.

use super::behaviour::{Behaviour, Counts};
use rustc_hash::FxHashMap;

/// How long after a call its request goes on, in steps of this many to a factor of two.
const STEPS: f64 = 4.0;
const LENGTHS: usize = 160;

/// Counts of successes among trials.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub hits: f64,
    pub of: f64,
}

impl Share {
    fn or(self, prior: f64, weight: f64) -> f64 {
        (self.hits + prior * weight) / (self.of + weight)
    }
}

/// What assignments teach.
#[derive(Clone, Debug, Default)]
pub struct Lesson {
    pub counts: Counts,
    pub seconds: f64,
    /// By label: calls, and those of no request.
    pub calls: FxHashMap<u16, Share>,
    /// By label: calls that share a rare literal with their request.
    pub sharing: FxHashMap<u16, Share>,
    /// By pair: calls whose connection their own request used last.
    pub reuse: FxHashMap<usize, Share>,
    /// How long after its calls a request goes on, by logarithm.
    lengths: FxHashMap<usize, f64>,
}

fn length(rest_ns: i64) -> usize {
    ((1.0 + rest_ns.max(0) as f64 / 1e3).log2() * STEPS) as usize
}

impl Lesson {
    /// Counts a call with so much time left until its request's reply.
    pub fn rest(&mut self, rest_ns: i64, weight: f64) {
        *self.lengths.entry(length(rest_ns)).or_default() += weight;
    }

    /// Makes what was taught before so much lighter that it weighs the same as before with so many
    /// calls more.
    pub fn make_room(&mut self, calls: f64) {
        /// What was taught before keeps at least this share.
        const LEAST: f64 = 0.5;
        let whole: f64 = self.calls.values().map(|it| it.of).sum();
        self.scale((1.0 - calls / whole.max(1.0)).max(LEAST));
    }

    /// Multiplies all that was taught.
    fn scale(&mut self, factor: f64) {
        self.counts.scale(factor);
        self.seconds *= factor;
        let shares = self.calls.values_mut().chain(self.sharing.values_mut());
        shares.chain(self.reuse.values_mut()).for_each(|it| {
            it.hits *= factor;
            it.of *= factor;
        });
        self.lengths.values_mut().for_each(|it| *it *= factor);
    }
}

/// What is known of an application.
pub struct Model {
    pub behaviour: Behaviour,
    background: FxHashMap<u16, f64>,
    rates: FxHashMap<u16, f64>,
    sharing: FxHashMap<u16, f64>,
    reuse: FxHashMap<usize, f64>,
    /// The share of calls whose request goes on for longer than each length.
    longer: Vec<f64>,
}

/// Calls of no request of each label, before any was seen.
const BACKGROUND: f64 = 0.02;
/// Share of calls that carry a rare literal of their request, before any was seen.
const SHARING: f64 = 0.5;
/// Share of calls on the connection that their request used last, before any was seen.
const REUSE: f64 = 0.3;

impl Model {
    /// The model that a lesson teaches.
    pub fn of(lesson: &Lesson) -> Self {
        let seconds = lesson.seconds.max(1e-3);
        let mut longer = vec![0.0; LENGTHS + 1];
        for at in (0..LENGTHS).rev() {
            longer[at] = longer[at + 1] + lesson.lengths.get(&at).copied().unwrap_or(0.0);
        }
        let whole = longer[0].max(1e-9);
        longer.iter_mut().for_each(|it| *it /= whole);
        let rate = |count: f64| count / seconds;
        Self {
            behaviour: Behaviour::of(&lesson.counts),
            background: (lesson.calls.iter())
                .map(|(&kind, it)| (kind, rate(it.hits + BACKGROUND)))
                .collect(),
            rates: lesson.calls.iter().map(|(&kind, it)| (kind, rate(it.of))).collect(),
            sharing: (lesson.sharing.iter())
                .map(|(&kind, it)| (kind, it.or(SHARING, 2.0).clamp(0.01, 0.995)))
                .collect(),
            reuse: (lesson.reuse.iter())
                .map(|(&pair, it)| (pair, it.or(REUSE, 2.0).clamp(1e-3, 0.999)))
                .collect(),
            longer,
        }
    }

    /// The rate of calls of no request of the capture, per second, `rest_ns` before the capture's end.
    pub fn background(&self, kind: u16, rest_ns: i64) -> f64 {
        let longer = self.longer[length(rest_ns).min(LENGTHS)];
        let of = |rates: &FxHashMap<u16, f64>| rates.get(&kind).copied().unwrap_or(BACKGROUND);
        of(&self.background) + longer * of(&self.rates)
    }

    /// The share of calls that share a rare literal with their request.
    pub fn sharing(&self, kind: u16) -> f64 {
        self.sharing.get(&kind).copied().unwrap_or(SHARING)
    }

    /// The share of a request's further calls on the connection that it used last.
    pub fn reuse(&self, pair: usize) -> f64 {
        self.reuse.get(&pair).copied().unwrap_or(REUSE)
    }
}
