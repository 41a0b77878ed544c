//! Texts that occur often, kept once.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A text's number.
pub type Name = u32;

/// The texts seen so far; the same text always has the same number.
#[derive(Default)]
pub struct Names {
    numbers: FxHashMap<Rc<str>, Name>,
    texts: Vec<Rc<str>>,
}

impl Names {
    /// The number of `text`, new or known.
    pub fn number(&mut self, text: &str) -> Name {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        let number = self.texts.len() as Name;
        let text: Rc<str> = text.into();
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text of a number that this table gave out.
    pub fn text(&self, number: Name) -> &str {
        &self.texts[number as usize]
    }
}
