//! What waits for the disk: a bounded queue between the threads that measure and the one that writes.

use crate::error::RecordError;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many bytes may wait for the disk. A sampler of twenty servers fills them in minutes, a capture
/// of a million packets a second in about three seconds.
pub(crate) const ROOM_BYTES: usize = 128 << 20;

/// What happens to rows for which there is no room, because the disk has stood still for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Their thread waits for the disk: what that does to the measurement shows elsewhere (the
    /// driver's lag, the packets that the kernel dropped).
    Wait,
    /// They are left out and counted ([`crate::Rows::lost`]): the thread never waits.
    Drop,
}

/// Something to write.
pub(crate) trait Job: Send {
    fn run(self: Box<Self>) -> Result<(), RecordError>;
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(usize, Box<dyn Job>)>,
    /// Those of the jobs, and of the one that is being written.
    bytes: usize,
    closed: bool,
    /// Nothing more is written; why is told once.
    broken: bool,
    failure: Option<RecordError>,
}

pub(crate) struct Queue {
    state: Mutex<State>,
    came: Condvar,
    went: Condvar,
    when_full: WhenFull,
    room_bytes: usize,
}

impl Queue {
    pub(crate) fn new(when_full: WhenFull, room_bytes: usize) -> Self {
        let (state, came, went) = Default::default();
        Self { state, came, went, when_full, room_bytes }
    }

    /// Queues a job that holds `bytes`. False if there was no room for it, or a job has failed.
    pub(crate) fn put(&self, bytes: usize, job: Box<dyn Job>) -> bool {
        let mut state = self.state();
        let has_room = |state: &State| state.bytes == 0 || state.bytes + bytes <= self.room_bytes;
        while !has_room(&state) && !state.broken {
            if self.when_full == WhenFull::Drop {
                return false;
            }
            state = self.went.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.broken {
            return false;
        }
        state.bytes += bytes;
        state.jobs.push_back((bytes, job));
        drop(state);
        self.came.notify_one();
        true
    }

    /// No job comes any more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.came.notify_one();
    }

    /// Does every job until the queue is closed and empty, or one fails.
    pub(crate) fn work(&self) {
        let _guard = FailOthers(self);
        while let Some((bytes, job)) = self.next() {
            if let Err(error) = job.run() {
                self.fail(error);
                return;
            }
            self.state().bytes -= bytes;
            self.went.notify_all();
        }
    }

    /// Nothing more is written, and nobody waits for it any longer.
    fn fail(&self, error: RecordError) {
        let mut state = self.state();
        (state.broken, state.failure) = (true, Some(error));
        state.jobs.clear();
        drop(state);
        self.went.notify_all();
    }

    /// Fails if a job did: for the first who asks, as it did.
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        let mut state = self.state();
        match state.broken {
            true => Err(state.failure.take().unwrap_or(RecordError::Closed)),
            false => Ok(()),
        }
    }

    fn next(&self) -> Option<(usize, Box<dyn Job>)> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Held for a few instructions only.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the queue fail when its thread panics: who waits for room would wait for ever.
struct FailOthers<'a>(&'a Queue);

impl Drop for FailOthers<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(RecordError::Panicked);
        }
    }
}
