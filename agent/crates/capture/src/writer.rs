//! A thread that writes the tables. The one that reads the ring must never wait for a disk: a
//! write of a few kilobytes can take half a second where others keep the disk busy.

use anyhow::{Context, Result, anyhow};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use tierlab_record::TableWriter;
use tierlab_record::tables::{Events, RawVisits};

/// So many batches may wait for the disk, a second's each; then the reader waits too, and what the
/// kernel drops meanwhile is counted.
const MOST_WAITING: usize = 30;

/// Rows on their way to disk.
#[derive(Default)]
pub(crate) struct Batch {
    pub visits: RawVisits,
    pub events: Events,
    /// Lines of JSON, if messages are wanted.
    pub messages: Vec<u8>,
}

/// The thread and the way to it.
pub(crate) struct Writer {
    batches: SyncSender<Batch>,
    thread: JoinHandle<Result<()>>,
}

struct Files {
    visits: TableWriter<RawVisits>,
    events: TableWriter<Events>,
    messages: Option<(PathBuf, File)>,
}

impl Writer {
    /// Creates the files in `out` and starts the thread.
    pub(crate) fn start(out: &Path, verb: &str, messages: bool) -> Result<Self> {
        let files = Files {
            visits: TableWriter::create(out)?,
            events: TableWriter::create_as(out, &format!("{verb}.events"))?,
            messages: messages.then(|| create(out.join("messages.jsonl"))).transpose()?,
        };
        let (batches, waiting) = sync_channel(MOST_WAITING);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || files.write_all(&waiting))
            .context("cannot start a thread")?;
        Ok(Self { batches, thread })
    }

    /// Hands over a batch. False once the thread has failed; [`Writer::finish`] says why.
    pub(crate) fn hand_over(&self, batch: Batch) -> bool {
        self.batches.send(batch).is_ok()
    }

    /// Waits until everything is written.
    pub(crate) fn finish(self) -> Result<()> {
        drop(self.batches);
        self.thread.join().map_err(|_| anyhow!("the thread that writes the tables died"))?
    }
}

fn create(path: PathBuf) -> Result<(PathBuf, File)> {
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok((path, file))
}

impl Files {
    fn write_all(mut self, waiting: &Receiver<Batch>) -> Result<()> {
        for batch in waiting {
            self.visits.append(batch.visits)?;
            self.events.append(batch.events)?;
            if let Some((path, file)) = &mut self.messages {
                file.write_all(&batch.messages)
                    .with_context(|| format!("cannot write to {}", path.display()))?;
            }
        }
        self.visits.finish()?;
        self.events.finish()?;
        Ok(())
    }
}
