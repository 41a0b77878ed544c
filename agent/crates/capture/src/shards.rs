//! Frames shared out by flow among several dissectors, which work side by side.

use crate::memory::MOST_DISSECTORS;
use crate::pcap::{Chunk, Frames};
use crate::recording::{Recording, tell};
use crate::tables::Tables;
use anyhow::Result;
use rayon::prelude::*;
use tierlab_dissect::{Dissector, flow_hash};

/// So many shards has each thread: flows are not alike, and a thread that is done with one takes
/// another.
const SHARDS_PER_THREAD: usize = 4;

/// A part of a file, and which shard takes which of its frames.
#[derive(Default)]
pub(crate) struct Sharing {
    pub chunk: Chunk,
    /// The number of its first frame in the file.
    first: i64,
    /// Each shard's frames, by their place in the chunk.
    shares: Vec<Vec<u32>>,
}

impl Sharing {
    /// Replaces what is here by the file's next part. False at its end.
    pub(crate) fn read(&mut self, frames: &mut Frames, shards: usize, first: u64) -> Result<bool> {
        self.first = first as i64;
        self.shares.resize_with(shards, Vec::new);
        self.shares.iter_mut().for_each(Vec::clear);
        let goes_on = frames.next(&mut self.chunk)?;
        for (place, (_, link, bytes)) in self.chunk.frames().enumerate() {
            // The hash's upper bits, as a share of all shards (Lemire, 2019).
            let shard = (u128::from(flow_hash(link, bytes)) * shards as u128) >> 64;
            self.shares[shard as usize].push(place as u32);
        }
        Ok(goes_on)
    }
}

/// Dissectors, each with a part of the flows.
pub(crate) struct Shards {
    shards: Vec<Shard>,
    /// What they said of the frames before.
    said: Vec<Recording>,
}

struct Shard {
    dissector: Dissector,
    saying: Recording,
}

impl Shards {
    /// As many as so many threads need. `dissector` makes one of so many.
    pub(crate) fn new(threads: usize, dissector: impl Fn(usize) -> Dissector) -> Self {
        let count = threads.saturating_mul(SHARDS_PER_THREAD).min(MOST_DISSECTORS);
        let shard = || Shard { dissector: dissector(count), saying: Recording::default() };
        let shards = (0..count).map(|_| shard()).collect();
        Self { shards, said: (0..count).map(|_| Recording::default()).collect() }
    }

    pub(crate) fn count(&self) -> usize {
        self.shards.len()
    }

    /// Dissects these frames, and meanwhile tells what was said of those before.
    pub(crate) fn dissect(&mut self, sharing: &Sharing, tables: &mut Tables) {
        let Self { shards, said } = self;
        rayon::join(
            || tell(said, i64::MAX, tables),
            || {
                let shares = sharing.shares.par_iter();
                shards
                    .par_iter_mut()
                    .zip(shares)
                    .for_each(|(it, share)| it.dissect(sharing, share));
            },
        );
        self.turn();
    }

    /// The capture is over. Returns how many connections were open, and how many were forgotten
    /// because memory was needed for others.
    pub(crate) fn finish(mut self, tables: &mut Tables) -> (u64, u64) {
        tell(&mut self.said, i64::MAX, tables);
        let dissectors = self.shards.iter().map(|shard| &shard.dissector);
        let (open, crowded_out) = dissectors.fold((0, 0), |(open, crowded_out), it| {
            (open + it.open_connections() as u64, crowded_out + it.crowded_out())
        });
        self.shards.par_iter_mut().for_each(|it| {
            it.saying.frame = i64::MAX - 1;
            it.dissector.finish(&mut it.saying);
        });
        self.turn();
        tell(&mut self.said, i64::MAX, tables);
        (open, crowded_out)
    }

    /// What is being said becomes what was said.
    fn turn(&mut self) {
        for (shard, said) in self.shards.iter_mut().zip(&mut self.said) {
            said.clear();
            std::mem::swap(&mut shard.saying, said);
        }
    }
}

impl Shard {
    fn dissect(&mut self, sharing: &Sharing, share: &[u32]) {
        let Self { dissector, saying } = self;
        for &place in share {
            let number = sharing.first + i64::from(place);
            let (at_ns, link, bytes) = sharing.chunk.frame(place as usize);
            saying.frame = number;
            dissector.number_next(number);
            dissector.frame_at(at_ns, link, bytes, saying);
        }
    }
}
