//! Values of query strings and forms (application/x-www-form-urlencoded, WHATWG URL section 5.1).

use crate::Salt;
use crate::literal::Literals;
use crate::percent::escaped;

/// Adds the decoded value of every `name=value` to `literals`.
pub(crate) fn values(query: &[u8], salt: &Salt, scratch: &mut Vec<u8>, literals: &mut Literals) {
    for pair in query.split(|&byte| byte == b'&') {
        if literals.is_full() {
            return;
        }
        if let Some(equals) = memchr::memchr(b'=', pair) {
            decode(&pair[equals + 1..], scratch);
            literals.add(salt, scratch);
        }
    }
}

fn decode(value: &[u8], decoded: &mut Vec<u8>) {
    decoded.clear();
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        let escape = escaped(rest);
        rest = tail;
        decoded.push(match (first, escape) {
            (b'+', _) => b' ',
            (_, Some(byte)) => {
                rest = &tail[2..];
                byte
            }
            (other, None) => *other,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(query: &str) -> Vec<u64> {
        let mut literals = Literals::default();
        values(query.as_bytes(), &Salt::new([3; 16]), &mut Vec::new(), &mut literals);
        literals.hashes().to_vec()
    }

    #[test]
    fn values_are_decoded() {
        let salt = Salt::new([3; 16]);
        let expected: Vec<u64> =
            ["7", "a b", "50% off", "é"].iter().map(|v| salt.hash(v.as_bytes())).collect();
        assert_eq!(hashes("id=7&t=a+b&empty=&s=50%25%20off&e=%C3%A9&flag"), expected);
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        let salt = Salt::new([3; 16]);
        assert_eq!(hashes("a=%zz&b=%4"), [salt.hash(b"%zz"), salt.hash(b"%4")]);
    }
}
