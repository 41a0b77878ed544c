//! Table `cpu`: every core's time as shares of the interval.
//!
//! `busy` comes from the best source that works here, in this order; the error is against the time
//! between context switches that eBPF sees, in percentage points rms at 50 ms:
//!
//! | source | error | note |
//! |---|---|---|
//! | `cgroup_v1`: `cpuacct.usage_percpu` of the root group | 2 to 3 | nanoseconds, booked at switches and ticks |
//! | `sched_switch`: eBPF | 0 | costs every context switch a little; needs CAP_BPF and CAP_PERFMON |
//! | `proc_stat`: wall time less idle and iowait | 6 | ticks of 10 ms |
//!
//! The first is without what the hypervisor gave to others; from the other two `steal` is taken, in
//! ticks of 10 ms.
//!
//! The other columns are the tick accounting of `/proc/stat` (proc(5)): whole ticks of 10 ms, given
//! to whoever ran at the tick, so at 50 ms they tell what kind of work it was, not how much. `user`
//! includes nice and guests, `irq` both kinds of interrupts.

use crate::busy::Busy;
use crate::counter::{Share, increase};
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::machine::tick_ns;
use crate::plan::CpuSource;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::text::{lines, number, words};
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Cpu, CpuRow};

/// Ticks of one core since boot; a column that the kernel does not have is `None`.
pub type Ticks = [Option<u64>; COLUMNS];
const COLUMNS: usize = 8;
const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
/// Column of idle time without a request in flight.
pub const IDLE: usize = 3;
/// Column of idle time with one.
pub const IOWAIT: usize = 4;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
/// Column of the time that the hypervisor gave to others while something was to run.
pub const STEAL: usize = 7;

/// Samples the cores.
pub struct CpuSampler {
    stat: KernelFile,
    busy: Busy,
    cores: Vec<Core>,
    round: u64,
}

struct Core {
    name: String,
    number: usize,
    before: Option<(Moment, Ticks, Option<i64>)>,
    busy: Share,
    shares: [Share; 5],
    seen: u64,
}

impl CpuSampler {
    /// Opens `/proc/stat` and the source of `busy` that the plan wants, or the best that works.
    pub fn open(roots: &Roots, wanted: Option<CpuSource>) -> Result<Self, NotMeasured> {
        let path = roots.proc.join("stat");
        let stat = KernelFile::open(&path).map_err(|error| NotMeasured::file(&path, &error))?;
        Ok(Self { stat, busy: Busy::open(roots, wanted)?, cores: Vec::new(), round: 0 })
    }

    /// The name of the source of `busy`.
    pub fn source(&self) -> &'static str {
        self.busy.name()
    }
}

impl Sampler for CpuSampler {
    type Table = Cpu;

    fn sample(&mut self, now: Moment, table: &mut Cpu, events: &mut EventLog) {
        self.busy.read();
        let Ok(text) = self.stat.read() else { return };
        self.round += 1;
        let of_cores = lines(text).skip(1).map_while(core_line);
        for (core, ticks) in of_cores {
            let known = self.cores.iter().position(|known| known.number == core);
            let at = known.unwrap_or_else(|| {
                self.cores.push(Core::new(core));
                self.cores.len() - 1
            });
            let busy_ns = self.busy.of_core(core, now, &ticks);
            self.cores[at].seen = self.round;
            self.cores[at].sample(now, ticks, busy_ns, table);
        }
        let round = self.round;
        self.cores.retain(|core| {
            let stays = core.seen == round;
            if !stays {
                events.at(now, "core_offline", &core.name, "it is no longer in /proc/stat");
            }
            stays
        });
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        const NAMES: [(&str, usize); 4] =
            [("iowait", IOWAIT), ("irq", IRQ), ("irq", SOFTIRQ), ("steal", STEAL)];
        let Some((_, ticks, busy)) = self.cores.first().and_then(|core| core.before) else {
            return Vec::new();
        };
        let mut missing: Vec<_> = NAMES
            .into_iter()
            .filter(|(_, column)| ticks[*column].is_none())
            .map(|(name, _)| (name, "/proc/stat of this kernel has no such column".to_owned()))
            .collect();
        if busy.is_none() {
            missing.push(("busy", format!("{} gave nothing", self.busy.name())));
        }
        missing
    }
}

/// Of `cpu0 4450 0 1847 80216 147 0 9 32 0 0`; `None` at the first line that is not a core's.
fn core_line(line: &[u8]) -> Option<(usize, Ticks)> {
    let mut words = words(line);
    let core = number(words.next()?.strip_prefix(b"cpu")?)? as usize;
    let mut ticks = [None; COLUMNS];
    for column in &mut ticks {
        *column = words.next().and_then(number);
    }
    Some((core, ticks))
}

impl Core {
    fn new(number: usize) -> Self {
        Self {
            name: format!("cpu{number}"),
            number,
            before: None,
            busy: Share::default(),
            shares: Default::default(),
            seen: 0,
        }
    }

    fn sample(&mut self, now: Moment, mut ticks: Ticks, busy_ns: Option<i64>, table: &mut Cpu) {
        if let Some((_, before, _)) = self.before {
            // proc(5): iowait may go down, by what was booked on the wrong core; so may idle.
            for column in [IDLE, IOWAIT] {
                ticks[column] = ticks[column].max(before[column]);
            }
        }
        let Some((earlier, before, busy_before)) = self.before.replace((now, ticks, busy_ns))
        else {
            return;
        };
        let dt_ns = now.since(earlier);
        let mut share = |which: usize, columns: &[usize]| {
            let mut spent = 0;
            for column in columns {
                spent += increase(before[*column]?, ticks[*column]?)? as i64 * tick_ns();
            }
            Some(self.shares[which].of(spent, dt_ns))
        };
        table.push(CpuRow {
            t_ns: now.t_ns,
            dt_ns,
            subject: &self.name,
            user: share(0, &[USER, NICE]),
            system: share(1, &[SYSTEM]),
            iowait: share(2, &[IOWAIT]),
            irq: share(3, &[IRQ, SOFTIRQ]),
            steal: share(4, &[STEAL]),
            busy: busy_before
                .zip(busy_ns)
                .map(|(then, now)| now - then)
                // A counter that was set to 0 tells nothing about this interval.
                .filter(|spent| *spent > -dt_ns)
                .map(|spent| self.busy.of(spent, dt_ns)),
        });
    }
}
