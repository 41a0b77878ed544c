//! What every kernel has, and the table of them.

use crate::kernels::barriers::Barriers;
use crate::kernels::data_parallel::DataParallel;
use crate::kernels::many_locks::ManyLocks;
use crate::kernels::memory_streams::MemoryStreams;
use crate::kernels::pipeline::Pipeline;
use std::time::{Duration, Instant};

/// A program for one job, twice: for one thread with nothing to share, and for several.
pub trait Kernel {
    /// Its name in a request.
    const NAME: &'static str;
    /// What its size counts.
    const UNIT: &'static str;
    /// The size unless a request says another: some ten milliseconds of one core.
    const USUAL_SIZE: usize;
    /// The largest: some gigabytes, or minutes.
    const MOST_SIZE: usize;
    /// What it works on.
    type Input;

    /// Makes that, the same for the same seed. `size` is 1 to `MOST_SIZE`.
    fn input(size: usize, seed: u64) -> Self::Input;

    /// The checksum of the result, by one thread.
    fn serial(input: Self::Input) -> u64;

    /// The same by so many threads, at least one.
    fn parallel(input: Self::Input, threads: usize) -> u64;
}

/// What a job came to.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Of the result.
    pub checksum: u64,
    /// Making the input, which one thread does.
    pub input: Duration,
    /// The program itself.
    pub run: Duration,
}

/// A kernel as the table has it.
pub struct Entry {
    /// [`Kernel::NAME`].
    pub name: &'static str,
    /// [`Kernel::UNIT`].
    pub unit: &'static str,
    /// [`Kernel::USUAL_SIZE`].
    pub usual_size: usize,
    /// [`Kernel::MOST_SIZE`].
    pub most_size: usize,
    /// Runs it for a size and a seed, serially.
    pub serial: fn(usize, u64) -> Outcome,
    /// Runs it for a size and a seed on so many threads.
    pub parallel: fn(usize, u64, usize) -> Outcome,
}

/// All of them.
pub const KERNELS: [Entry; 5] = [
    entry::<Pipeline>(),
    entry::<DataParallel>(),
    entry::<Barriers>(),
    entry::<ManyLocks>(),
    entry::<MemoryStreams>(),
];

const fn entry<K: Kernel>() -> Entry {
    Entry {
        name: K::NAME,
        unit: K::UNIT,
        usual_size: K::USUAL_SIZE,
        most_size: K::MOST_SIZE,
        serial: |size, seed| timed::<K>(size, seed, K::serial),
        parallel: |size, seed, threads| timed::<K>(size, seed, |input| K::parallel(input, threads)),
    }
}

fn timed<K: Kernel>(size: usize, seed: u64, run: impl FnOnce(K::Input) -> u64) -> Outcome {
    let began = Instant::now();
    let input = K::input(size, seed);
    let made = Instant::now();
    let checksum = run(input);
    Outcome { checksum, input: made - began, run: made.elapsed() }
}
