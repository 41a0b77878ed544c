//! Lengths that protocols of text write in decimal digits.

/// No length has more digits.
const MOST_DIGITS: usize = 10;

/// The number that these digits are; none if they are anything else.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=MOST_DIGITS).contains(&digits.len());
    if !is_number || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_a_number() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"9999999999"), Some(9_999_999_999));
        for other in [&b""[..], b"-1", b"1x", b"10000000000"] {
            assert_eq!(decimal(other), None);
        }
    }
}
