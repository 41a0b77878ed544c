//! What an error says of itself.

use super::message::Fields;

/// What matters of an ErrorResponse.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Failure {
    /// The SQLSTATE, packed into a number as PostgreSQL does itself (`MAKE_SQLSTATE`): six bits for
    /// each of its five characters, counted from `0`, the first lowest.
    pub status: Option<i32>,
    /// The server closes the connection.
    pub is_last: bool,
}

/// Reads the fields of an error, each a letter and a text.
pub(super) fn read(payload: &[u8]) -> Failure {
    let (mut fields, mut failure) = (Fields(payload), Failure::default());
    while let Some(letter) = fields.byte()
        && letter != 0
        && let Some(text) = fields.text()
    {
        match letter {
            b'C' => failure.status = packed(text),
            b'V' => failure.is_last = matches!(text, b"FATAL" | b"PANIC"),
            _ => {}
        }
    }
    failure
}

fn packed(sqlstate: &[u8]) -> Option<i32> {
    let sqlstate: &[u8; 5] = sqlstate.try_into().ok()?;
    let bits = |character: u8| i32::from(character.wrapping_sub(b'0') & 0x3f);
    Some(sqlstate.iter().rev().fold(0, |value, &character| value << 6 | bits(character)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlstate_is_packed_as_postgresql_packs_it() {
        // ERRCODE_UNIQUE_VIOLATION and ERRCODE_UNDEFINED_TABLE, as elog.h computes them.
        let make = |it: [u8; 5]| (0..).zip(it).map(|(n, c)| i32::from(c - b'0') << (6 * n)).sum();
        assert_eq!(packed(b"23505"), Some(make(*b"23505")));
        assert_eq!(packed(b"42P01"), Some(16_908_420));
        assert_eq!(packed(b"42P01").map(|it| it & 0xfff), packed(b"42000"), "its class");
        assert_eq!(packed(b"4200"), None);
    }

    #[test]
    fn the_code_and_the_severity_are_found() {
        let error = b"SERROR\0VERROR\0C42P01\0Mrelation \"x\" does not exist\0\0";
        assert_eq!(read(error), Failure { status: Some(16_908_420), is_last: false });
        assert!(read(b"SFATAL\0VFATAL\0C57P01\0\0").is_last);
        assert_eq!(read(b"SERR"), Failure::default());
        assert_eq!(read(b""), Failure::default());
    }
}
