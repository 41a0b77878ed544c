//! A table on its way to disk: rows are collected in columns and leave as batches of one Arrow IPC
//! stream file.

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file could not be made.
    #[error("cannot create {path}: {source}")]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A batch could not be written.
    #[error("cannot write to {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What Arrow or the system said.
        source: ArrowError,
    },
}

/// A declared table: see [`crate::tables`].
pub trait Table: Default {
    /// One row.
    type Row<'a>;
    /// The file's stem, which is the table's name.
    const NAME: &'static str;
    /// Column names and types.
    fn schema() -> SchemaRef;
    /// Appends a row to the columns.
    fn push(&mut self, row: Self::Row<'_>);
    /// Rows collected since the last batch.
    fn len(&self) -> usize;
    /// True when no row was collected since the last batch.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Takes what was collected as a batch.
    fn take(&mut self) -> Result<RecordBatch, ArrowError>;
}

/// Writes one table as an Arrow IPC stream, `<folder>/<stem>.arrows`.
///
/// A batch goes out when it holds `rows_per_batch` rows or when [`TableWriter::flush`] is called;
/// call that about once a second, so that a kill loses no more than a second.
pub struct TableWriter<T: Table> {
    table: T,
    stream: StreamWriter<BufWriter<File>>,
    path: PathBuf,
    rows_per_batch: usize,
}

impl<T: Table> TableWriter<T> {
    /// Creates `<folder>/<T::NAME>.arrows`.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        Self::create_as(folder, T::NAME)
    }

    /// Creates `<folder>/<stem>.arrows`: for tables that several verbs write at once (`events`).
    pub fn create_as(folder: &Path, stem: &str) -> Result<Self, RecordError> {
        let path = folder.join(format!("{stem}.arrows"));
        let file = File::create(&path)
            .map_err(|source| RecordError::Create { path: path.clone(), source })?;
        let stream = StreamWriter::try_new(BufWriter::new(file), &T::schema())
            .map_err(|source| RecordError::Write { path: path.clone(), source })?;
        Ok(Self { table: T::default(), stream, path, rows_per_batch: 16_384 })
    }

    /// Appends a row; writes a batch when it is full.
    pub fn push(&mut self, row: T::Row<'_>) -> Result<(), RecordError> {
        self.table.push(row);
        if self.table.len() >= self.rows_per_batch {
            return self.flush();
        }
        Ok(())
    }

    /// Writes rows that were collected elsewhere, such as on a thread that must not wait for a disk.
    pub fn append(&mut self, rows: T) -> Result<(), RecordError> {
        self.flush()?;
        self.table = rows;
        self.flush()
    }

    /// Writes what was collected and hands it to the kernel.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        let failed = |source| RecordError::Write { path: self.path.clone(), source };
        if !self.table.is_empty() {
            let batch = self.table.take().map_err(failed)?;
            self.stream.write(&batch).map_err(failed)?;
        }
        self.stream.get_mut().flush().map_err(|error| failed(error.into()))
    }

    /// Writes the rest and the end of the stream.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.flush()?;
        let failed = |source| RecordError::Write { path: self.path.clone(), source };
        self.stream.finish().map_err(failed)?;
        self.stream.get_mut().flush().map_err(|error| failed(error.into()))
    }
}
