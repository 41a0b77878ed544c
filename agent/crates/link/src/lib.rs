//! Links visits to the visits that caused them, one tier up.
//!
//! The core ([`Linker`]) is a pure function over the stream of raw visits, in the order in which
//! they departed; only [`run`] and [`table`] touch files.

mod by_thread;
mod event_loop;
#[cfg(test)]
mod fixture;
mod held;
mod infer;
mod joint;
mod keepers;
mod keyed;
mod linker;
mod names;
mod neighbour;
mod plan;
mod run;
mod summary;
mod survey;
pub mod table;
mod topology;
mod turns;
mod visit;

pub use event_loop::EventLoop;
pub use infer::{Inference, Sequences};
pub use joint::Joint;
pub use linker::{Linker, LoopPairs, Way};
pub use names::{Name, Names};
pub use plan::Plan;
pub use run::run;
pub use summary::{Keeper, PairSummary, SelfCheck, Summary, ThreadCheck, Threads};
pub use survey::Survey;
pub use topology::{Server, Topology, TopologyError};
pub use visit::{Caller, Link, Linked, Means, Span, Visit, Waits, Work};
