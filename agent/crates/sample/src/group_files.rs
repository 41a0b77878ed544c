//! The files of one control group: version 1's where it has the controller (which it then owns),
//! else version 2's. What cannot have changed is not read again: the kernel takes long over some.

use crate::awaited_file::AwaitedFile;
use crate::keyed::Keyed;
use crate::text::lone_number;
use std::path::Path;
use tierlab_record::Cgroups;
use tierlab_record::clock::Moment;

/// Version 1 writes this many bytes or more where there is no limit.
const NO_LIMIT: u64 = i64::MAX as u64 & !0xffff;

/// Keys of `memory.stat`; the last is both kinds of refaults together, before Linux 5.9.
const FAULTS_V1: [&str; 4] = [
    "total_pgmajfault",
    "total_workingset_refault_anon",
    "total_workingset_refault_file",
    "total_workingset_refault",
];
const FAULTS_V2: [&str; 4] =
    ["pgmajfault", "workingset_refault_anon", "workingset_refault_file", "workingset_refault"];

/// CPU time.
pub enum CpuFiles {
    /// `cpuacct.usage`, and `cpu.stat`.
    V1(Option<AwaitedFile>, Option<Throttle>),
    /// `cpu.stat`.
    V2(AwaitedFile, Keyed<3>),
}

/// Version 1's `cpu.stat`: at every tick only of a group with a quota.
pub struct Throttle {
    stat: AwaitedFile,
    keyed: Keyed<3>,
    has_quota: bool,
    last: Throttled,
}

/// What a group's CPU files say since it was made.
#[derive(Clone, Copy, Default)]
pub struct CpuCounts {
    /// Nanoseconds used.
    pub used_ns: Option<u64>,
    /// How it was held back by its quota.
    pub throttled: Throttled,
}

/// How a group was held back by its quota since it was made.
#[derive(Clone, Copy, Default)]
pub struct Throttled {
    /// Nanoseconds for which it was, summed over the cores.
    pub time_ns: Option<u64>,
    /// Periods of the quota in which it was.
    pub periods: Option<u64>,
}

/// The group's weight among those that want the same CPUs.
pub enum WeightFile {
    /// `cpu.shares`, usually 1024.
    V1(AwaitedFile),
    /// `cpu.weight`, usually 100.
    V2(AwaitedFile),
}

/// Memory and its limit, and faults from `memory.stat`, which the kernel may leave up to two seconds
/// behind while there are few.
pub struct MemoryFiles {
    usage: AwaitedFile,
    limit: AwaitedFile,
    stat: AwaitedFile,
    hits: HitsFile,
    keyed: Keyed<4>,
    last: Faults,
}

/// Faults of a group since it was made.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    /// Those that needed a device.
    pub major: Option<u64>,
    /// Pages read again that it had lost not long before.
    pub refaults: Option<u64>,
}

/// How often a limit was hit: `memory.failcnt`, or `max` of `memory.events`.
enum HitsFile {
    V1(AwaitedFile),
    V2(AwaitedFile, Keyed<1>),
}

fn file(folder: &Path, name: &str) -> AwaitedFile {
    AwaitedFile::new(folder.join(name))
}

impl CpuFiles {
    /// Those that the plan gives, if any.
    pub fn of(groups: &Cgroups) -> Option<Self> {
        if let (None, Some(folder)) = (&groups.cpuacct, &groups.unified) {
            let keyed = Keyed::new(["usage_usec", "throttled_usec", "nr_throttled"]);
            return Some(CpuFiles::V2(file(folder, "cpu.stat"), keyed));
        }
        let usage = groups.cpuacct.as_ref().map(|folder| file(folder, "cpuacct.usage"));
        let throttle = groups.cpu.as_deref().map(Throttle::of);
        let some = usage.is_some() || throttle.is_some();
        some.then_some(CpuFiles::V1(usage, throttle))
    }

    /// Reads them; `slow` reads what seldom changes.
    pub fn read(&mut self, now: Moment, slow: bool) -> CpuCounts {
        match self {
            CpuFiles::V1(usage, throttle) => {
                let used_ns = usage.as_mut().and_then(|usage| lone_number(usage.read(now)?));
                let throttled = throttle.as_mut().map(|throttle| throttle.read(now, slow));
                CpuCounts { used_ns, throttled: throttled.unwrap_or_default() }
            }
            CpuFiles::V2(stat, keyed) => {
                let Some(text) = stat.read(now) else { return CpuCounts::default() };
                let [used_us, throttled_us, periods] = keyed.read(text);
                let time_ns = throttled_us.map(|us| us * 1000);
                let used_ns = used_us.map(|us| us * 1000);
                CpuCounts { used_ns, throttled: Throttled { time_ns, periods } }
            }
        }
    }
}

impl Throttle {
    fn of(folder: &Path) -> Self {
        let keyed = Keyed::new(["nr_periods", "throttled_time", "nr_throttled"]);
        let last = Throttled::default();
        Self { stat: file(folder, "cpu.stat"), keyed, has_quota: false, last }
    }

    fn read(&mut self, now: Moment, slow: bool) -> Throttled {
        if slow || self.has_quota {
            let text = self.stat.read(now).unwrap_or_default();
            let [all, time_ns, periods] = self.keyed.read(text);
            self.has_quota = all.is_some_and(|all| all > 0);
            self.last = Throttled { time_ns, periods };
        }
        self.last
    }
}

impl WeightFile {
    /// The one that the plan gives, if any.
    pub fn of(groups: &Cgroups) -> Option<Self> {
        match (&groups.cpu, &groups.unified) {
            (Some(folder), _) => Some(Self::V1(file(folder, "cpu.shares"))),
            (None, Some(folder)) => Some(Self::V2(file(folder, "cpu.weight"))),
            (None, None) => None,
        }
    }

    /// The weight, where 1024 is the usual.
    pub fn read(&mut self, now: Moment) -> Option<u64> {
        match self {
            Self::V1(file) => lone_number(file.read(now)?),
            Self::V2(file) => lone_number(file.read(now)?).map(|weight| (weight * 1024 + 50) / 100),
        }
    }
}

impl MemoryFiles {
    /// Those that the plan gives, if any.
    pub fn of(groups: &Cgroups) -> Option<Self> {
        let (folder, usage, limit, keys, hits) = match (&groups.memory, &groups.unified) {
            (Some(folder), _) => {
                let hits = HitsFile::V1(file(folder, "memory.failcnt"));
                (folder, "memory.usage_in_bytes", "memory.limit_in_bytes", FAULTS_V1, hits)
            }
            (None, Some(folder)) => {
                let hits = HitsFile::V2(file(folder, "memory.events"), Keyed::new(["max"]));
                (folder, "memory.current", "memory.max", FAULTS_V2, hits)
            }
            (None, None) => return None,
        };
        Some(Self {
            usage: file(folder, usage),
            limit: file(folder, limit),
            stat: file(folder, "memory.stat"),
            hits,
            keyed: Keyed::new(keys),
            last: Faults::default(),
        })
    }

    /// Bytes in use.
    pub fn usage(&mut self, now: Moment) -> Option<u64> {
        lone_number(self.usage.read(now)?)
    }

    /// Bytes that it may use, if there is a limit.
    pub fn limit(&mut self, now: Moment) -> Option<u64> {
        lone_number(self.limit.read(now)?).filter(|bytes| *bytes < NO_LIMIT)
    }

    /// How often so far more memory was wanted than the limit allows.
    pub fn limit_hits(&mut self, now: Moment) -> Option<u64> {
        match &mut self.hits {
            HitsFile::V1(file) => lone_number(file.read(now)?),
            HitsFile::V2(file, keyed) => keyed.read(file.read(now)?)[0],
        }
    }

    /// Faults so far, read again only if they may have grown.
    pub fn faults(&mut self, now: Moment, may_have_grown: bool) -> Faults {
        if may_have_grown {
            let text = self.stat.read(now).unwrap_or_default();
            let [major, anonymous, file, both] = self.keyed.read(text);
            let refaults = anonymous.zip(file).map(|(anonymous, file)| anonymous + file);
            self.last = Faults { major, refaults: refaults.or(both) };
        }
        self.last
    }
}
