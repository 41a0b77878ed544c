//! SQL cut into tokens, as MySQL and MariaDB read it, or PostgreSQL.

use super::Dialect;

/// A piece of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// White space between two others.
    Space,
    /// A comment's inside.
    Comment(&'a [u8]),
    /// A string's inside, still escaped, and how.
    Text(&'a [u8], Escapes),
    /// A string's inside, in which nothing is escaped.
    Verbatim(&'a [u8]),
    /// The place of a bound value.
    Parameter,
    /// A number as it was written.
    Number(&'a [u8]),
    /// A keyword, a name or a quoted name.
    Word(&'a [u8]),
    /// Anything else, one character at a time.
    Sign(u8),
}

/// How a string has its quote in it: doubled, and behind a backslash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Escapes {
    pub quote: u8,
    pub backslashes: bool,
}

/// Cuts a statement into tokens. Any bytes are legal; what is not closed ends with the statement.
pub(super) struct Tokens<'a> {
    pub rest: &'a [u8],
    pub dialect: Dialect,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let (rest, dialect) = (self.rest, self.dialect);
        let is_postgresql = dialect == Dialect::Postgresql;
        let (token, used) = match *rest {
            [] => return None,
            [b'/', b'*', ..] => comment(rest, dialect),
            [b'#', ..] if !is_postgresql => line_comment(rest, 1),
            [b'-', b'-', ..] if is_postgresql => line_comment(rest, 2),
            [b'-', b'-', after, ..] if after.is_ascii_whitespace() => line_comment(rest, 2),
            [b'"', ..] if is_postgresql => quoted_name(rest, b'"'),
            [quote @ (b'\'' | b'"'), ..] => text(rest, 0, quote, !is_postgresql),
            [b'`', ..] => quoted_name(rest, b'`'),
            [b'$', ..] if is_postgresql => dollar(rest),
            [b'e' | b'E', b'\'', ..] if is_postgresql => text(rest, 1, b'\'', true),
            [b'u' | b'U', b'&', b'\'', ..] if is_postgresql => text(rest, 2, b'\'', false),
            [first, ..] if first.is_ascii_whitespace() => {
                (Token::Space, length(rest, |byte| byte.is_ascii_whitespace()))
            }
            [b'x' | b'X' | b'b' | b'B' | b'n' | b'N', b'\'', ..] => {
                text(rest, 1, b'\'', !is_postgresql)
            }
            [first, ..] if first.is_ascii_digit() => number_or_name(rest),
            [b'.', digit, ..] if digit.is_ascii_digit() => number(rest),
            [first, ..] if is_word(first) => {
                let used = length(rest, is_word);
                (Token::Word(&rest[..used]), used)
            }
            [sign, ..] => (Token::Sign(sign), 1),
        };
        self.rest = &rest[used..];
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

/// PostgreSQL's comments nest.
fn comment(bytes: &[u8], dialect: Dialect) -> (Token<'_>, usize) {
    let (mut from, mut open) = (2, 1);
    while let Some(found) = memchr::memchr(b'*', &bytes[from..]) {
        let star = from + found;
        let opens = dialect == Dialect::Postgresql && found > 0 && bytes[star - 1] == b'/';
        let closes = !opens && bytes.get(star + 1) == Some(&b'/');
        open = open + i32::from(opens) - i32::from(closes);
        if open == 0 {
            return (Token::Comment(&bytes[2..star]), star + 2);
        }
        from = star + 1 + usize::from(closes);
    }
    (Token::Comment(&bytes[2..]), bytes.len())
}

fn line_comment(bytes: &[u8], marker: usize) -> (Token<'_>, usize) {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    (Token::Comment(&bytes[marker..end]), end)
}

/// A quote ends a string unless it is doubled or follows a backslash that escapes it. `before` bytes
/// say what kind of string it is.
fn text(bytes: &[u8], before: usize, quote: u8, backslashes: bool) -> (Token<'_>, usize) {
    let (start, escapes) = (before + 1, Escapes { quote, backslashes });
    let other = if backslashes { b'\\' } else { quote };
    let mut at = start;
    while let Some(found) = memchr::memchr2(quote, other, &bytes[at.min(bytes.len())..]) {
        at += found;
        if bytes[at] != quote || bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return (Token::Text(&bytes[start..at], escapes), at + 1);
        }
    }
    (Token::Text(&bytes[start..], escapes), bytes.len())
}

fn quoted_name(bytes: &[u8], quote: u8) -> (Token<'_>, usize) {
    let end = memchr::memchr(quote, &bytes[1..]).map_or(bytes.len(), |at| at + 2);
    (Token::Word(&bytes[..end]), end)
}

/// A parameter (`$1`), or a string between two tags (`$$`, `$tag$`).
fn dollar(bytes: &[u8]) -> (Token<'_>, usize) {
    let digits = length(&bytes[1..], |byte| byte.is_ascii_digit());
    if digits > 0 {
        return (Token::Parameter, 1 + digits);
    }
    let name = length(&bytes[1..], |byte| is_word(byte) && !matches!(byte, b'$' | b'@'));
    if bytes.get(1 + name) != Some(&b'$') {
        return (Token::Sign(b'$'), 1);
    }
    let (tag, inside) = bytes.split_at(name + 2);
    match memchr::memmem::find(inside, tag) {
        Some(end) => (Token::Verbatim(&inside[..end]), 2 * tag.len() + end),
        None => (Token::Verbatim(inside), bytes.len()),
    }
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
    use super::Token::{Comment, Number, Parameter, Sign, Space, Text, Verbatim, Word};
    use super::*;

    fn of(sql: &str) -> Vec<Token<'_>> {
        Tokens { rest: sql.as_bytes(), dialect: Dialect::Mysql }.collect()
    }

    fn of_postgresql(sql: &str) -> Vec<Token<'_>> {
        Tokens { rest: sql.as_bytes(), dialect: Dialect::Postgresql }.collect()
    }

    fn quoted(inside: &[u8], quote: u8, backslashes: bool) -> Token<'_> {
        Text(inside, Escapes { quote, backslashes })
    }

    #[test]
    fn strings_end_at_a_lone_quote() {
        assert_eq!(of(r"'it''s'"), [quoted(b"it''s", b'\'', true)]);
        assert_eq!(of(r"'a\'b'"), [quoted(br"a\'b", b'\'', true)]);
        assert_eq!(of(r#""x'y""#), [quoted(b"x'y", b'"', true)]);
        assert_eq!(of(r"'open\"), [quoted(br"open\", b'\'', true)]);
        assert_eq!(of("x'4D'"), [quoted(b"4D", b'\'', true)]);
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
        assert_eq!(of("/*a/*b*/c"), [Comment(b"a/*b"), Word(b"c")]);
    }

    #[test]
    fn postgresql_quotes_in_its_own_way() {
        let text = |inside| quoted(inside, b'\'', false);
        assert_eq!(of_postgresql(r"'a\' 1"), [text(br"a\"), Space, Number(b"1")]);
        assert_eq!(of_postgresql("'it''s'"), [text(b"it''s")]);
        assert_eq!(of_postgresql(r"E'a\'b'"), [quoted(br"a\'b", b'\'', true)]);
        assert_eq!(of_postgresql("U&'d' n'e'"), [text(b"d"), Space, text(b"e")]);
        assert_eq!(of_postgresql(r#""a 1""#), [Word(br#""a 1""#)]);
        assert_eq!(of_postgresql("$$it's$$"), [Verbatim(b"it's")]);
        assert_eq!(of_postgresql("$a$x$$y$a$z"), [Verbatim(b"x$$y"), Word(b"z")]);
        assert_eq!(of_postgresql("$a$open"), [Verbatim(b"open")]);
        assert_eq!(of_postgresql("$a"), [Sign(b'$'), Word(b"a")]);
    }

    #[test]
    fn postgresql_has_parameters_casts_and_nested_comments() {
        let colon = Sign(b':');
        assert_eq!(of_postgresql("$12::int"), [Parameter, colon, colon, Word(b"int")]);
        assert_eq!(of_postgresql("a$1"), [Word(b"a$1")]);
        assert_eq!(of_postgresql("/*a/*b*/c*/d"), [Comment(b"a/*b*/c"), Word(b"d")]);
        assert_eq!(of_postgresql("/*/*/"), [Comment(b"/*/")]);
        assert_eq!(of_postgresql("--x"), [Comment(b"x")]);
        assert_eq!(of_postgresql("a#>b"), [Word(b"a"), Sign(b'#'), Sign(b'>'), Word(b"b")]);
    }
}
