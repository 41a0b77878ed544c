//! Parents without ids: learned from a sample, then inferred window by window.

mod chain;
mod delay;
mod grammar;
mod habits;
mod lease;
mod lesson;
mod marginals;
mod ratio;
mod replies;
mod reuse;
mod sample;
mod sayings;
mod scene;
mod steps;
mod window;

pub use window::Inference;
