//! The kernels, one file each; what a published program does besides stands in the reference.

pub mod barriers;
pub mod data_parallel;
pub mod many_locks;
pub mod memory_streams;
pub mod pipeline;
