//! Labels are few and repeat: each is kept once.

use foldhash::fast::RandomState;
use std::collections::HashMap;

/// A label's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Label(u32);

/// More different labels than this are not told apart: a bound for hostile traffic.
const MOST: usize = 50_000;

/// Labels longer than this many bytes are cut.
const LONGEST: usize = 1_000;

/// Every label seen.
pub(crate) struct Labels {
    texts: Vec<Box<str>>,
    numbers: HashMap<Box<str>, Label, RandomState>,
}

impl Labels {
    pub(crate) fn new() -> Self {
        let mut labels = Self { texts: Vec::new(), numbers: HashMap::default() };
        labels.number("(other)");
        labels
    }

    /// The number of `text`, which is new only once.
    pub(crate) fn number(&mut self, text: &str) -> Label {
        let text = cut(text);
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        if self.texts.len() >= MOST {
            return Label::default();
        }
        let label = Label(self.texts.len() as u32);
        self.texts.push(text.into());
        self.numbers.insert(text.into(), label);
        label
    }

    pub(crate) fn text(&self, label: Label) -> &str {
        self.texts.get(label.0 as usize).map_or("(other)", |text| text)
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_one_number() {
        let mut labels = Labels::new();
        let page = labels.number("GET /page");
        assert_eq!(labels.number("GET /page"), page);
        assert_eq!(labels.text(page), "GET /page");
    }

    #[test]
    fn memory_is_bounded() {
        let mut labels = Labels::new();
        for n in 0..MOST + 10 {
            labels.number(&format!("GET /{n}"));
        }
        assert_eq!(labels.texts.len(), MOST);
        let beyond = labels.number("GET /never-seen");
        assert_eq!(labels.text(beyond), "(other)");
        assert_eq!(cut(&"é".repeat(LONGEST)).len(), LONGEST);
    }
}
