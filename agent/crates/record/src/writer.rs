//! The thread that writes. One that measures must never wait for a disk: where others keep it busy a
//! write of a few kilobytes can take seconds, and a tick, a packet or a request would be late.
//!
//! A thread that measures collects rows in a [`Rows`] and hands them over about once a second; the
//! writer makes batches of columns of them, writes them, and gives the emptied rows back, so that
//! their memory is used again. What waits has a bound ([`WhenFull`] says what happens beyond it).

use crate::batch::Batch;
use crate::error::RecordError;
use crate::lock::held;
use crate::queue::{Job, Queue, ROOM_BYTES, WhenFull};
use crate::rows::{Open, Rows};
use crate::stream::{Table, TableFile};
use crate::{lines, priority, status};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

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

    /// Starts it with room for so many bytes that wait for the disk.
    pub fn with_room(
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
        let (rows, open) = Rows::new(file, self.queue.clone());
        held(&self.files).push(open);
        rows
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

struct Line(Value);

impl Job for Line {
    fn run(self: Box<Self>) -> Result<(), RecordError> {
        status::say(&self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::Role;
    use crate::stalled::{pipe, read_all};
    use std::time::{Duration, Instant};

    const LINE: &[u8] = &[b'a'; 1024];

    /// Hands over this many lines of 1 KiB, one by one.
    fn hand_over(rows: &mut Rows<lines::Lines>, count: usize) {
        for _ in 0..count {
            rows.batch().push(|text| text.extend(LINE));
            rows.hand_over();
        }
    }

    #[test]
    fn rows_that_wait_for_the_disk_have_a_bound_and_those_beyond_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut stalled = pipe(&path);
        let writer = Writer::with_room(WhenFull::Drop, Role::Ordinary, 256 << 10).unwrap();
        let mut rows = writer.lines(path).unwrap();
        // Nobody reads meanwhile: who waited for the disk would never be done.
        hand_over(&mut rows, 1000);
        let lost = rows.lost() as usize;
        let kept = 1000 - lost;
        assert!((256..=256 + 64 + 2).contains(&kept), "{kept} are in the pipe or wait for it");
        // The disk goes on: nothing else is lost.
        let mut written = Vec::new();
        while written.len() < kept * LINE.len() {
            written.extend(read_all(&mut stalled));
        }
        hand_over(&mut rows, 10);
        writer.finish().unwrap();
        written.extend(read_all(&mut stalled));
        assert_eq!((written.len(), rows.lost() as usize), ((kept + 10) * LINE.len(), lost));
    }

    #[test]
    fn who_would_rather_wait_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut stalled = pipe(&path);
        let writer = Writer::with_room(WhenFull::Wait, Role::Ordinary, 64 << 10).unwrap();
        let mut rows = writer.lines(path).unwrap();
        let mut written = 0;
        std::thread::scope(|scope| {
            let handing_over = scope.spawn(|| hand_over(&mut rows, 1000));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!handing_over.is_finished(), "it waits for the disk");
            while written < 1000 * LINE.len() {
                written += read_all(&mut stalled).len();
            }
        });
        writer.finish().unwrap();
        assert_eq!((written, rows.lost()), (1000 * LINE.len(), 0));
    }

    /// A job of a writer with a fault.
    struct Faulty;

    impl Job for Faulty {
        fn run(self: Box<Self>) -> Result<(), RecordError> {
            panic!("it has a fault, as this test wants")
        }
    }

    #[test]
    fn who_waits_for_the_disk_does_not_wait_for_a_writer_that_has_panicked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let writer = Writer::with_room(WhenFull::Wait, Role::Ordinary, 64 << 10).unwrap();
        let mut rows = writer.lines(path).unwrap();
        writer.queue.put(1, Box::new(Faulty));
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            hand_over(&mut rows, 1000);
            done.send(rows.lost()).unwrap();
        });
        let lost = is_done.recv_timeout(Duration::from_secs(5)).expect("it waits for ever");
        assert!(lost > 0);
        let error = writer.check().unwrap_err().to_string();
        assert!(error.contains("has panicked"), "{error}");
        assert!(matches!(writer.finish(), Err(RecordError::Closed)));
    }

    #[test]
    fn what_cannot_be_written_is_told_once_and_then_that_the_tables_are_closed() {
        let folder = tempfile::tempdir().unwrap();
        let full = folder.path().join("lines");
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let writer = Writer::start(WhenFull::Wait, Role::Ordinary).unwrap();
        let mut rows = writer.lines(full).unwrap();
        hand_over(&mut rows, 1);
        let deadline = Instant::now() + Duration::from_secs(10);
        let told = loop {
            match writer.check() {
                Err(error) => break error.to_string(),
                Ok(()) => assert!(Instant::now() < deadline, "it failed without a word"),
            }
        };
        assert!(told.contains("No space left"), "{told}");
        hand_over(&mut rows, 1);
        assert!(matches!(writer.finish(), Err(RecordError::Closed)));
    }
}
