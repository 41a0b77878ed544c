//! Words, numbers and lines of the kernel's texts, taken apart without allocation.

/// An unsigned decimal number, and nothing else.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 20 {
        return None;
    }
    word.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The words of a line, whatever the number of blanks between them.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}

/// The complete lines of a text. A last line without its newline was cut off, and is left out:
/// half a number is no number.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest)?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line)
    })
}

/// The number that stands alone in a text, such as that of `memory.usage_in_bytes`.
pub fn lone_number(text: &[u8]) -> Option<u64> {
    number(text.strip_suffix(b"\n")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_with_the_standard_library() {
        for text in ["0", "7", "18446744073709551615", "18446744073709551616", "-1", "1 ", "", "x"]
        {
            assert_eq!(number(text.as_bytes()), text.parse().ok(), "{text:?}");
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        assert_eq!(lines(b"a 1\nb 2\nc 3").collect::<Vec<_>>(), [b"a 1", b"b 2"]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lone_number(b"42\n"), Some(42));
        assert_eq!(lone_number(b"42"), None);
        assert_eq!(lone_number(b"max\n"), None);
    }

    #[test]
    fn words_are_parted_by_any_blanks() {
        assert_eq!(words(b"  a \t b  c").collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    }
}
