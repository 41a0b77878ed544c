//! What every sampler is, and how one is run: it times itself and keeps its own table.

use crate::events::EventLog;
use std::path::Path;
use tierlab_record::{RecordError, Table, TableWriter, clock};

/// When a sampler reads: both clocks at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the epoch, for the table.
    pub t_ns: i64,
    /// Nanoseconds of the monotonic clock, for intervals.
    pub monotonic_ns: i64,
}

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self { t_ns: clock::realtime_ns(), monotonic_ns: clock::monotonic_ns() }
    }

    /// Now, a short while after `earlier`, in which the two clocks have gone alike.
    pub fn after(earlier: Self) -> Self {
        let monotonic_ns = clock::monotonic_ns();
        Self { t_ns: earlier.t_ns + monotonic_ns - earlier.monotonic_ns, monotonic_ns }
    }

    /// Nanoseconds since `earlier`, at least 1 so that it can be divided by.
    pub fn since(self, earlier: Self) -> i64 {
        (self.monotonic_ns - earlier.monotonic_ns).max(1)
    }
}

/// Why a table or a column is not there.
#[derive(Debug)]
pub struct NotMeasured(pub String);

impl NotMeasured {
    /// Because a file could not be read.
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

/// Reads one kind of resource and writes its table.
///
/// A sampler remembers what it read last: its first call only remembers, every later one pushes
/// rows of what happened in between. What it cannot read is null or has no row; it never fails
/// because of what it reads, only because the table cannot be written.
pub trait Sampler {
    /// The table it fills.
    type Table: Table;

    /// Reads now and pushes the rows of the interval that ends now.
    fn sample(
        &mut self,
        now: Moment,
        table: &mut TableWriter<Self::Table>,
        events: &mut EventLog,
    ) -> Result<(), RecordError>;

    /// The columns that this machine does not have, each with the reason.
    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A sampler with its table and the time that it has taken.
pub struct Running<S: Sampler> {
    sampler: S,
    table: TableWriter<S::Table>,
    took_ns: i64,
}

impl<S: Sampler> Running<S> {
    /// Creates the sampler's table in `out`.
    pub fn start(sampler: S, out: &Path) -> Result<Self, RecordError> {
        Ok(Self { sampler, table: TableWriter::create(out)?, took_ns: 0 })
    }
}

/// A running sampler, whatever its table.
pub trait Task {
    /// The table's name.
    fn name(&self) -> &'static str;
    /// Takes one sample at `now`, which is moved on, so that the end of a sampler's work is the
    /// moment of the next one's.
    fn tick(&mut self, now: &mut Moment, events: &mut EventLog) -> Result<(), RecordError>;
    /// Writes the rows so far to the file.
    fn flush(&mut self) -> Result<(), RecordError>;
    /// Ends the table.
    fn finish(self: Box<Self>) -> Result<(), RecordError>;
    /// Time that sampling and writing took.
    fn took_ns(&self) -> i64;
    /// See [`Sampler::missing_columns`].
    fn missing_columns(&self) -> Vec<(&'static str, String)>;
}

impl<S: Sampler> Task for Running<S> {
    fn name(&self) -> &'static str {
        S::Table::NAME
    }

    fn tick(&mut self, now: &mut Moment, events: &mut EventLog) -> Result<(), RecordError> {
        self.sampler.sample(*now, &mut self.table, events)?;
        let earlier = std::mem::replace(now, Moment::after(*now));
        self.took_ns += now.since(earlier);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        let began_ns = clock::monotonic_ns();
        self.table.flush()?;
        self.took_ns += clock::monotonic_ns() - began_ns;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        self.table.finish()
    }

    fn took_ns(&self) -> i64 {
        self.took_ns
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        self.sampler.missing_columns()
    }
}
