//! SQL digests: a statement without its literals and comments.

mod digest;
mod recent;
mod tokens;

pub(crate) use digest::{Digest, digest};
pub(crate) use recent::{Recent, Recents};

/// Whose SQL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// MySQL's and MariaDB's.
    Mysql,
    /// PostgreSQL's, with standard_conforming_strings.
    Postgresql,
}
