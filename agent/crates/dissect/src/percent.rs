//! Escapes of URLs: a byte as `%` and two hexadecimal digits (RFC 3986 section 2.1).

use std::borrow::Cow;

/// The byte that the escape at the front stands for; none if there is no escape.
pub(crate) fn escaped(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    Some(hexadecimal(*high)? << 4 | hexadecimal(*low)?)
}

/// The text with what its escapes stand for.
pub(crate) fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let [first, tail @ ..] = rest {
        let byte = escaped(rest);
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(plain)
}

fn hexadecimal(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_what_is_none_stays() {
        for (text, plain) in [("a", "a"), ("%41b%4a", "AbJ"), ("%zz%4", "%zz%4"), ("%%34", "%4")] {
            assert_eq!(*decoded(text.as_bytes()), *plain.as_bytes());
        }
    }
}
