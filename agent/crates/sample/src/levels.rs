//! Levels of the machine's memory: `/proc/meminfo` in full, once a second, and in between what
//! `/proc/vmstat`, which is read at every tick for its counts, says that they have changed by.
//!
//! meminfo is a fifth of what the memory table costs, and makes its levels of the very counts that
//! vmstat shows in pages. So the two differ by what vmstat does not have: buffers, of which a change
//! is seen in `cached` until the next second, and, in `MemAvailable`, that of caches below twice the
//! zones' low watermarks only a half counts (si_mem_available() of the kernel's mm/show_mem.c).
//! Where there is swap, whose use vmstat does not show, meminfo is read at every tick.

use crate::kernel_file::KernelFile;
use crate::keyed::Keyed;
use tierlab_record::clock::Moment;

/// Keys of meminfo, in KiB.
pub const LEVELS: [&str; 9] = [
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Cached",
    "AnonPages",
    "Dirty",
    "Writeback",
    "SwapTotal",
    "SwapFree",
];
const SWAP_TOTAL: usize = 7;

/// Keys of vmstat, in pages.
pub const PAGES: [&str; 9] = [
    "nr_free_pages",
    "nr_inactive_file",
    "nr_active_file",
    "nr_slab_reclaimable",
    "nr_kernel_misc_reclaimable",
    "nr_anon_pages",
    "nr_file_pages",
    "nr_dirty",
    "nr_writeback",
];
/// By level: the places in `PAGES` of what it is made of.
const PARTS: [&[usize]; 9] = [&[], &[0], &[0, 1, 2, 3, 4], &[6], &[5], &[7], &[8], &[], &[]];

const FULL_NS: i64 = 1_000_000_000;

type Values = [Option<u64>; 9];

/// meminfo, and how it was when it was last read.
pub struct Levels {
    meminfo: KernelFile,
    keyed: Keyed<9>,
    kib_per_page: i64,
    full: Option<Full>,
}

struct Full {
    due_ns: i64,
    levels: Values,
    pages: Values,
}

impl Levels {
    /// Of this file; pages have `page_size` bytes.
    pub fn new(meminfo: KernelFile, page_size: i64) -> Self {
        Self { meminfo, keyed: Keyed::new(LEVELS), kib_per_page: page_size / 1024, full: None }
    }

    /// The levels now, in KiB, of which vmstat shows these `pages`.
    pub fn read(&mut self, now: Moment, pages: &Values) -> Values {
        if let Some(full) = &self.full
            && now.monotonic_ns < full.due_ns
            && pages.iter().all(Option::is_some)
        {
            return full.moved(pages, self.kib_per_page);
        }
        let levels = self.meminfo.read().map_or([None; 9], |text| self.keyed.read(text));
        let followed = levels[SWAP_TOTAL] == Some(0) && pages.iter().all(Option::is_some);
        let due_ns = now.monotonic_ns + FULL_NS;
        self.full = followed.then_some(Full { due_ns, levels, pages: *pages });
        levels
    }

    /// The levels that meminfo does not have, by their places in `LEVELS`.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        self.keyed.missing()
    }
}

impl Full {
    fn moved(&self, pages: &Values, kib_per_page: i64) -> Values {
        let mut levels = self.levels;
        for (level, parts) in levels.iter_mut().zip(PARTS) {
            let grown = |at: usize| Some(pages[at]? as i64 - self.pages[at]? as i64);
            let by: Option<i64> = parts.iter().map(|at| grown(*at)).sum();
            *level = level.zip(by).map(|(kib, by)| kib.saturating_add_signed(by * kib_per_page));
        }
        levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn at(ms: i64) -> Moment {
        Moment { t_ns: 0, monotonic_ns: ms * 1_000_000 }
    }

    fn meminfo(folder: &Path, free: u64, cached: u64, swap: u64) -> KernelFile {
        let path = folder.join("meminfo");
        let text = format!("MemTotal: 900 kB\nMemFree: {free} kB\nMemAvailable: 500 kB\n");
        let text = text + &format!("Cached: {cached} kB\nSwapTotal: {swap} kB\n");
        std::fs::write(&path, text).unwrap();
        KernelFile::open(&path).unwrap()
    }

    #[test]
    fn between_seconds_levels_move_with_their_pages() {
        let folder = tempfile::tempdir().unwrap();
        let mut levels = Levels::new(meminfo(folder.path(), 400, 80, 0), 4096);
        let mut pages = [Some(10); 9];
        assert_eq!(levels.read(at(0), &pages)[..4], [900, 400, 500, 80].map(Some));
        meminfo(folder.path(), 1, 1, 0);
        // A page of free memory became one of an active file; one of an inactive file is gone.
        (pages[0], pages[2], pages[1], pages[6]) = (Some(9), Some(11), Some(9), Some(10));
        assert_eq!(levels.read(at(50), &pages)[..4], [900, 396, 496, 80].map(Some));
        pages[4] = None;
        assert_eq!(levels.read(at(100), &pages)[1], Some(1), "vmstat does not say everything");
        pages[4] = Some(10);
        assert_eq!(levels.read(at(150), &pages)[3], Some(1));
        meminfo(folder.path(), 2, 2, 0);
        assert_eq!(levels.read(at(1149), &pages)[1], Some(1));
        assert_eq!(levels.read(at(1150), &pages)[1], Some(2), "a second later");
    }

    #[test]
    fn where_there_is_swap_meminfo_is_read_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut levels = Levels::new(meminfo(folder.path(), 400, 80, 7), 4096);
        for free in [400, 300] {
            meminfo(folder.path(), free, 80, 7);
            assert_eq!(levels.read(at(0), &[Some(10); 9])[1], Some(free));
        }
    }

    /// The kernel's two files agree: what is followed here is what meminfo says a moment later. On a
    /// machine with swap the first reading is told that there is none.
    #[test]
    fn followed_levels_are_those_of_this_machine() {
        const MIB: usize = 1 << 20;
        let page = crate::machine::page_size();
        let mut vmstat = KernelFile::open(Path::new("/proc/vmstat")).unwrap();
        let mut keyed = Keyed::new(PAGES);
        let mut pages = || keyed.read(vmstat.read_records().unwrap());
        let real = Path::new("/proc/meminfo");
        let copy = tempfile::NamedTempFile::new().unwrap();
        let swapless = |line: &str| !line.starts_with("SwapTotal:");
        let text = std::fs::read_to_string(real).unwrap();
        let kept: Vec<&str> = text.lines().filter(|line| swapless(line)).collect();
        std::fs::write(copy.path(), kept.join("\n") + "\nSwapTotal: 0 kB\n").unwrap();
        let mut levels = Levels::new(KernelFile::open(copy.path()).unwrap(), page);
        let first = levels.read(at(0), &pages());
        std::fs::write(copy.path(), "").unwrap();
        let mut taken = vec![0u8; 256 * MIB];
        taken.iter_mut().step_by(1024).for_each(|byte| *byte = 1);
        let followed = levels.read(at(1), &pages());
        let meminfo = KernelFile::open(real).unwrap();
        let read = Levels::new(meminfo, page).read(at(1), &[None; 9]);
        for (level, name) in LEVELS.iter().enumerate().take(SWAP_TOTAL) {
            let (followed, read) = (followed[level].unwrap(), read[level].unwrap());
            // The machine's other work takes and gives memory between the two readings.
            assert!(followed.abs_diff(read) < 64 * 1024, "{name}: {followed} {read} KiB");
        }
        let taken = std::hint::black_box(taken).len() / MIB;
        let anonymous = followed[4].unwrap() as i64 - first[4].unwrap() as i64;
        assert!(anonymous > taken as i64 * 1024 / 2, "{anonymous} KiB are more");
    }
}
