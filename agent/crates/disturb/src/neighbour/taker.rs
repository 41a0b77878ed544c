//! Takes memory in requests of one size, each page touched, and releases them at random: as the
//! micro-benchmark of J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud
//! Environments" (PhD thesis, Georgia Institute of Technology, 2016). It takes as much as fits beside the memory that cannot be reclaimed, so
//! that the file pages of the domain's other processes have no place to stay.

use super::{Job, Worked};
use crate::memory_group::{MemoryGroup, Room};
use crate::moment::sleep_until;
use crate::neighbour::pages::Pages;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use tierlab_record::clock::{realtime_ns, steady_ns};

/// How long the others may read back what they need, once too little of it is left.
const BREATH_NS: i64 = 1_000_000;

/// What may be on its way from the disk: a few requests of the usual read-ahead.
const ON_THE_WAY_BYTES: u64 = 4 << 20;

/// What to take, and where.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Taker {
    /// The memory control group's folder.
    pub group: PathBuf,
    /// At most so much at a time.
    pub take_bytes: u64,
    /// One request.
    pub request_bytes: usize,
    /// So much is left of the file pages that the others have mapped: with none at all nobody gets
    /// on any more, and the kernel begins to kill.
    pub left_bytes: u64,
}

/// The group's files are open, and addresses reserved.
struct Place {
    taker: Taker,
    group: MemoryGroup,
    pages: Pages,
    over: AtomicBool,
}

/// How many requests were made, and how many were held at a time.
type Taken = (u64, usize);

/// The thread that takes waits for the word: a new one might find no memory for itself.
pub struct Ready {
    place: Arc<Place>,
    word: SyncSender<()>,
    taking: Option<JoinHandle<Result<Taken>>>,
}

impl Taker {
    /// Opens the group's files.
    pub fn prepare(&self) -> Result<Ready> {
        let requests = (self.take_bytes as usize / self.request_bytes).max(1);
        let group = MemoryGroup::open(&self.group)?;
        group.room()?;
        let pages = Pages::reserve(requests * self.request_bytes)?;
        let over = AtomicBool::new(false);
        let place = Arc::new(Place { taker: self.clone(), group, pages, over });
        let (word, told) = sync_channel(1);
        let taking = thread::spawn({
            let place = place.clone();
            // Without a word there is nothing to take.
            move || if told.recv().is_ok() { place.take() } else { Ok((0, 0)) }
        });
        Ok(Ready { place, word, taking: Some(taking) })
    }
}

impl Job for Ready {
    /// The memory is given back by another thread than the one that takes it: that one may be deep
    /// in the kernel, looking for pages.
    fn work(&mut self, until_ns: i64, began: &mut dyn FnMut(i64)) -> Result<Worked> {
        began(realtime_ns());
        let place = &self.place;
        self.word.send(()).context("the taker is gone")?;
        sleep_until(until_ns);
        place.over.store(true, Ordering::Relaxed);
        place.pages.release(place.pages.whole());
        let ended_ns = realtime_ns();
        let taken = self.taking.take().map(JoinHandle::join);
        place.pages.release(place.pages.whole());
        let (requests, most) = taken.and_then(Result::ok).context("the taker panicked")??;
        let effect = [
            ("requests".to_owned(), requests.into()),
            ("most_bytes".to_owned(), (most * place.taker.request_bytes).into()),
        ];
        Ok(Worked { ended_ns, effect: Map::from_iter(effect) })
    }
}

impl Place {
    /// What is left: nothing, where there is not even enough to tell.
    fn room(&self) -> Result<Room> {
        match self.group.room() {
            Err(error) if is_out_of_memory(&error) => Ok(Room { free_bytes: 0, mapped_bytes: 0 }),
            room => room,
        }
    }

    /// Takes and releases until it is over.
    fn take(&self) -> Result<Taken> {
        let request = self.taker.request_bytes;
        let part = |place: usize| place * request..(place + 1) * request;
        let mut free: Vec<usize> = (0..self.pages.whole().len() / request).rev().collect();
        let mut held = Vec::with_capacity(free.len());
        let (mut requests, mut most) = (0, 0);
        let mut random = 0x9e37_79b9_7f4a_7c15;
        let wanted = self.taker.left_bytes + request as u64;
        while !self.over.load(Ordering::Relaxed) {
            let room = self.room()?;
            // What is not mapped may be on its way from the disk, and cannot be dropped then.
            let starved = room.mapped_bytes < self.taker.left_bytes
                && room.free_bytes < wanted + ON_THE_WAY_BYTES;
            let full = starved || free.is_empty() || room.free_bytes < wanted;
            if full && !held.is_empty() {
                let place: usize = held.swap_remove(next(&mut random) % held.len());
                self.pages.release(part(place));
                free.push(place);
            }
            if starved {
                sleep_until(steady_ns() + BREATH_NS);
                continue;
            }
            let Some(place) = free.pop() else { continue };
            self.pages.touch(part(place), || !self.over.load(Ordering::Relaxed));
            held.push(place);
            requests += 1;
            most = most.max(held.len());
        }
        Ok((requests, most))
    }
}

fn is_out_of_memory(error: &anyhow::Error) -> bool {
    let reason = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    reason.and_then(std::io::Error::raw_os_error) == Some(libc::ENOMEM)
}

/// Marsaglia's xorshift64 (2003).
fn next(random: &mut u64) -> usize {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random as usize
}
