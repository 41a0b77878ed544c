//! Keys of caches and stores, such as `user:42:name`: what of them may be found in other messages.

use crate::Salt;
use crate::literal::Literals;

/// A longer key is taken for content.
const LONGEST: usize = 250;

/// What applications put between the parts of a key.
const SEPARATORS: &[u8] = b":/|_";

/// Adds the key's hash, and those of its parts.
pub(crate) fn literals(key: &[u8], salt: &Salt, literals: &mut Literals) {
    if key.len() > LONGEST {
        return;
    }
    literals.add(salt, key);
    let parts = key.split(|byte| SEPARATORS.contains(byte));
    for part in parts.filter(|part| part.len() < key.len()) {
        literals.add(salt, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_itself_and_by_its_parts() {
        let salt = Salt::new([5; 16]);
        let hashes = |key: &str| {
            let mut found = Literals::default();
            literals(key.as_bytes(), &salt, &mut found);
            found.hashes().to_vec()
        };
        let of =
            |words: &[&str]| words.iter().map(|it| salt.hash(it.as_bytes())).collect::<Vec<_>>();
        assert_eq!(hashes("42"), of(&["42"]));
        assert_eq!(hashes("user:42::name"), of(&["user:42::name", "user", "42", "name"]));
        assert_eq!(hashes(&"k".repeat(251)), of(&[]));
    }
}
