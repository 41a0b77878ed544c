//! How much faster the kernels are with more threads, beside the serial program.

use crate::kernel::KERNELS;
use std::time::Duration;

const SEED: u64 = 1;
/// The best of so many counts: what else a machine does only adds to it.
const RUNS: usize = 5;

/// Prints a line a kernel: the serial time at `scale` times the usual size, and for each number of
/// threads how many times faster the run was.
pub fn print(threads: &[usize], scale: f64) {
    print!("{:16}{:>12}{:>12}", "kernel", "size", "serial");
    threads.iter().for_each(|count| print!("{:>8}", format!("x{count}")));
    println!();
    for kernel in &KERNELS {
        let size = ((kernel.usual_size as f64 * scale) as usize).clamp(1, kernel.most_size);
        let best = |run: &dyn Fn() -> Duration| (0..RUNS).map(|_| run()).min().unwrap_or_default();
        let serial = best(&|| (kernel.serial)(size, SEED).run);
        print!("{:16}{size:>12}{:>9.1} ms", kernel.name, serial.as_secs_f64() * 1e3);
        for count in threads {
            let parallel = best(&|| (kernel.parallel)(size, SEED, *count).run);
            print!("{:>8.2}", serial.as_secs_f64() / parallel.as_secs_f64().max(1e-9));
        }
        println!();
    }
}
