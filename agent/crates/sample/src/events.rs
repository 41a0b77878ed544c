//! What happened beside the ticks: late ticks, subjects and processes that come and go.

use crate::sampler::Moment;
use std::path::Path;
use tierlab_record::tables::{EventRow, Events};
use tierlab_record::{RecordError, TableWriter};

/// The table `sample.events`. An event that cannot be written is kept as the first failure and told
/// at the next flush, so that samplers need not stop for it.
pub struct EventLog {
    table: TableWriter<Events>,
    failed: Option<RecordError>,
}

impl EventLog {
    /// Creates the table in `out`.
    pub fn create(out: &Path) -> Result<Self, RecordError> {
        Ok(Self { table: TableWriter::create_as(out, "sample.events")?, failed: None })
    }

    /// Records that `kind` happened to `subject` now.
    pub fn at(&mut self, now: Moment, kind: &str, subject: &str, detail: &str) {
        self.span(now.t_ns, 0, kind, subject, detail);
    }

    /// Records that `kind` happened to `subject` and took `duration_ns`.
    pub fn span(&mut self, t_ns: i64, duration_ns: i64, kind: &str, subject: &str, detail: &str) {
        let row = EventRow { t_ns, duration_ns, kind, subject, detail };
        if let Err(error) = self.table.push(row) {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes the events so far to the file.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.table.flush(),
        }
    }

    /// Ends the table.
    pub fn finish(mut self) -> Result<(), RecordError> {
        self.flush()?;
        self.table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_lost_in_the_last_second_is_told_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = EventLog::create(folder.path()).unwrap();
        let source = std::io::ErrorKind::StorageFull.into();
        log.failed = Some(RecordError::Create { path: "sample.events.arrows".into(), source });
        assert!(log.finish().is_err());
    }
}
