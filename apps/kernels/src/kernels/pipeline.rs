//! Pipeline: a stream is cut into chunks, and what came before is not compressed again; stages hand
//! the chunks on. In the role of PARSEC's dedup and ferret.
//!
//! ```text
//! cut (1 thread) -> fingerprint (n) -> deduplicate (1, in order) -> compress (n) -> write (1, in order)
//! ```
//!
//! Source: chunks by a rolling hash as in W. Xia et al., "FastCDC" (2016); C. Bienia et al., "The
//! PARSEC benchmark suite" (2008) for the stages.

mod chunk;
mod ordered;

use crate::kernel::Kernel;
use crate::random::{below, mix};
use crate::team::lock;
use chunk::{Cutter, Fingerprint, fingerprint};
use ordered::Ordered;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::scope;

/// Chunks that may wait between two stages.
const WAITING: usize = 64;
/// What the stream is made of; three in ten are a repetition of an earlier one.
const BLOCK: usize = 8 << 10;
const REPEATED_OF_TEN: u64 = 3;
const COMPRESSION: u8 = 1;

/// Deduplicates and compresses.
pub struct Pipeline;

impl Kernel for Pipeline {
    const NAME: &'static str = "pipeline";
    const UNIT: &'static str = "bytes";
    const USUAL_SIZE: usize = 2_000_000;
    const MOST_SIZE: usize = 1_000_000_000;
    type Input = Vec<u8>;

    fn input(size: usize, seed: u64) -> Self::Input {
        let mut stream = Vec::with_capacity(size);
        for number in 0..size.div_ceil(BLOCK) as u64 {
            let drawn = below(seed, 2 * number, 10);
            let origin = below(seed, 2 * number + 1, number.max(1));
            let block = if drawn < REPEATED_OF_TEN { origin } else { number };
            stream.extend(letters(mix(seed ^ mix(block))).take(BLOCK.min(size - stream.len())));
        }
        stream
    }

    fn serial(stream: Self::Input) -> u64 {
        let (mut seen, mut written) = (HashSet::new(), Written::default());
        for range in Cutter::new(&stream) {
            let name = fingerprint(&stream[range.clone()]);
            let new = seen.insert(name);
            written.add(name, new.then(|| compressed(&stream[range])));
        }
        written.sum
    }

    fn parallel(stream: Self::Input, threads: usize) -> u64 {
        let stream = &stream[..];
        let (cut, to_name) = stage::<Range<usize>>();
        let (named, to_compare) = stage::<(Range<usize>, Fingerprint)>();
        let (compared, to_compress) = stage::<(Range<usize>, Fingerprint, bool)>();
        let (done, to_write) = stage::<(Fingerprint, Option<Vec<u8>>)>();
        let (to_name, to_compress) = (&Mutex::new(to_name), &Mutex::new(to_compress));
        scope(|team| {
            team.spawn(move || {
                for (number, range) in Cutter::new(stream).enumerate() {
                    hand_on(&cut, number, range);
                }
            });
            for _ in 0..threads {
                let (named, done) = (named.clone(), done.clone());
                team.spawn(move || {
                    while let Some((number, range)) = next(to_name) {
                        let name = fingerprint(&stream[range.clone()]);
                        hand_on(&named, number, (range, name));
                    }
                });
                team.spawn(move || {
                    while let Some((number, (range, name, new))) = next(to_compress) {
                        let bytes = new.then(|| compressed(&stream[range]));
                        hand_on(&done, number, (name, bytes));
                    }
                });
            }
            drop((named, done));
            team.spawn(move || {
                let mut seen = HashSet::new();
                for (number, (range, name)) in Ordered::new(to_compare) {
                    hand_on(&compared, number, (range, name, seen.insert(name)));
                }
            });
            let mut written = Written::default();
            for (_, (name, bytes)) in Ordered::new(to_write) {
                written.add(name, bytes);
            }
            written.sum
        })
    }
}

/// A thing with its place in the stream.
type Numbered<T> = (usize, T);

fn stage<T>() -> (SyncSender<Numbered<T>>, Receiver<Numbered<T>>) {
    sync_channel(WAITING)
}

/// Waits where the next stage is behind. It is gone only if it has panicked, which ends the program.
fn hand_on<T>(to: &SyncSender<Numbered<T>>, number: usize, what: T) {
    let _ = to.send((number, what));
}

/// What comes next to a stage of several threads; None at the end.
fn next<T>(from: &Mutex<Receiver<Numbered<T>>>) -> Option<Numbered<T>> {
    lock(from).recv().ok()
}

fn compressed(chunk: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec(chunk, COMPRESSION)
}

/// Letters without end, some more often than others.
fn letters(seed: u64) -> impl Iterator<Item = u8> {
    let words = (0..).map(move |number: u64| mix(seed.wrapping_add(number)));
    words.flat_map(u64::to_le_bytes).map(|byte| b'a' + (byte & 15).min(byte >> 4))
}

/// What is written: the checksum of names and new chunks, in their order.
#[derive(Default)]
struct Written {
    sum: u64,
}

impl Written {
    fn add(&mut self, name: Fingerprint, bytes: Option<Vec<u8>>) {
        let content = bytes.map_or(0, |bytes| {
            let (words, rest) = bytes.as_chunks::<8>();
            let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
            words.iter().fold(mix(rest), |sum, word| mix(sum ^ u64::from_le_bytes(*word)))
        });
        self.sum = mix(self.sum ^ mix(name as u64) ^ mix((name >> 64) as u64) ^ content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_is_found_and_the_rest_compressed() {
        let stream = Pipeline::input(1_000_000, 3);
        let (mut seen, mut new, mut left) = (HashSet::new(), 0, 0);
        for range in Cutter::new(&stream) {
            let chunk = &stream[range];
            if seen.insert(fingerprint(chunk)) {
                let bytes = compressed(chunk);
                assert_eq!(miniz_oxide::inflate::decompress_to_vec(&bytes).unwrap(), chunk);
                (new, left) = (new + chunk.len(), left + bytes.len());
            }
        }
        // Chunks at a block's borders are new wherever the block repeats.
        assert!((650_000..950_000).contains(&new), "{new}");
        assert!(left * 10 < new * 8, "{left} of {new}");
    }
}
