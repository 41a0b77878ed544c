//! Why something could not be recorded.

use arrow_schema::ArrowError;
use std::path::PathBuf;

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
    /// The thread that writes could not be started.
    #[error("cannot start the thread that writes the tables: {0}")]
    Thread(std::io::Error),
    /// The thread that writes has panicked, which is a fault of this program.
    #[error(
        "the thread that writes the tables has panicked: rows are missing; please report the message \
         of the panic, which is on standard error"
    )]
    Panicked,
    /// The thread that writes has ended before its time; its own error was told before.
    #[error("the tables were closed before their end")]
    Closed,
}
