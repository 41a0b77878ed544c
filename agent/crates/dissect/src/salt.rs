//! Salted hashes: equal values can be matched within a run, none can be read or looked up after it.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The key of a run's hashes; draw it at random and forget it.
#[derive(Clone, Copy)]
pub struct Salt([u8; 16]);

impl Salt {
    /// A salt of 128 random bits.
    pub fn new(random: [u8; 16]) -> Self {
        Self(random)
    }

    /// SipHash-1-3 of `bytes` (Aumasson and Bernstein, INDOCRYPT 2012).
    pub fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(bytes);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_meet_under_one_salt_only() {
        let (one, other) = (Salt::new([1; 16]), Salt::new([2; 16]));
        assert_eq!(one.hash(b"42"), one.hash(b"42"));
        assert_ne!(one.hash(b"42"), one.hash(b"43"));
        assert_ne!(one.hash(b"42"), other.hash(b"42"));
    }
}
