//! Bound values, as text would have them.

use super::message::Fields;
use crate::Salt;
use crate::literal::Literals;
use std::io::Write;

/// Adds a Bind's values to `literals`; `fields` begin after the names. Stops where it cannot be read.
pub(super) fn bound(
    mut fields: Fields<'_>,
    salt: &Salt,
    scratch: &mut Vec<u8>,
    literals: &mut Literals,
) -> Option<()> {
    let formats = usize::from(fields.short()?);
    let mut formats = Fields(fields.bytes(2 * formats)?);
    // One format is that of all values; none is text.
    let is_one = formats.0.len() == 2;
    let mut is_binary = false;
    for position in 0..fields.short()? {
        if position == 0 || !is_one {
            is_binary = formats.short() == Some(1);
        }
        // The length of a NULL is -1.
        let length = fields.long()?;
        if length == u32::MAX {
            continue;
        }
        let value = fields.bytes(usize::try_from(length).ok()?)?;
        if literals.is_full() {
            return Some(());
        }
        if is_binary {
            scratch.clear();
            decode(value, scratch);
            literals.add(salt, scratch);
        } else {
            literals.add(salt, value);
        }
    }
    Some(())
}

/// A binary value whose type nobody told: text if it reads as text, an integer if it has an integer's
/// size, itself otherwise.
fn decode(value: &[u8], text: &mut Vec<u8>) {
    let integer = match *value {
        _ if is_text(value) => None,
        [a, b] => Some(i64::from(i16::from_be_bytes([a, b]))),
        [a, b, c, d] => Some(i64::from(i32::from_be_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(i64::from_be_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    };
    match integer {
        // Statements have the minus as a sign of its own.
        Some(integer) => {
            let _ = write!(text, "{}", integer.unsigned_abs());
        }
        None => text.extend_from_slice(value),
    }
}

fn is_text(value: &[u8]) -> bool {
    str::from_utf8(value).is_ok_and(|it| !it.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(bytes: &[u8]) -> Vec<u64> {
        let mut literals = Literals::default();
        let _ = bound(Fields(bytes), &Salt::new([3; 16]), &mut Vec::new(), &mut literals);
        literals.hashes().to_vec()
    }

    fn expected<const N: usize>(values: [&str; N]) -> Vec<u64> {
        values.map(|value| Salt::new([3; 16]).hash(value.as_bytes())).to_vec()
    }

    #[test]
    fn values_are_text_unless_a_format_says_otherwise() {
        let values = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\x0217";
        assert_eq!(hashes(&[b"\0\0", &values[..]].concat()), expected(["ab", "17"]));
        let binary = b"\0\x01\0\x01\0\x02\0\0\0\x04\0\0\0\x2a\0\0\0\x02\xff\xf9";
        assert_eq!(hashes(binary), expected(["42", "7"]));
        let each = b"\0\x02\0\0\0\x01\0\x02\0\0\0\x0242\0\0\0\x08\0\0\0\0\0\0\0\x07";
        assert_eq!(hashes(each), expected(["42", "7"]));
        assert_eq!(hashes(b"\0\x01\0\x01\0\x01\0\0\0\x04abcd"), expected(["abcd"]));
    }

    #[test]
    fn what_was_cut_is_none() {
        for bytes in [&b""[..], b"\0\x05\0", b"\0\0\0\x01\0\0\0\x09ab", b"\0\0\xff\xff"] {
            assert_eq!(hashes(bytes), []);
        }
    }
}
