//! The type of a literal: a cast behind it (`?::numeric(10, 2)[]`), or a word before it (`DATE '...'`,
//! `_binary'...'`). A literal with its type is no more than a literal.

/// How far the cast of the last literal was read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Cast {
    /// What came last is no literal.
    #[default]
    Other,
    Literal,
    Colon,
    /// The type's name comes.
    Colons,
    Named,
}

impl Cast {
    /// Takes the next word; true if it belongs to the cast.
    pub(super) fn word(&mut self, word: &[u8]) -> bool {
        let is_of_cast = match self {
            Self::Colons => true,
            Self::Named => CONTINUED.iter().any(|it| word.eq_ignore_ascii_case(it)),
            _ => false,
        };
        *self = if is_of_cast { Self::Named } else { Self::Other };
        is_of_cast
    }

    /// Takes the next sign, which is no parenthesis; true if it belongs to the cast.
    pub(super) fn sign(&mut self, sign: u8) -> bool {
        *self = match (*self, sign) {
            (Self::Literal | Self::Named, b':') => Self::Colon,
            (Self::Colon, b':') | (Self::Named, b'.') => Self::Colons,
            (Self::Named, b'[' | b']') => Self::Named,
            _ => Self::Other,
        };
        *self != Self::Other
    }
}

/// What types' names go on with: `double precision`, `timestamp with time zone`.
const CONTINUED: [&[u8]; 6] = [b"precision", b"varying", b"with", b"without", b"time", b"zone"];

/// Whether the word says how to read the string behind it.
pub(super) fn is_before_string(word: &[u8], rest: &[u8]) -> bool {
    const TYPES: [&[u8]; 4] = [b"DATE", b"TIME", b"TIMESTAMP", b"INTERVAL"];
    let is_type = word.starts_with(b"_") || TYPES.iter().any(|it| word.eq_ignore_ascii_case(it));
    is_type && matches!(rest.trim_ascii_start(), [] | [b'\'' | b'"', ..])
}

/// Whether the word, where a literal may stand, is as good as one; not so before a parenthesis or a
/// string, as in `DEFAULT(a)` and `NULL 'none'`.
pub(super) fn is_value(word: &[u8], rest: &[u8]) -> bool {
    const VALUES: [&[u8]; 4] = [b"NULL", b"DEFAULT", b"TRUE", b"FALSE"];
    VALUES.iter().any(|it| word.eq_ignore_ascii_case(it))
        && !matches!(rest.trim_ascii_start(), [b'(' | b'\'', ..])
}
