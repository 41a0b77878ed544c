//! Each kernel, on any number of threads, comes to what its serial program comes to.

use kernels::kernel::KERNELS;

const THREADS: [usize; 5] = [1, 2, 3, 4, 8];

fn check(name: &str, sizes: &[usize]) {
    let kernel = KERNELS.iter().find(|kernel| kernel.name == name).expect("it is in the table");
    for (size, seed) in sizes.iter().zip(1..) {
        let expected = (kernel.serial)(*size, seed).checksum;
        for threads in THREADS {
            let found = (kernel.parallel)(*size, seed, threads).checksum;
            assert_eq!(found, expected, "{name}: size {size}, {threads} threads");
        }
        let another = (kernel.serial)(*size, seed + 100).checksum;
        assert_ne!(another, expected, "{name}: the seed is not seen in size {size}");
    }
}

#[test]
fn pipeline() {
    check("pipeline", &[1, 5_000, 300_000, 1_000_000]);
}

#[test]
fn data_parallel() {
    check("data-parallel", &[1, 7, 20_000]);
}

#[test]
fn barriers() {
    check("barriers", &[1, 5, 6, 120]);
}

#[test]
fn many_locks() {
    check("many-locks", &[1, 40, 5_000]);
}

#[test]
fn memory_streams() {
    check("memory-streams", &[1, 5, 100_000]);
}

#[test]
fn every_size_is_seen() {
    for kernel in &KERNELS {
        let found = [50, 51].map(|size| (kernel.serial)(size, 1).checksum);
        assert_ne!(found[0], found[1], "{}", kernel.name);
    }
}
