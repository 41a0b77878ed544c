//! Memory streams: arrays larger than the caches are read and written from end to end, and one is
//! read at random. In the role of STREAM, and of PARSEC's canneal for the last.
//!
//! Source: J. McCalpin, "Memory bandwidth and machine balance in current high performance computers"
//! (1995), whose four loops these are.

use crate::checksum;
use crate::kernel::Kernel;
use crate::random::{below, share};
use crate::team::over_parts;

const PASSES: usize = 3;
const SCALAR: f64 = 3.0;

/// Copies, scales, adds and gathers.
pub struct MemoryStreams;

/// Three arrays, and where the last loop reads.
pub struct Arrays {
    seed: u64,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Kernel for MemoryStreams {
    const NAME: &'static str = "memory-streams";
    const UNIT: &'static str = "elements an array";
    const USUAL_SIZE: usize = 1_000_000;
    const MOST_SIZE: usize = 100_000_000;
    type Input = Arrays;

    fn input(size: usize, seed: u64) -> Self::Input {
        let a = (0..size).map(|place| share(seed, place as u64)).collect();
        Arrays { seed, a, b: vec![0.0; size], c: vec![0.0; size] }
    }

    fn serial(Arrays { seed, mut a, mut b, mut c }: Self::Input) -> u64 {
        let size = a.len();
        for _ in 0..PASSES {
            c.copy_from_slice(&a);
            for at in 0..size {
                b[at] = SCALAR * c[at];
            }
            for at in 0..size {
                c[at] = a[at] + b[at];
            }
            for at in 0..size {
                a[at] = b[at] + SCALAR * c[at];
            }
            for at in 0..size {
                b[at] = a[gathered(seed, at, size)];
            }
        }
        checksum::sum(a.into_iter().chain(b).map(f64::to_bits))
    }

    fn parallel(Arrays { seed, mut a, mut b, mut c }: Self::Input, threads: usize) -> u64 {
        let size = a.len();
        for _ in 0..PASSES {
            over_parts(&mut c, threads, |from, own| {
                own.copy_from_slice(&a[from..from + own.len()]);
            });
            over_parts(&mut b, threads, |from, own| {
                own.iter_mut().zip(&c[from..]).for_each(|(b, c)| *b = SCALAR * c);
            });
            over_parts(&mut c, threads, |from, own| {
                let sources = a[from..].iter().zip(&b[from..]);
                own.iter_mut().zip(sources).for_each(|(c, (a, b))| *c = a + b);
            });
            over_parts(&mut a, threads, |from, own| {
                let sources = b[from..].iter().zip(&c[from..]);
                own.iter_mut().zip(sources).for_each(|(a, (b, c))| *a = b + SCALAR * c);
            });
            over_parts(&mut b, threads, |from, own| {
                let mine = own.iter_mut().enumerate();
                mine.for_each(|(at, b)| *b = a[gathered(seed, from + at, size)]);
            });
        }
        checksum::sum(a.into_iter().chain(b).map(f64::to_bits))
    }
}

/// The place that is read at random for a place.
fn gathered(seed: u64, place: usize, size: usize) -> usize {
    below(!seed, place as u64, size as u64) as usize
}
