//! Parents without ids: learned from a sample, then inferred window by window.

mod at_once;
mod chain;
pub(crate) mod delay;
mod grammar;
mod inference;
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

pub use inference::Inference;
pub use sequences::Sequences;
