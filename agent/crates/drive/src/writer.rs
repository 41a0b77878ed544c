//! A thread that writes the tables. The one that drives must never wait for a disk: where others
//! keep it busy a write takes as long as many requests, and they all would start late.

use crate::plan::Priority;
use crate::scheduling;
use anyhow::{Context, Result, anyhow};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use tierlab_record::TableWriter;
use tierlab_record::tables::{Events, Requests};

/// So many batches may wait for the disk, a second's each; then the driver waits too, and its lag
/// shows it.
const MOST_WAITING: usize = 30;

/// Rows on their way to disk.
#[derive(Default)]
pub struct Batch {
    /// Interactions.
    pub requests: Requests,
    /// Phases and lag.
    pub events: Events,
}

/// The thread and the way to it.
pub struct Writer {
    batches: SyncSender<Batch>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Writer {
    /// Creates the tables in `out` and starts the thread.
    pub fn start(out: &Path, priority: Priority) -> Result<Self> {
        let requests = TableWriter::create(out)?;
        let events = TableWriter::create_as(out, "drive.events")?;
        let (batches, waiting) = sync_channel(MOST_WAITING);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || {
                scheduling::assist(priority);
                write_all(&waiting, requests, events)
            })
            .context("cannot start a thread")?;
        Ok(Self { batches, thread: Some(thread) })
    }

    /// Hands over a batch. An error is that of an earlier one.
    pub fn hand_over(&mut self, batch: Batch) -> Result<()> {
        match self.batches.send(batch) {
            Ok(()) => Ok(()),
            Err(_) => self.thread.take().map_or(Ok(()), join),
        }
    }

    /// Waits until everything is written.
    pub fn finish(self) -> Result<()> {
        let Self { batches, thread } = self;
        drop(batches);
        thread.map_or(Ok(()), join)
    }
}

fn join(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().map_err(|_| anyhow!("the thread that writes the tables died"))?
}

fn write_all(
    batches: &Receiver<Batch>,
    mut requests: TableWriter<Requests>,
    mut events: TableWriter<Events>,
) -> Result<()> {
    for batch in batches {
        requests.append(batch.requests)?;
        events.append(batch.events)?;
    }
    requests.finish()?;
    Ok(events.finish()?)
}
