//! Numbers by their place: whoever needs the n-th computes it, in any order and on any thread.
//!
//! Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (2014);
//! SplitMix64, whose state is a counter.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of a number over all of its bits.
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The number of a stream at a place.
pub fn at(seed: u64, place: u64) -> u64 {
    mix(mix(seed).wrapping_add(place.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// The same as a share, 0 to below 1.
pub fn share(seed: u64, place: u64) -> f64 {
    (at(seed, place) >> 11) as f64 / (1u64 << 53) as f64
}

/// The same as a whole number below `below`, which is not 0.
pub fn below(seed: u64, place: u64, below: u64) -> u64 {
    ((u128::from(at(seed, place)) * u128::from(below)) >> 64) as u64
}
