//! The rows that a thread collects, and their way to the file and back.

use crate::batch::Batch;
use crate::clock;
use crate::error::RecordError;
use crate::lock::held;
use crate::queue::{Job, Queue};
use crate::stream::Table;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Rows in a batch at the most.
const MOST_ROWS: usize = 16_384;
/// Bytes in a batch at the most, but for its last row.
const MOST_BYTES: usize = 4 << 20;
/// Emptied batches of a table that are kept: one is filled while one is written; what a stall has
/// made more of them goes back to the machine.
const MOST_SPARE: usize = 2;

/// The rows of one file that a thread collects. Clones collect for the same file.
pub struct Rows<B: Batch> {
    batch: B,
    shared: Arc<Shared<B>>,
    queue: Arc<Queue>,
}

impl<B: Batch> Rows<B> {
    /// Nothing yet for an open file; the second of the two ends it.
    pub(crate) fn new(file: B::File, queue: Arc<Queue>) -> (Self, Box<dyn Open>) {
        let (spent_ns, lost) = (AtomicI64::new(0), AtomicU64::new(0));
        let (file, spare) = (Mutex::new(Some(file)), Mutex::default());
        let shared = Arc::new(Shared { file, spare, spent_ns, lost });
        (Self { batch: B::default(), shared: shared.clone(), queue }, Box::new(shared))
    }

    /// What was collected and not handed over; more is pushed into it.
    pub fn batch(&mut self) -> &mut B {
        &mut self.batch
    }

    /// Hands over what has become a whole batch.
    pub fn hand_over_if_full(&mut self) {
        if self.batch.rows() >= MOST_ROWS || self.batch.bytes() >= MOST_BYTES {
            self.hand_over();
        }
    }

    /// Hands over what was collected.
    pub fn hand_over(&mut self) {
        let (rows, bytes) = (self.batch.rows() as u64, self.batch.bytes());
        if rows == 0 {
            return;
        }
        let empty = held(&self.shared.spare).pop().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, empty);
        let job = Full { batch, shared: self.shared.clone() };
        if !self.queue.put(bytes, Box::new(job)) {
            self.shared.lost.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Rows that were left out because there was no room for them, those of clones too.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// CPU time that writing the file has taken so far.
    pub fn spent_ns(&self) -> i64 {
        self.shared.spent_ns.load(Ordering::Relaxed)
    }
}

impl<T: Table> Rows<T> {
    /// Collects a row.
    pub fn push(&mut self, row: T::Row<'_>) {
        self.batch.push(row);
        self.hand_over_if_full();
    }
}

impl<B: Batch> Clone for Rows<B> {
    fn clone(&self) -> Self {
        Self { batch: B::default(), shared: self.shared.clone(), queue: self.queue.clone() }
    }
}

/// A file, and what becomes of its batches.
struct Shared<B: Batch> {
    file: Mutex<Option<B::File>>,
    spare: Mutex<Vec<B>>,
    spent_ns: AtomicI64,
    lost: AtomicU64,
}

/// A batch on its way.
struct Full<B: Batch> {
    batch: B,
    shared: Arc<Shared<B>>,
}

impl<B: Batch> Job for Full<B> {
    fn run(self: Box<Self>) -> Result<(), RecordError> {
        let Self { mut batch, shared } = *self;
        let began_ns = clock::thread_cpu_ns();
        if let Some(file) = held(&shared.file).as_mut() {
            batch.write(file)?;
        }
        shared.spent_ns.fetch_add(clock::thread_cpu_ns() - began_ns, Ordering::Relaxed);
        let mut spare = held(&shared.spare);
        if spare.len() < MOST_SPARE {
            spare.push(batch);
        }
        Ok(())
    }
}

/// A file that is to be ended.
pub(crate) trait Open: Send {
    fn finish(&self) -> Result<(), RecordError>;
}

impl<B: Batch> Open for Arc<Shared<B>> {
    fn finish(&self) -> Result<(), RecordError> {
        held(&self.file).take().map_or(Ok(()), B::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::Role;
    use crate::tables::{EventRow, Events};
    use crate::{WhenFull, Writer};
    use arrow_ipc::reader::StreamReader;
    use std::fs::File;

    #[test]
    fn rows_of_several_threads_are_all_in_their_table_and_their_memory_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::start(WhenFull::Wait, Role::Ordinary).unwrap();
        let rows: Rows<Events> = writer.table(folder.path()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let mut rows = rows.clone();
                scope.spawn(move || {
                    for t_ns in 0..10_000 {
                        let subject = &thread.to_string();
                        let (kind, detail) = ("phase", "");
                        rows.push(EventRow { t_ns, duration_ns: thread, kind, subject, detail });
                        if t_ns % 100 == 0 {
                            rows.hand_over();
                        }
                    }
                    rows.hand_over();
                });
            }
        });
        let spare = held(&rows.shared.spare).len();
        writer.finish().unwrap();
        assert!(spare <= MOST_SPARE);
        let file = File::open(folder.path().join("events.arrows")).unwrap();
        let batches = StreamReader::try_new(file, None).unwrap();
        assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 30_000);
    }
}
