//! A capture file dissected by several threads, none of which waits for the slowest.
//!
//! The file comes in parts. A part is read, each shard dissects its share of the frames, then what
//! the shards said of it is told. There is one reader and one teller at a time, and a shard takes the
//! parts in their order; other than that a thread takes whatever job is ready, of the shards' first
//! those that it had last: their connections are in its core's cache.

use crate::chunk::Chunk;
use crate::memory::MOST_DISSECTORS;
use crate::pcap::Frames;
use crate::recording::{Recording, tell};
use crate::shard::{Part, Shard};
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tierlab_dissect::{Dissector, LeftOut};

/// So many shards has each thread: flows are not alike, and a thread that is done with its own takes
/// another's. (Measured: of two cores, four a thread take a twentieth more time than two, one a
/// twentieth less, but one leaves nothing to take.)
const SHARDS_PER_THREAD: usize = 2;
/// So many parts more than threads may be read and not told yet: some milliseconds' work, in which
/// the thread that writes has its turn on a core.
const READ_AHEAD: usize = 6;

/// Dissects the file with so many threads; `dissector` makes one of so many.
pub(crate) fn run(
    frames: Frames,
    threads: usize,
    dissector: impl Fn(usize) -> Dissector,
    tables: &mut Tables,
) -> Result<(Summary, LeftOut)> {
    let count = threads.saturating_mul(SHARDS_PER_THREAD).min(MOST_DISSECTORS);
    let shards = (0..count).map(|number| Shard { number, dissector: dissector(count) }).collect();
    let work = Work {
        state: Mutex::new(State::new(frames, shards, tables, threads)),
        changed: Condvar::new(),
    };
    let shared = &work;
    std::thread::scope(|scope| {
        for number in 1..threads {
            let thread = std::thread::Builder::new().name(format!("dissect {number}"));
            // With fewer threads it takes longer.
            let _ = thread.spawn_scoped(scope, move || shared.until_done(number));
        }
        shared.until_done(0);
    });
    work.state.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// What the threads share.
struct Work<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

/// What is to be done, and with what. Who has a job has what it needs.
struct State<'a> {
    frames: Option<Frames>,
    tables: Option<&'a mut Tables>,
    shards: Vec<Place>,
    /// Read and not told, oldest first.
    parts: VecDeque<Pending>,
    /// Parts that are told or being told.
    told: usize,
    /// So many parts may be read and not told.
    most_parts: usize,
    spare_chunks: Vec<Chunk>,
    spare_recordings: Vec<Recording>,
    with_messages: bool,
    /// Threads that wait for a job.
    idle: usize,
    summary: Summary,
    /// The last part is read, or one could not be.
    ended: bool,
    failed: Option<anyhow::Error>,
}

/// Where a shard is when nobody works with it, which part it takes next, and which thread had it.
struct Place {
    shard: Option<Box<Shard>>,
    next: usize,
    thread: usize,
}

/// A part that was read, what was said of it, and how many shards have not dissected it.
struct Pending {
    part: Arc<Part>,
    said: Vec<Recording>,
    left: usize,
}

enum Job<'a> {
    Read { frames: Frames, part: Part, goes_on: Result<bool> },
    Dissect { shard: Box<Shard>, part: Arc<Part>, recording: Recording },
    Tell { tables: &'a mut Tables, told: Pending },
}

impl<'a> Work<'a> {
    fn until_done(&self, thread: usize) {
        let _guard = EndOthers(self);
        let mut state = self.lock();
        while !state.is_over() {
            let Some(mut job) = state.next_job(thread) else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let others_wait = state.idle > 0;
            drop(state);
            // One that finds a job wakes the next.
            if others_wait {
                self.changed.notify_one();
            }
            job.run();
            state = self.lock();
            state.done(job);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the other threads end when this one panics: they would wait for what it was to do.
struct EndOthers<'work, 'a>(&'work Work<'a>);

impl Drop for EndOthers<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed.get_or_insert_with(|| anyhow::anyhow!("a thread died"));
            self.0.changed.notify_all();
        }
    }
}

impl Job<'_> {
    fn run(&mut self) {
        match self {
            Self::Read { frames, part, goes_on } => *goes_on = frames.next(&mut part.chunk),
            Self::Dissect { shard, part, recording } => shard.dissect(part, recording),
            Self::Tell { tables, told } => tell(&mut told.said, i64::MAX, *tables),
        }
    }
}

impl<'a> State<'a> {
    fn new(frames: Frames, shards: Vec<Shard>, tables: &'a mut Tables, threads: usize) -> Self {
        Self {
            frames: Some(frames),
            with_messages: tables.has_messages(),
            tables: Some(tables),
            shards: shards
                .into_iter()
                .map(|it| Place { next: 0, thread: it.number % threads, shard: Some(Box::new(it)) })
                .collect(),
            parts: VecDeque::new(),
            told: 0,
            most_parts: threads + READ_AHEAD,
            idle: 0,
            spare_chunks: Vec::new(),
            spare_recordings: Vec::new(),
            summary: Summary::default(),
            ended: false,
            failed: None,
        }
    }

    fn is_over(&self) -> bool {
        let all_told = self.ended && self.parts.is_empty() && self.tables.is_some();
        all_told || self.failed.is_some()
    }

    /// What is ready: what frees memory first, then what others wait for.
    fn next_job(&mut self, thread: usize) -> Option<Job<'a>> {
        self.tell().or_else(|| self.read()).or_else(|| self.dissect(thread))
    }

    fn tell(&mut self) -> Option<Job<'a>> {
        if self.parts.front()?.left > 0 {
            return None;
        }
        let tables = self.tables.take()?;
        self.told += 1;
        self.parts.pop_front().map(|told| Job::Tell { tables, told })
    }

    fn read(&mut self) -> Option<Job<'a>> {
        if self.ended || self.parts.len() >= self.most_parts {
            return None;
        }
        let frames = self.frames.take()?;
        let chunk = self.spare_chunks.pop().unwrap_or_else(|| Chunk::new(self.shards.len()));
        let part = Part { chunk, first: self.summary.packets };
        Some(Job::Read { frames, part, goes_on: Ok(true) })
    }

    /// The thread's own shards come first, and of these the one that is behind the others.
    fn dissect(&mut self, thread: usize) -> Option<Job<'a>> {
        let read = self.told + self.parts.len();
        let ready = self.shards.iter_mut().filter(|it| it.shard.is_some() && it.next < read);
        let place = ready.min_by_key(|it| (it.thread != thread, it.next))?;
        place.thread = thread;
        let part = Arc::clone(&self.parts[place.next - self.told].part);
        let recording = self.spare_recordings.pop();
        let recording = recording.unwrap_or_else(|| Recording::new(self.with_messages));
        Some(Job::Dissect { shard: place.shard.take()?, part, recording })
    }

    /// Takes back what a job was given, and what came of it.
    fn done(&mut self, job: Job<'a>) {
        match job {
            Job::Read { frames, part, goes_on, .. } => {
                self.frames = Some(frames);
                match goes_on {
                    Ok(goes_on) => self.ended = !goes_on,
                    Err(error) => self.failed = Some(error),
                }
                self.summary.add(&part.chunk);
                let (part, left) = (Arc::new(part), self.shards.len());
                self.parts.push_back(Pending { part, said: Vec::with_capacity(left), left });
            }
            Job::Dissect { shard, part, recording } => {
                drop(part);
                let place = &mut self.shards[shard.number];
                let pending = &mut self.parts[place.next - self.told];
                place.next += 1;
                place.shard = Some(shard);
                pending.said.push(recording);
                pending.left -= 1;
            }
            Job::Tell { tables, told } => {
                self.tables = Some(tables);
                self.spare_chunks.extend(Arc::into_inner(told.part).map(|it| it.chunk));
                self.spare_recordings.extend(told.said.into_iter().map(Recording::cleared));
            }
        }
    }

    /// Tells what is left at the end of the capture.
    fn finish(self) -> Result<(Summary, LeftOut)> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let (mut summary, mut left_out) = (self.summary, LeftOut::default());
        if let Some(frames) = &self.frames {
            summary.add_end(frames.end());
        }
        let mut said = Vec::new();
        for mut shard in self.shards.into_iter().filter_map(|it| it.shard) {
            summary.connections += shard.dissector.open_connections() as u64;
            summary.crowded_out += shard.dissector.crowded_out();
            let mut recording = Recording::new(self.with_messages);
            shard.finish(&mut recording);
            left_out.add(shard.dissector.left_out());
            said.push(recording);
        }
        if let Some(tables) = self.tables {
            tell(&mut said, i64::MAX, tables);
        }
        Ok((summary, left_out))
    }
}
