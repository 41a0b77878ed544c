//! Labels are few and repeat: each is kept once.

use crate::memory::{ALLOCATION, of_map, of_vec};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// A label's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Label(u32);

/// A label's text takes this much beside its bytes.
const TEXT_BYTES: usize = 2 * ALLOCATION;

/// Labels longer than this many bytes are cut.
const LONGEST: usize = 1_000;

/// Every label seen, until their memory is full: what is new then is not told apart.
pub(crate) struct Labels {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, Label, RandomState>,
    most_bytes: usize,
    text_bytes: usize,
}

impl Labels {
    /// Labels that take no more than these bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        let (texts, numbers) = (Vec::new(), HashMap::default());
        let mut labels = Self { texts, numbers, most_bytes, text_bytes: 0 };
        labels.number("(other)");
        labels
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.text_bytes + of_vec(&self.texts) * 3 / 2 + of_map(&self.numbers)
    }

    /// The number of `text`, which is new only once.
    pub(crate) fn number(&mut self, text: &str) -> Label {
        let text = cut(text);
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        // A table that is full doubles.
        let growth = if self.texts.len() < self.numbers.capacity() { 0 } else { self.held_bytes() };
        if self.held_bytes() + growth > self.most_bytes && !self.texts.is_empty() {
            return Label::default();
        }
        let label = Label(self.texts.len() as u32);
        let shared: Arc<str> = text.into();
        self.text_bytes += text.len() + TEXT_BYTES;
        self.texts.push(Arc::clone(&shared));
        self.numbers.insert(shared, label);
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
        let mut labels = Labels::new(1 << 20);
        let page = labels.number("GET /page");
        assert_eq!(labels.number("GET /page"), page);
        assert_eq!(labels.text(page), "GET /page");
    }

    #[test]
    fn memory_is_bounded() {
        let mut labels = Labels::new(1 << 20);
        for n in 0..100_000 {
            labels.number(&format!("GET /{n}"));
        }
        assert!((1_000..20_000).contains(&labels.texts.len()), "{}", labels.texts.len());
        assert!(labels.held_bytes() <= 1 << 20);
        let beyond = labels.number("GET /never-seen");
        assert_eq!(labels.text(beyond), "(other)");
        assert_eq!(cut(&"é".repeat(LONGEST)).len(), LONGEST);
    }
}
