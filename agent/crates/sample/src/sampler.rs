//! What every sampler is, and how one is run: it times itself and keeps its own table.

use crate::events::EventLog;
use std::path::Path;
use tierlab_record::clock::Moment;
use tierlab_record::{RecordError, Rows, Table, Writer};

/// Why a table or a column is not there.
#[derive(Debug)]
pub struct NotMeasured(pub String);

impl NotMeasured {
    /// Because a file could not be read.
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

/// Reads one kind of resource and fills its table.
///
/// A sampler remembers what it read last: its first call only remembers, every later one pushes
/// rows of what happened in between. What it cannot read is null or has no row; it never fails.
pub trait Sampler {
    /// The table it fills.
    type Table: Table;

    /// Reads now and pushes the rows of the interval that ends now.
    fn sample(&mut self, now: Moment, table: &mut Self::Table, events: &mut EventLog);

    /// The columns that this machine does not have, each with the reason.
    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Where tables go.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Who writes them.
    pub writer: &'a Writer,
    /// Their folder.
    pub folder: &'a Path,
}

/// A sampler with its table and the time that it has taken.
pub struct Running<S: Sampler> {
    sampler: S,
    rows: Rows<S::Table>,
    took_ns: i64,
}

impl<S: Sampler> Running<S> {
    /// Creates the sampler's table.
    pub fn start(sampler: S, place: Place<'_>) -> Result<Self, RecordError> {
        Ok(Self { sampler, rows: place.writer.table(place.folder)?, took_ns: 0 })
    }
}

/// A running sampler, whatever its table.
pub trait Task {
    /// The table's name.
    fn name(&self) -> &'static str;
    /// Takes one sample at `now`, which is moved on, so that the end of a sampler's work is the
    /// moment of the next one's.
    fn tick(&mut self, now: &mut Moment, events: &mut EventLog);
    /// Hands the rows so far to the writer.
    fn hand_over(&mut self);
    /// What it has cost and lost.
    fn account(&self) -> Account;
    /// See [`Sampler::missing_columns`].
    fn missing_columns(&self) -> Vec<(&'static str, String)>;
}

/// What a table has cost and lost so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Time that its ticks took.
    pub took_ns: i64,
    /// CPU time that writing it took.
    pub written_ns: i64,
    /// Rows for which there was no room while the disk stood still.
    pub lost_rows: u64,
}

impl<S: Sampler> Task for Running<S> {
    fn name(&self) -> &'static str {
        S::Table::NAME
    }

    fn tick(&mut self, now: &mut Moment, events: &mut EventLog) {
        self.sampler.sample(*now, self.rows.batch(), events);
        self.rows.hand_over_if_full();
        let earlier = std::mem::replace(now, Moment::after(*now));
        self.took_ns += now.since(earlier);
    }

    fn hand_over(&mut self) {
        self.rows.hand_over();
    }

    fn account(&self) -> Account {
        let Self { rows, took_ns, .. } = self;
        Account { took_ns: *took_ns, written_ns: rows.spent_ns(), lost_rows: rows.lost() }
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        self.sampler.missing_columns()
    }
}
