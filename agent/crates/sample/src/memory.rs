//! Table `memory`: the machine's memory from `/proc/meminfo` (`levels`) and `/proc/vmstat` (faults
//! and paging). See proc(5). `minor_faults` is all faults less the major ones.

use crate::counter::grown;
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::keyed::Keyed;
use crate::levels::{LEVELS, Levels, PAGES};
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::tally::Tally;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Memory, MemoryRow};

const COUNTS: [&str; 9] = [
    "pgfault",
    "pgmajfault",
    "pgpgin",
    "pgpgout",
    "pswpin",
    "pswpout",
    "workingset_refault_anon",
    "workingset_refault_file",
    // Both together, before Linux 5.9.
    "workingset_refault",
];

type Values = [Option<u64>; 9];

/// Samples the machine's memory.
pub struct MemorySampler {
    levels: Levels,
    vmstat: Option<KernelFile>,
    /// `COUNTS`, then `PAGES`.
    keyed: Keyed<18>,
    before: Option<(Moment, Values)>,
    page_size: i64,
    faults: Tally,
}

impl MemorySampler {
    /// Opens the files; without `vmstat` the columns of faults and paging stay null. `faults` is told
    /// of the major ones and of refaults.
    pub fn open(roots: &Roots, faults: &Tally) -> Result<Self, NotMeasured> {
        let path = roots.proc.join("meminfo");
        let meminfo = KernelFile::open(&path).map_err(|error| NotMeasured::file(&path, &error))?;
        let page_size = crate::machine::page_size();
        let mut keys = [""; 18];
        keys[..9].copy_from_slice(&COUNTS);
        keys[9..].copy_from_slice(&PAGES);
        Ok(Self {
            levels: Levels::new(meminfo, page_size),
            vmstat: KernelFile::open(&roots.proc.join("vmstat")).ok(),
            keyed: Keyed::new(keys),
            before: None,
            page_size,
            faults: faults.clone(),
        })
    }

    /// Counts and pages. vmstat has some 200 lines and the kernel makes them one by one; ours are in
    /// its first half.
    fn vmstat(&mut self) -> (Values, Values) {
        const SLACK: usize = 128;
        let Some(vmstat) = &mut self.vmstat else { return ([None; 9], [None; 9]) };
        let text = match self.keyed.reach() {
            0 => vmstat.read_records(),
            reach => vmstat.read_first(reach + SLACK),
        };
        let mut values = text.map_or([None; 18], |text| self.keyed.read(text));
        if self.keyed.lacks(&values) {
            // Its numbers have become so long since the last tick that ours are further down.
            values = vmstat.read_records().map_or([None; 18], |text| self.keyed.read(text));
        }
        (std::array::from_fn(|at| values[at]), std::array::from_fn(|at| values[9 + at]))
    }
}

impl Sampler for MemorySampler {
    type Table = Memory;

    fn sample(&mut self, now: Moment, table: &mut Memory, _events: &mut EventLog) {
        let (counts, pages) = self.vmstat();
        let refaults = refaulted(&counts);
        self.faults.tell(counts[1].map(|major| major + refaults.unwrap_or(0)), now);
        let levels = self.levels.read(now, &pages);
        let Some((earlier, before)) = self.before.replace((now, counts)) else { return };
        let level = |index: usize| levels[index].map(|kib| kib as i64 * 1024);
        let count = |index: usize, unit| grown(before[index], counts[index], unit);
        let major_faults = count(1, 1);
        let refaults_before = refaulted(&before);
        table.push(MemoryRow {
            t_ns: now.t_ns,
            dt_ns: now.since(earlier),
            subject: "host",
            total: level(0),
            free: level(1),
            available: level(2),
            cached: level(3),
            anonymous: level(4),
            dirty: level(5),
            writeback: level(6),
            swap_used: level(7).zip(level(8)).map(|(total, free)| total - free),
            minor_faults: count(0, 1).zip(major_faults).map(|(all, major)| (all - major).max(0)),
            major_faults,
            paged_in: count(2, 1024),
            paged_out: count(3, 1024),
            swapped_in: count(4, self.page_size),
            swapped_out: count(5, self.page_size),
            refaults: grown(refaults_before, refaults, 1),
        });
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        const OF_LEVEL: [&str; 9] = [
            "total",
            "free",
            "available",
            "cached",
            "anonymous",
            "dirty",
            "writeback",
            "swap_used",
            "swap_used",
        ];
        const OF_COUNT: [&str; 6] =
            ["minor_faults", "major_faults", "paged_in", "paged_out", "swapped_in", "swapped_out"];
        let levels = self.levels.missing().map(|at| (OF_LEVEL[at], LEVELS[at]));
        let levels = levels.map(|(column, key)| (column, format!("/proc/meminfo has no {key}")));
        let missing = || self.keyed.missing().filter(|at| *at < COUNTS.len());
        let counts =
            missing().filter(|at| *at < OF_COUNT.len()).map(|at| (OF_COUNT[at], COUNTS[at]));
        let counts = counts.map(|(column, key)| match self.vmstat {
            Some(_) => (column, format!("/proc/vmstat has no {key}")),
            None => (column, "/proc/vmstat cannot be read".to_owned()),
        });
        let no_refaults = missing().filter(|at| *at >= OF_COUNT.len()).count() == 3;
        let reason = "/proc/vmstat has no workingset_refault".to_owned();
        let refaults = no_refaults.then_some(("refaults", reason));
        levels.chain(counts).chain(refaults).collect()
    }
}

/// Pages read again that had been thrown out of memory not long before.
fn refaulted(counts: &Values) -> Option<u64> {
    let [.., anonymous, file, both] = counts;
    anonymous.zip(*file).map(|(anonymous, file)| anonymous + file).or(*both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_behind_numbers_that_became_long_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let proc = folder.path().join("proc");
        std::fs::create_dir(&proc).unwrap();
        std::fs::write(proc.join("meminfo"), "MemTotal: 1 kB\n").unwrap();
        let write = |number: u64, faults: u64| {
            let before: String = (0..50).map(|line| format!("nr_{line} {number}\n")).collect();
            std::fs::write(proc.join("vmstat"), format!("{before}pgfault {faults}\n")).unwrap();
        };
        write(1, 7);
        let roots = Roots::fixture(folder.path());
        let mut sampler = MemorySampler::open(&roots, &Tally::default()).unwrap();
        for (number, faults) in [(1, 7), (1_000_000, 8), (1_000_000_000_000, 9)] {
            write(number, faults);
            assert_eq!(sampler.vmstat().0[0], Some(faults));
        }
    }
}
