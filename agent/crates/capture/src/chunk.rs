//! A part of a capture file, its frames shared out by flow.

use tierlab_dissect::{CapturedFrame, LinkType, flow_hash};

/// A part of a file, and where in it the frames lie.
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub places: Places,
}

/// Where frames lie: each share's in their order.
pub(crate) struct Places {
    shares: Vec<Vec<Place>>,
    count: u32,
    bytes: u64,
}

struct Place {
    at_ns: i64,
    from: u32,
    length: u32,
    wire_length: u32,
    number: u32,
    link: LinkType,
}

/// A frame of the chunk.
pub(crate) struct Placed<'a> {
    /// Its number in the chunk, from 0.
    pub number: u32,
    pub at_ns: i64,
    pub frame: CapturedFrame<'a>,
}

impl Chunk {
    /// Nothing yet, of a file whose frames have so many shares.
    pub(crate) fn new(shares: usize) -> Self {
        let shares = (0..shares.max(1)).map(|_| Vec::new()).collect();
        Self { bytes: Vec::new(), places: Places { shares, count: 0, bytes: 0 } }
    }

    /// A share's frames in their order.
    pub(crate) fn frames(&self, share: usize) -> impl Iterator<Item = Placed<'_>> {
        self.places.shares[share].iter().map(|it| {
            let bytes = &self.bytes[it.from as usize..][..it.length as usize];
            let wire_length = it.wire_length as usize;
            let frame = CapturedFrame { link: it.link, wire_length, bytes };
            Placed { number: it.number, at_ns: it.at_ns, frame }
        })
    }

    /// How many frames all shares have.
    pub(crate) fn frame_count(&self) -> u64 {
        self.places.count.into()
    }

    /// How many bytes these have.
    pub(crate) fn frame_bytes(&self) -> u64 {
        self.places.bytes
    }
}

impl Places {
    pub(crate) fn clear(&mut self) {
        self.shares.iter_mut().for_each(Vec::clear);
        (self.count, self.bytes) = (0, 0);
    }

    /// Adds the next frame; its bytes begin at `from` in the chunk.
    pub(crate) fn add(&mut self, at_ns: i64, from: usize, frame: CapturedFrame<'_>) {
        let CapturedFrame { link, wire_length, bytes } = frame;
        let share = match self.shares.len() {
            1 => 0,
            // The hash's upper bits, as a part of all shares (Lemire, 2019).
            shares => ((u128::from(flow_hash(link, bytes)) * shares as u128) >> 64) as usize,
        };
        let (from, length, number) = (from as u32, bytes.len() as u32, self.count);
        let wire_length = wire_length as u32;
        self.shares[share].push(Place { at_ns, from, length, wire_length, number, link });
        self.count += 1;
        self.bytes += u64::from(length);
    }
}
