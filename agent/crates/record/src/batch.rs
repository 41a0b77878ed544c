//! Rows that are collected on one thread and written on another.

use crate::error::RecordError;

/// Rows of one kind of file.
pub trait Batch: Default + Send + 'static {
    /// The open file.
    type File: Send;
    /// How many there are.
    fn rows(&self) -> usize;
    /// Memory that they take, about.
    fn bytes(&self) -> usize;
    /// Writes them and forgets them; their memory stays.
    fn write(&mut self, file: &mut Self::File) -> Result<(), RecordError>;
    /// Ends the file.
    fn finish(file: Self::File) -> Result<(), RecordError>;
}
