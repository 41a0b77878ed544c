//! Who dissects a share of a capture file's flows.

use crate::chunk::{Chunk, Placed};
use crate::recording::Recording;
use tierlab_dissect::Dissector;

/// A part of a file, and the number of its first frame in the file.
pub(crate) struct Part {
    pub chunk: Chunk,
    pub first: u64,
}

/// Dissects a share of the flows.
pub(crate) struct Shard {
    pub number: usize,
    pub dissector: Dissector,
}

impl Shard {
    /// Dissects its frames of a part.
    pub(crate) fn dissect(&mut self, part: &Part, recording: &mut Recording) {
        for Placed { number, at_ns, frame } in part.chunk.frames(self.number) {
            let number = (part.first + u64::from(number)) as i64;
            recording.frame = number;
            self.dissector.number_next(number);
            self.dissector.frame_at(at_ns, frame, recording);
        }
    }

    /// The capture is over.
    pub(crate) fn finish(&mut self, recording: &mut Recording) {
        recording.frame = i64::MAX - 1;
        self.dissector.finish(recording);
    }
}
