//! How long each core was busy: the sources of the CPU table's `busy`, compared in [`crate::cpu`].

use crate::cpu::{IDLE, IOWAIT, STEAL, Ticks};
use crate::kernel_file::KernelFile;
use crate::machine::tick_ns;
use crate::plan::CpuSource;
use crate::roots::Roots;
use crate::sampler::NotMeasured;
use crate::switches::Switches;
use crate::text::{number, words};
use std::path::{Path, PathBuf};
use tierlab_record::clock::Moment;

/// A source of busy time.
pub enum Busy {
    /// See [`CpuSource::CgroupV1`].
    CgroupV1(UsagePercpu),
    /// See [`CpuSource::SchedSwitch`].
    SchedSwitch(Switches),
    /// See [`CpuSource::ProcStat`].
    ProcStat,
}

impl Busy {
    /// The source that is wanted, or else the best that works.
    pub fn open(roots: &Roots, wanted: Option<CpuSource>) -> Result<Self, NotMeasured> {
        let cgroup_v1 = || UsagePercpu::open(roots).map(Busy::CgroupV1);
        match wanted {
            Some(CpuSource::CgroupV1) => cgroup_v1(),
            Some(CpuSource::SchedSwitch) => sched_switch(roots),
            Some(CpuSource::ProcStat) => Ok(Busy::ProcStat),
            None => Ok(cgroup_v1().or_else(|_| sched_switch(roots)).unwrap_or(Busy::ProcStat)),
        }
    }

    /// The plan's word for the source.
    pub fn name(&self) -> &'static str {
        match self {
            Busy::CgroupV1(_) => "cgroup_v1",
            Busy::SchedSwitch(_) => "sched_switch",
            Busy::ProcStat => "proc_stat",
        }
    }

    /// Reads all cores at once, before [`Busy::of_core`] is asked for each.
    pub fn read(&mut self) {
        match self {
            Busy::CgroupV1(usage) => usage.read(),
            Busy::SchedSwitch(switches) => switches.read(),
            Busy::ProcStat => {}
        }
    }

    /// Busy nanoseconds of a core since some moment in the past. A thread that was running while the
    /// hypervisor had the core did not run: control groups' time is without that, wall time is not.
    pub fn of_core(&self, core: usize, now: Moment, ticks: &Ticks) -> Option<i64> {
        let stolen_ns = ticks[STEAL].unwrap_or(0) as i64 * tick_ns();
        match self {
            Busy::CgroupV1(usage) => usage.of_core(core),
            Busy::SchedSwitch(switches) => Some(switches.of_core(core)? - stolen_ns),
            Busy::ProcStat => {
                let idle_ticks = ticks[IDLE]? + ticks[IOWAIT].unwrap_or(0);
                Some(now.monotonic_ns - idle_ticks as i64 * tick_ns() - stolen_ns)
            }
        }
    }
}

fn sched_switch(roots: &Roots) -> Result<Busy, NotMeasured> {
    if !roots.live {
        return Err(NotMeasured("context switches can only be traced on this machine".to_owned()));
    }
    let cores = possible_cores(roots);
    let last = cores.last().ok_or_else(|| NotMeasured("the cores are not known".to_owned()))?;
    let switches = Switches::open(last + 1)
        .map_err(|error| NotMeasured(format!("eBPF at sched_switch: {error}")))?;
    Ok(Busy::SchedSwitch(switches))
}

/// The cores that this machine can have, in order.
fn possible_cores(roots: &Roots) -> Vec<usize> {
    let list = std::fs::read_to_string(roots.sys.join("devices/system/cpu/possible"));
    cores_of(list.as_deref().unwrap_or_default())
}

/// `cpuacct.usage_percpu` of the root control group: one number for each possible core.
pub struct UsagePercpu {
    file: KernelFile,
    /// The core's number at each place of the line.
    cores: Vec<usize>,
    usage_ns: Vec<Option<i64>>,
}

impl UsagePercpu {
    fn open(roots: &Roots) -> Result<Self, NotMeasured> {
        let folder = root_group(&roots.sys.join("fs/cgroup")).ok_or_else(|| {
            NotMeasured("no root control group with cpuacct (version 1) is mounted".to_owned())
        })?;
        let path = folder.join("cpuacct.usage_percpu");
        let file = KernelFile::open(&path).map_err(|error| NotMeasured::file(&path, &error))?;
        Ok(Self { file, cores: possible_cores(roots), usage_ns: Vec::new() })
    }

    fn read(&mut self) {
        self.usage_ns.fill(None);
        let Ok(text) = self.file.read() else { return };
        let Some(line) = text.strip_suffix(b"\n") else { return };
        for (place, word) in words(line).enumerate() {
            let core = self.cores.get(place).copied().unwrap_or(place);
            if self.usage_ns.len() <= core {
                self.usage_ns.resize(core + 1, None);
            }
            self.usage_ns[core] = number(word).map(|ns| ns as i64);
        }
    }

    fn of_core(&self, core: usize) -> Option<i64> {
        self.usage_ns.get(core).copied().flatten()
    }
}

/// The root of the hierarchy with cpuacct. Only a true root has `release_agent`; in a container
/// the same path may be the container's own group, whose time is not the machine's.
fn root_group(mounts: &Path) -> Option<PathBuf> {
    ["cpuacct", "cpu,cpuacct", "cpuacct,cpu"]
        .map(|name| mounts.join(name))
        .into_iter()
        .find(|folder| folder.join("release_agent").exists())
}

/// Of `0-3,8-11`: the cores in order. Empty where the text is not such a list.
fn cores_of(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_hypervisor_took_was_not_busy() {
        let mut ticks: Ticks = [Some(0); 8];
        let now = Moment { t_ns: 0, monotonic_ns: 100 * tick_ns() };
        ticks[IDLE] = Some(40);
        ticks[STEAL] = Some(25);
        assert_eq!(Busy::ProcStat.of_core(0, now, &ticks), Some(35 * tick_ns()));
        ticks[STEAL] = None;
        assert_eq!(Busy::ProcStat.of_core(0, now, &ticks), Some(60 * tick_ns()));
    }

    #[test]
    fn a_list_of_cores_is_written_out() {
        assert_eq!(cores_of("0-1\n"), [0, 1]);
        assert_eq!(cores_of("0,2-3,8"), [0, 2, 3, 8]);
        assert_eq!(cores_of(""), [0usize; 0]);
    }

    #[test]
    fn a_containers_own_group_is_not_taken_for_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("cpuacct");
        std::fs::create_dir(&group).unwrap();
        std::fs::write(group.join("cpuacct.usage_percpu"), "1 2\n").unwrap();
        assert_eq!(root_group(folder.path()), None);
        std::fs::write(group.join("release_agent"), "\n").unwrap();
        assert_eq!(root_group(folder.path()), Some(group));
    }
}
