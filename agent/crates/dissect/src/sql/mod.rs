//! SQL digests: a statement without its literals and comments.

mod digest;
mod head;
mod recent;
mod tokens;
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

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// MySQL's and MariaDB's.
    Mysql,
    /// PostgreSQL's, with standard_conforming_strings.
    Postgresql,
}
