//! SQL digests: a statement without its literals and comments.

mod digest;
mod recent;
mod tokens;

pub(crate) use digest::digest;
pub(crate) use recent::{Recent, Recents};
