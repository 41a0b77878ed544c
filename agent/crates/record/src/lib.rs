//! Tables, clocks and Arrow streams: what the agent writes and how it tells the time; and what else
//! the verbs have in common.
//!
//! Every table of the run folder that the agent fills is declared once, in [`tables`]. A row is a
//! plain struct; pushing it into a [`TableWriter`] appends it to columns, and a batch of columns
//! goes to disk as one Arrow IPC stream message, so that a kill loses at most the last batch.

pub mod clock;
mod column;
mod control_group;
mod declaration;
pub mod priority;
mod stop;
mod stream;
pub mod tables;

pub use control_group::Cgroups;
pub use stop::Stop;
pub use stream::{RecordError, Table, TableWriter};
