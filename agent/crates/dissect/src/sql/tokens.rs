//! SQL cut into tokens, as MySQL and MariaDB read it.

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// White space between two others.
    Space,
    /// A comment's inside.
    Comment(&'a [u8]),
    /// A string's inside, still escaped, and its quote.
    Text(&'a [u8], u8),
    /// A number as it was written.
    Number(&'a [u8]),
    /// A keyword, a name or a quoted name.
    Word(&'a [u8]),
    /// Anything else, one character at a time.
    Sign(u8),
}

/// Cuts a statement into tokens. Any bytes are legal; what is not closed ends with the statement.
pub(super) struct Tokens<'a>(pub &'a [u8]);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = self.0;
        let (token, used) = match *rest {
            [] => return None,
            [b'/', b'*', ..] => comment(rest),
            [b'#', ..] => line_comment(rest, 1),
            [b'-', b'-', after, ..] if after.is_ascii_whitespace() => line_comment(rest, 2),
            [quote @ (b'\'' | b'"'), ..] => text(rest, quote),
            [b'`', ..] => quoted_name(rest),
            [first, ..] if first.is_ascii_whitespace() => {
                (Token::Space, length(rest, |byte| byte.is_ascii_whitespace()))
            }
            [b'x' | b'X' | b'b' | b'B' | b'n' | b'N', b'\'', ..] => {
                let (token, used) = text(&rest[1..], b'\'');
                (token, used + 1)
            }
            [first, ..] if first.is_ascii_digit() => number_or_name(rest),
            [b'.', digit, ..] if digit.is_ascii_digit() => number(rest),
            [first, ..] if is_word(first) => {
                let used = length(rest, is_word);
                (Token::Word(&rest[..used]), used)
            }
            [sign, ..] => (Token::Sign(sign), 1),
        };
        self.0 = &rest[used..];
        Some(token)
    }
}

/// Letters, digits, and what else a name may have. A table, because every byte is looked up.
const WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let it = byte as u8;
        word[byte] = it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$' | b'@') || byte >= 0x80;
        byte += 1;
    }
    word
};

fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

fn length(bytes: &[u8], within: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !within(byte)).unwrap_or(bytes.len())
}

fn comment(bytes: &[u8]) -> (Token<'_>, usize) {
    match memchr::memmem::find(&bytes[2..], b"*/") {
        Some(end) => (Token::Comment(&bytes[2..end + 2]), end + 4),
        None => (Token::Comment(&bytes[2..]), bytes.len()),
    }
}

fn line_comment(bytes: &[u8], marker: usize) -> (Token<'_>, usize) {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    (Token::Comment(&bytes[marker..end]), end)
}

/// A quote ends a string unless it is doubled or follows a backslash.
fn text(bytes: &[u8], quote: u8) -> (Token<'_>, usize) {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(quote, b'\\', &bytes[at.min(bytes.len())..]) {
        at += found;
        if bytes[at] == b'\\' || bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return (Token::Text(&bytes[1..at], quote), at + 1);
        }
    }
    (Token::Text(&bytes[1..], quote), bytes.len())
}

fn quoted_name(bytes: &[u8]) -> (Token<'_>, usize) {
    let end = memchr::memchr(b'`', &bytes[1..]).map_or(bytes.len(), |at| at + 2);
    (Token::Word(&bytes[..end]), end)
}

/// A name may begin with a digit; a number is followed by no letter but those of its own notation.
fn number_or_name(bytes: &[u8]) -> (Token<'_>, usize) {
    let (token, used) = number(bytes);
    if bytes.get(used).is_some_and(|&next| is_word(next)) {
        let used = length(bytes, is_word);
        return (Token::Word(&bytes[..used]), used);
    }
    (token, used)
}

fn number(bytes: &[u8]) -> (Token<'_>, usize) {
    let hexadecimal = bytes.len() > 2 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X');
    if hexadecimal {
        let used = 2 + length(&bytes[2..], |byte| byte.is_ascii_hexdigit());
        return (Token::Number(&bytes[..used]), used);
    }
    let mut used = length(bytes, |byte| byte.is_ascii_digit() || byte == b'.');
    if let [b'e' | b'E', exponent @ ..] = &bytes[used..] {
        let sign = usize::from(matches!(exponent, [b'+' | b'-', ..]));
        let digits = length(&exponent[sign..], |byte| byte.is_ascii_digit());
        if digits > 0 {
            used += 1 + sign + digits;
        }
    }
    (Token::Number(&bytes[..used]), used)
}

#[cfg(test)]
mod tests {
    use super::Token::{Comment, Number, Sign, Space, Text, Word};
    use super::*;

    fn of(sql: &str) -> Vec<Token<'_>> {
        Tokens(sql.as_bytes()).collect()
    }

    #[test]
    fn strings_end_at_a_lone_quote() {
        assert_eq!(of(r"'it''s'"), [Text(b"it''s", b'\'')]);
        assert_eq!(of(r"'a\'b'"), [Text(br"a\'b", b'\'')]);
        assert_eq!(of(r#""x'y""#), [Text(b"x'y", b'"')]);
        assert_eq!(of(r"'open\"), [Text(br"open\", b'\'')]);
        assert_eq!(of("x'4D'"), [Text(b"4D", b'\'')]);
    }

    #[test]
    fn numbers_are_not_names() {
        assert_eq!(of("1.5e-3"), [Number(b"1.5e-3")]);
        assert_eq!(of(".5"), [Number(b".5")]);
        assert_eq!(of("0x1F"), [Number(b"0x1F")]);
        assert_eq!(of("t1"), [Word(b"t1")]);
        assert_eq!(of("2nd"), [Word(b"2nd")]);
        assert_eq!(of("-5"), [Sign(b'-'), Number(b"5")]);
        assert_eq!(of("`a 1`"), [Word(b"`a 1`")]);
    }

    #[test]
    fn comments_are_told_from_signs() {
        assert_eq!(of("/*rid=1*/a"), [Comment(b"rid=1"), Word(b"a")]);
        assert_eq!(of("-- x\n1"), [Comment(b" x"), Space, Number(b"1")]);
        assert_eq!(of("1--1"), [Number(b"1"), Sign(b'-'), Sign(b'-'), Number(b"1")]);
        assert_eq!(of("#x"), [Comment(b"x")]);
        assert_eq!(of("/*open"), [Comment(b"open")]);
    }
}
