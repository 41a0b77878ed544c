//! SQL digests: a statement without its literals and comments.

mod digest;
mod head;
mod recent;
mod tokens;
mod typed;
mod writer;

pub(crate) use digest::{Digest, digest};
pub(crate) use recent::{Recent, Recents};

/// A statement's text, as far as it is kept.
#[derive(Clone, Copy, Hash)]
pub(crate) struct Statement<'a> {
    pub text: &'a [u8],
    pub dialect: Dialect,
    /// It is longer than that.
    pub goes_on: bool,
}

/// The digest of a statement of PostgreSQL's.
#[cfg(test)]
fn digest_of(sql: &str) -> String {
    let (mut label, dialect) = (String::new(), Dialect::Postgresql);
    let statement = Statement { text: sql.as_bytes(), dialect, goes_on: false };
    digest(statement, &crate::Salt::new([9; 16]), &mut Vec::new(), &mut label);
    label
}

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// MySQL's and MariaDB's.
    Mysql,
    /// PostgreSQL's, with standard_conforming_strings.
    Postgresql,
}
