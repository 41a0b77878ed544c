//! How likely which page is to say a sequence, worked out once for each sequence of a window.

use crate::infer::grammar::Grammar;
use crate::names::Name;
use rustc_hash::FxHashMap;

/// The sequences met so far.
pub struct SequenceProbabilities<'a> {
    grammar: &'a Grammar,
    fertility: &'a FxHashMap<Name, f64>,
    known: FxHashMap<Vec<Name>, SequenceProbability>,
}

/// One sequence's logarithms of probability.
pub struct SequenceProbability {
    pages: FxHashMap<Name, f64>,
    /// On the page that is likeliest to say it.
    pub best: f64,
    /// On an average page.
    pub usual: f64,
}

impl SequenceProbability {
    /// On one page.
    pub fn on(&self, page: Name) -> f64 {
        self.pages.get(&page).copied().unwrap_or(self.usual)
    }
}

impl<'a> SequenceProbabilities<'a> {
    /// No sequence yet.
    pub fn new(grammar: &'a Grammar, fertility: &'a FxHashMap<Name, f64>) -> Self {
        Self { grammar, fertility, known: FxHashMap::default() }
    }

    /// One sequence's.
    pub fn of(&mut self, labels: Vec<Name>) -> &SequenceProbability {
        let (grammar, fertility) = (self.grammar, self.fertility);
        self.known.entry(labels).or_insert_with_key(|labels| {
            let said = |&page: &Name| (page, grammar.log_probability(page, labels));
            let pages: FxHashMap<Name, f64> = fertility.keys().map(said).collect();
            let best = pages.values().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut said, mut parents) = (1e-300, 1e-300);
            for (&page, log) in &pages {
                said += grammar.parents(page) * fertility[&page] * log.exp();
                parents += grammar.parents(page);
            }
            SequenceProbability { pages, best, usual: (said / parents).ln() }
        })
    }
}
