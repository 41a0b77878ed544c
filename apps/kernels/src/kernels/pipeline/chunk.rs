//! Cutting a stream where its content says so, and naming the pieces.

use crate::random::{at, mix};
use std::ops::Range;

/// A chunk ends where so many bits of the rolling hash are zero: after 4 KiB on the average.
const MASK: u64 = (1 << 12) - 1;
const LEAST: usize = 1 << 10;
const MOST: usize = 16 << 10;

/// Numbers for the bytes, by which the hash rolls: a byte is out of it after 64 others.
const GEAR: u64 = 0x7469_6572_6c61_6230;

/// The name of a chunk: equal chunks have equal ones, and others, in practice, others.
pub type Fingerprint = u128;

/// The chunks of a stream, in order.
pub struct Cutter<'a> {
    stream: &'a [u8],
    from: usize,
    gear: [u64; 256],
}

impl<'a> Cutter<'a> {
    /// Those of this stream.
    pub fn new(stream: &'a [u8]) -> Self {
        Self { stream, from: 0, gear: std::array::from_fn(|byte| at(GEAR, byte as u64)) }
    }
}

impl Iterator for Cutter<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.stream[self.from..];
        if rest.is_empty() {
            return None;
        }
        let mut hash = 0u64;
        let ends = |byte: &u8| {
            hash = (hash << 1).wrapping_add(self.gear[usize::from(*byte)]);
            // The upper bits have seen most bytes.
            (hash >> 32) & MASK == 0
        };
        let searched = &rest[LEAST.min(rest.len())..MOST.min(rest.len())];
        let length =
            searched.iter().position(ends).map_or(MOST.min(rest.len()), |at| LEAST + at + 1);
        let chunk = self.from..self.from + length;
        self.from = chunk.end;
        Some(chunk)
    }
}

/// Two sums of its words, mixed after each; no defence against who makes chunks collide.
pub fn fingerprint(chunk: &[u8]) -> Fingerprint {
    let (words, rest) = chunk.as_chunks::<8>();
    let rest = rest.iter().fold(1, |word, byte| word << 8 | u64::from(*byte));
    let (mut one, mut other) = (chunk.len() as u64, rest);
    for word in words.iter().map(|word| u64::from_le_bytes(*word)) {
        one = mix(one ^ word);
        other = mix(other.wrapping_add(word)).rotate_left(29);
    }
    u128::from(mix(one ^ rest)) << 64 | u128::from(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(seed: u64, bytes: usize) -> Vec<u8> {
        (0..bytes as u64).map(|place| at(seed, place) as u8).collect()
    }

    #[test]
    fn chunks_make_up_the_stream_within_their_bounds() {
        for bytes in [0, 1, LEAST, 100_000] {
            let stream = stream(1, bytes);
            let chunks: Vec<Range<usize>> = Cutter::new(&stream).collect();
            let mut end = 0;
            for chunk in &chunks {
                assert_eq!(chunk.start, end);
                end = chunk.end;
                assert!(chunk.len() <= MOST);
                assert!(chunk.len() >= LEAST || end == bytes);
            }
            assert_eq!(end, bytes);
        }
    }

    #[test]
    fn a_stream_that_is_shifted_is_cut_at_the_same_contents() {
        let stream = stream(2, 400_000);
        let names = |from: usize| {
            let stream = &stream[from..];
            Cutter::new(stream).map(|it| fingerprint(&stream[it])).collect::<Vec<_>>()
        };
        let (all, shifted) = (names(0), names(777));
        let found = shifted.iter().filter(|name| all.contains(name)).count();
        assert!(found * 10 > shifted.len() * 9, "{found} of {}", shifted.len());
    }
}
