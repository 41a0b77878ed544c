//! The thread that writes. One that measures must never wait for a disk: where others keep it busy a
//! write of a few kilobytes can take seconds, and a tick, a packet or a request would be late.
//!
//! A thread that measures collects rows in a [`Rows`] and hands them over about once a second; the
//! writer makes batches of columns of them, writes them, and gives the emptied rows back, so that
//! their memory is used again. What waits has a bound ([`WhenFull`] says what happens beyond it).

use crate::batch::Batch;
use crate::error::RecordError;
use crate::queue::{Job, Queue, ROOM_BYTES, WhenFull};
use crate::stream::{Table, TableFile};
use crate::{clock, lines, priority, status};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Rows in a batch at the most.
const MOST_ROWS: usize = 16_384;
/// Bytes in a batch at the most, but for its last row.
const MOST_BYTES: usize = 4 << 20;
/// Emptied batches of a table that are kept: one is filled while one is written; what a stall has
/// made more of them goes back to the machine.
const MOST_SPARE: usize = 2;

/// The thread and the files that it writes.
pub struct Writer {
    queue: Arc<Queue>,
    thread: JoinHandle<()>,
    files: Mutex<Vec<Box<dyn Open>>>,
}

impl Writer {
    /// Starts the thread, which assists threads of the priority `role`.
    pub fn start(when_full: WhenFull, role: priority::Role) -> Result<Self, RecordError> {
        Self::with_room(when_full, role, ROOM_BYTES)
    }

    fn with_room(
        when_full: WhenFull,
        role: priority::Role,
        room_bytes: usize,
    ) -> Result<Self, RecordError> {
        let queue = Arc::new(Queue::new(when_full, room_bytes));
        let works = queue.clone();
        let work = move || {
            priority::leave_signals_to_others();
            priority::assist(role);
            works.work();
        };
        let thread = std::thread::Builder::new().name("writer".into()).spawn(work);
        let thread = thread.map_err(RecordError::Thread)?;
        Ok(Self { queue, thread, files: Mutex::default() })
    }

    /// Creates `<folder>/<T::NAME>.arrows`.
    pub fn table<T: Table>(&self, folder: &Path) -> Result<Rows<T>, RecordError> {
        self.table_as(folder, T::NAME)
    }

    /// Creates `<folder>/<stem>.arrows`: for tables that several verbs write at once (`events`).
    pub fn table_as<T: Table>(&self, folder: &Path, stem: &str) -> Result<Rows<T>, RecordError> {
        Ok(self.rows(TableFile::create(folder, stem)?))
    }

    /// Creates a file of lines.
    pub fn lines(&self, path: PathBuf) -> Result<Rows<lines::Lines>, RecordError> {
        Ok(self.rows(lines::LinesFile::create(path)?))
    }

    fn rows<B: Batch>(&self, file: B::File) -> Rows<B> {
        let shared = Arc::new(Shared::<B> {
            file: Mutex::new(Some(file)),
            spare: Mutex::default(),
            spent_ns: AtomicI64::new(0),
            lost: AtomicU64::new(0),
        });
        held(&self.files).push(Box::new(shared.clone()));
        Rows { batch: B::default(), shared, queue: self.queue.clone() }
    }

    /// Says a line on standard output, after what was handed over before.
    pub fn say(&self, line: Value) {
        self.queue.put(0, Box::new(Line(line)));
    }

    /// Fails if anything could not be written: ask about once a second.
    pub fn check(&self) -> Result<(), RecordError> {
        self.queue.check()
    }

    /// Waits until everything that was handed over is written, and ends the files.
    pub fn finish(self) -> Result<(), RecordError> {
        self.queue.close();
        let ended = self.thread.join();
        self.queue.check()?;
        ended.map_err(|_| RecordError::Closed)?;
        held(&self.files).drain(..).try_for_each(|file| file.finish())
    }
}

/// The rows of one file that a thread collects. Clones collect for the same file.
pub struct Rows<B: Batch> {
    batch: B,
    shared: Arc<Shared<B>>,
    queue: Arc<Queue>,
}

impl<B: Batch> Rows<B> {
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

struct Line(Value);

impl Job for Line {
    fn run(self: Box<Self>) -> Result<(), RecordError> {
        status::say(&self.0);
        Ok(())
    }
}

/// A file that is to be ended.
trait Open: Send {
    fn finish(&self) -> Result<(), RecordError>;
}

impl<B: Batch> Open for Arc<Shared<B>> {
    fn finish(&self) -> Result<(), RecordError> {
        held(&self.file).take().map_or(Ok(()), B::finish)
    }
}

/// What a lock holds; a thread that panicked has left it as good as before.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
