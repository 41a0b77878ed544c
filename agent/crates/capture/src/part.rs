//! A part of a capture file, its frames shared out by flow, and who dissects a share.

use crate::pcap::{Chunk, Frames};
use crate::recording::Recording;
use anyhow::Result;
use tierlab_dissect::{Dissector, flow_hash};

/// A part of a file, and which shard takes which of its frames.
#[derive(Default)]
pub(crate) struct Part {
    pub chunk: Chunk,
    /// The number of its first frame in the file.
    first: i64,
    /// Each shard's frames, by their place in the chunk.
    shares: Vec<Vec<u32>>,
}

impl Part {
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

/// Dissects a share of the flows.
pub(crate) struct Shard {
    pub number: usize,
    pub dissector: Dissector,
}

impl Shard {
    /// Dissects its frames of a part.
    pub(crate) fn dissect(&mut self, part: &Part, recording: &mut Recording) {
        for &place in &part.shares[self.number] {
            let number = part.first + i64::from(place);
            let (at_ns, link, bytes) = part.chunk.frame(place as usize);
            recording.frame = number;
            self.dissector.number_next(number);
            self.dissector.frame_at(at_ns, link, bytes, recording);
        }
    }

    /// The capture is over.
    pub(crate) fn finish(&mut self, recording: &mut Recording) {
        recording.frame = i64::MAX - 1;
        self.dissector.finish(recording);
    }
}
