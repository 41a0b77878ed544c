//! What happened beside the ticks: late ticks, subjects and processes that come and go.

use crate::sampler::Place;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{EventRow, Events};
use tierlab_record::{RecordError, Rows, Table};

/// The table `sample.events`.
pub struct EventLog {
    rows: Rows<Events>,
}

impl EventLog {
    /// Creates the table.
    pub fn create(place: Place<'_>) -> Result<Self, RecordError> {
        Ok(Self { rows: place.writer.table_as(place.folder, "sample.events")? })
    }

    /// Records that `kind` happened to `subject` now.
    pub fn at(&mut self, now: Moment, kind: &str, subject: &str, detail: &str) {
        self.span(now.t_ns, 0, kind, subject, detail);
    }

    /// Records that `kind` happened to `subject` and took `duration_ns`.
    pub fn span(&mut self, t_ns: i64, duration_ns: i64, kind: &str, subject: &str, detail: &str) {
        self.rows.batch().push(EventRow { t_ns, duration_ns, kind, subject, detail });
    }

    /// Hands the events so far to the writer.
    pub fn hand_over(&mut self) {
        self.rows.hand_over();
    }

    /// Events for which there was no room.
    pub fn lost(&self) -> u64 {
        self.rows.lost()
    }
}
