//! A checksum of values by their places: any part of it can be summed by any thread.

use crate::random::mix;

/// The part of one value, a number's bits, at its place.
pub fn of(place: usize, value: u64) -> u64 {
    mix(value ^ mix(place as u64))
}

/// That of all values in their order.
pub fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.enumerate().fold(0, |sum, (place, value)| sum.wrapping_add(of(place, value)))
}
