//! Threads that work on one job together.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::scope;

/// Runs `work` on so many threads, told their number each; the calling thread is the first.
pub fn together(threads: usize, work: impl Fn(usize) + Sync) {
    let work = &work;
    scope(|team| {
        for number in 1..threads {
            team.spawn(move || work(number));
        }
        work(0);
    });
}

/// What thread `number` of `threads` has of `count` pieces: equal parts, as a compiler's static
/// schedule deals them out.
pub fn part(number: usize, threads: usize, count: usize) -> Range<usize> {
    number * count / threads..(number + 1) * count / threads
}

/// Splits a slice in the parts of `part`, each with the place of its first element.
pub fn parts<T>(mut all: &mut [T], threads: usize) -> Vec<(usize, &mut [T])> {
    let count = all.len();
    let mut found = Vec::with_capacity(threads);
    for number in 0..threads {
        let range = part(number, threads, count);
        let (own, rest) = all.split_at_mut(range.len());
        found.push((range.start, own));
        all = rest;
    }
    found
}

/// Runs `work` on each part of a slice, a thread for each; it is told the place of the first.
pub fn over_parts<T: Send>(all: &mut [T], threads: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let work = &work;
    scope(|team| {
        let mut parts = parts(all, threads).into_iter();
        let first = parts.next();
        for (from, own) in parts {
            team.spawn(move || work(from, own));
        }
        if let Some((from, own)) = first {
            work(from, own);
        }
    });
}

/// Locks what no thread that panicked has left behind: such a panic ends the program.
pub fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_equal_but_for_one_and_leave_nothing_out() {
        for (threads, count) in [(1, 7), (3, 7), (8, 3), (4, 0)] {
            let all: Vec<usize> =
                (0..threads).flat_map(|number| part(number, threads, count)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
            let sizes = (0..threads).map(|number| part(number, threads, count).len());
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        }
    }
}
