//! Parents without ids: learned from a sample, then inferred window by window.

mod at_once;
mod chain;
pub(crate) mod delay;
mod grammar;
mod lease;
mod marginals;
mod matching;
mod model;
mod page_models;
mod ratio;
mod replies;
mod reuse;
mod sample;
mod sequence_probabilities;
mod sequences;
mod steps;
mod window;

pub use at_once::{one_lease_each, overlap};
pub use sequences::Sequences;
pub use window::Inference;
