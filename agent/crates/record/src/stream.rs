//! Tables, and the files that they become: batches of columns, as an Arrow IPC stream.

use crate::batch::Batch;
use crate::error::RecordError;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A declared table: see [`crate::tables`].
pub trait Table: Default + Send + 'static {
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
    /// Memory that the collected rows take, about.
    fn bytes(&self) -> usize;
    /// Takes what was collected as a batch.
    fn take(&mut self) -> Result<RecordBatch, ArrowError>;
}

/// One table as an Arrow IPC stream, `<folder>/<stem>.arrows`. Each batch is handed to the kernel
/// at once, so that a kill loses only what was not handed over to the writer.
pub struct TableFile<T: Table> {
    stream: StreamWriter<BufWriter<File>>,
    path: PathBuf,
    table: PhantomData<fn(T)>,
}

impl<T: Table> TableFile<T> {
    pub(crate) fn create(folder: &Path, stem: &str) -> Result<Self, RecordError> {
        let path = folder.join(format!("{stem}.arrows"));
        let file = File::create(&path)
            .map_err(|source| RecordError::Create { path: path.clone(), source })?;
        let stream = StreamWriter::try_new(BufWriter::new(file), &T::schema())
            .map_err(|source| RecordError::Write { path: path.clone(), source })?;
        let mut created = Self { stream, path, table: PhantomData };
        created.tried(|stream| Ok(stream.get_mut().flush()?))?;
        Ok(created)
    }

    fn tried(
        &mut self,
        what: impl FnOnce(&mut StreamWriter<BufWriter<File>>) -> Result<(), ArrowError>,
    ) -> Result<(), RecordError> {
        what(&mut self.stream)
            .map_err(|source| RecordError::Write { path: self.path.clone(), source })
    }
}

impl<T: Table> Batch for T {
    type File = TableFile<T>;

    fn rows(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> usize {
        Table::bytes(self)
    }

    fn write(&mut self, file: &mut TableFile<T>) -> Result<(), RecordError> {
        file.tried(|stream| {
            stream.write(&self.take()?)?;
            Ok(stream.get_mut().flush()?)
        })
    }

    fn finish(mut file: TableFile<T>) -> Result<(), RecordError> {
        file.tried(|stream| {
            stream.finish()?;
            Ok(stream.get_mut().flush()?)
        })
    }
}
