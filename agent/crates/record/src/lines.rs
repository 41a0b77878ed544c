//! Files of lines, such as JSON lines.

use crate::batch::Batch;
use crate::error::RecordError;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Lines on their way to a file.
#[derive(Default)]
pub struct Lines {
    text: Vec<u8>,
    count: usize,
}

impl Lines {
    /// Collects the line that `write` appends to the text, its end included.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.text);
        self.count += 1;
    }
}

/// The open file.
pub struct LinesFile {
    file: File,
    path: PathBuf,
}

impl LinesFile {
    pub(crate) fn create(path: PathBuf) -> Result<Self, RecordError> {
        match File::create(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(source) => Err(RecordError::Create { path, source }),
        }
    }
}

impl Batch for Lines {
    type File = LinesFile;

    fn rows(&self) -> usize {
        self.count
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }

    fn write(&mut self, file: &mut LinesFile) -> Result<(), RecordError> {
        let written = file.file.write_all(&self.text);
        self.text.clear();
        self.count = 0;
        written
            .map_err(|error| RecordError::Write { path: file.path.clone(), source: error.into() })
    }

    fn finish(_file: LinesFile) -> Result<(), RecordError> {
        Ok(())
    }
}
