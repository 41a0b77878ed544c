//! The values that a message carried, as hashes: what links a page's parameters to its statements.

use crate::Salt;

/// A message's first values are enough to recognise it.
const MOST: usize = 16;

/// Up to 16 hashed values, in the order of the message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Literals {
    hashes: [u64; MOST],
    count: usize,
}

impl Literals {
    /// Adds a value; an empty one says nothing and is skipped.
    pub(crate) fn add(&mut self, salt: &Salt, value: &[u8]) {
        if self.count < MOST && !value.is_empty() {
            self.hashes[self.count] = salt.hash(value);
            self.count += 1;
        }
    }

    /// Adds those of another message, as far as there is room.
    pub(crate) fn append(&mut self, other: &Self) {
        let count = other.count.min(MOST - self.count);
        self.hashes[self.count..self.count + count].copy_from_slice(&other.hashes[..count]);
        self.count += count;
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes[..self.count]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.count == MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_sixteen_and_skips_empty_ones() {
        let salt = Salt::new([7; 16]);
        let mut literals = Literals::default();
        literals.add(&salt, b"");
        assert!(literals.hashes().is_empty());
        for n in 0..20 {
            literals.add(&salt, n.to_string().as_bytes());
        }
        assert!(literals.is_full());
        assert_eq!(literals.hashes().len(), MOST);
        assert_eq!(literals.hashes()[3], salt.hash(b"3"));
        let mut others = Literals::default();
        others.add(&salt, b"other");
        others.append(&literals);
        assert_eq!(others.hashes().len(), MOST);
        assert_eq!(others.hashes()[..2], [salt.hash(b"other"), salt.hash(b"0")]);
    }
}
