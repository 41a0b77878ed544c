//! Tables, clocks and Arrow streams: what the agent writes and how it tells the time; and what else
//! the verbs have in common.
//!
//! Every table of the run folder that the agent fills is declared once, in [`tables`]. A row is a
//! plain struct; pushing it into [`Rows`] collects it, and the [`Writer`]'s thread writes what was
//! collected as one Arrow IPC stream message, so that a kill loses at most the last batch.

mod batch;
pub mod clock;
mod column;
mod control_group;
mod declaration;
mod error;
mod lines;
mod lock;
pub mod open_files;
pub mod priority;
mod queue;
mod rows;
#[cfg(test)]
mod stalled;
pub mod status;
mod stop;
mod stream;
pub mod tables;
mod writer;

pub use batch::Batch;
pub use control_group::Cgroups;
pub use error::RecordError;
pub use lines::Lines;
pub use lock::held;
pub use queue::WhenFull;
pub use rows::Rows;
pub use stop::Stop;
pub use stream::Table;
pub use writer::Writer;
