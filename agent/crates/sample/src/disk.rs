//! Table `disk`: whole block devices from `/sys/block/<device>/stat` (kernel's
//! Documentation/block/stat.rst). A device has rows from the first time that it has done anything
//! since boot, which leaves out idle loop, ram and zram devices; partitions have none. Devices are
//! looked for every five seconds, and idle ones only read then: the first row of one has what it
//! did since.
//!
//! `busy` is the share of the interval with a request in flight, `queue_length` the mean number of
//! requests in flight. The kernel counts both in milliseconds and updates them when requests start
//! and end, at most once a jiffy.

use crate::counter::{Share, increase, increase_of_32_bits};
use crate::events::EventLog;
use crate::kernel_file::KernelFile;
use crate::roots::Roots;
use crate::sampler::{NotMeasured, Sampler};
use crate::tally::Tally;
use crate::text::{number, words};
use std::path::PathBuf;
use tierlab_record::Table;
use tierlab_record::clock::Moment;
use tierlab_record::tables::{Disk, DiskRow};

const SECTOR: i64 = 512;
const MS: i64 = 1_000_000;
const LOOK_NS: i64 = 5_000_000_000;
/// The columns that every kernel since 2.6 has.
const COLUMNS: usize = 11;
const IN_FLIGHT: usize = 8;
/// Milliseconds, of which the kernel shows 32 bits.
const TIMES: [usize; 4] = [3, 7, 9, 10];

/// Samples block devices.
pub struct DiskSampler {
    block: PathBuf,
    devices: Vec<Device>,
    look_due_ns: i64,
    requests: Tally,
}

struct Device {
    name: String,
    stat: KernelFile,
    used: bool,
    before: Option<(Moment, [u64; COLUMNS])>,
    busy: Share,
}

impl DiskSampler {
    /// Remembers `/sys/block`. `requests` is told of the requests that began.
    pub fn open(roots: &Roots, requests: &Tally) -> Result<Self, NotMeasured> {
        let block = roots.sys.join("block");
        std::fs::read_dir(&block).map_err(|error| NotMeasured::file(&block, &error))?;
        let (devices, look_due_ns, requests) = (Vec::new(), i64::MIN, requests.clone());
        Ok(Self { block, devices, look_due_ns, requests })
    }

    /// Requests that have begun on all devices; `None` where none is seen.
    fn begun(&self) -> Option<u64> {
        self.devices.iter().map(Device::begun).reduce(u64::wrapping_add)
    }

    /// Takes in the devices that came.
    fn look(&mut self) {
        let Ok(entries) = std::fs::read_dir(&self.block) else { return };
        for entry in entries.flatten() {
            // A slash of the name is an exclamation mark here (cciss!c0d0).
            let name = entry.file_name().to_string_lossy().replace('!', "/");
            if self.devices.iter().any(|device| device.name == name) {
                continue;
            }
            if let Ok(stat) = KernelFile::open_small(&entry.path().join("stat"), 512) {
                let (used, before, busy) = (false, None, Share::default());
                self.devices.push(Device { name, stat, used, before, busy });
            }
        }
    }
}

impl Sampler for DiskSampler {
    type Table = Disk;

    fn sample(&mut self, now: Moment, table: &mut Disk, events: &mut EventLog) {
        let looking = now.monotonic_ns >= self.look_due_ns;
        if looking {
            self.look_due_ns = now.monotonic_ns + LOOK_NS;
            self.look();
        }
        self.devices
            .retain_mut(|device| (!device.used && !looking) || device.sample(now, table, events));
        self.requests.tell(self.begun(), now);
    }
}

impl Device {
    /// Requests that have begun, those that were merged into others included.
    fn begun(&self) -> u64 {
        const ENDED: [usize; 4] = [0, 1, 4, 5];
        let ended = |columns: [u64; COLUMNS]| ENDED.map(|at| columns[at]).iter().sum::<u64>();
        self.before.map_or(0, |(_, columns)| ended(columns) + columns[IN_FLIGHT])
    }

    /// Pushes its row; false when it is gone.
    fn sample(&mut self, now: Moment, table: &mut Disk, events: &mut EventLog) -> bool {
        let Ok(text) = self.stat.read() else {
            events.at(now, "device_gone", &self.name, "it was taken away");
            return false;
        };
        let Some(columns) = columns(text) else { return true };
        self.used = columns[0] != 0 || columns[4] != 0;
        let Some((earlier, before)) = self.before.replace((now, columns)) else { return true };
        if !self.used {
            return true;
        }
        let Some(grew) = grown(before, columns) else {
            let detail = "its counters started anew: the device was replaced";
            events.at(now, "counter_reset", &self.name, detail);
            return true;
        };
        let dt_ns = now.since(earlier);
        table.push(DiskRow {
            t_ns: now.t_ns,
            dt_ns,
            subject: &self.name,
            reads: grew[0],
            writes: grew[4],
            bytes_read: grew[2] * SECTOR,
            bytes_written: grew[6] * SECTOR,
            read_time_ns: grew[3] * MS,
            write_time_ns: grew[7] * MS,
            in_flight: columns[IN_FLIGHT] as i64,
            busy: self.busy.of(grew[9] * MS, dt_ns),
            queue_length: (grew[10] * MS) as f64 / dt_ns as f64,
        });
        true
    }
}

/// The numbers of the line, unless it was cut off.
fn columns(text: &[u8]) -> Option<[u64; COLUMNS]> {
    let mut words = words(text.strip_suffix(b"\n")?);
    let mut columns = [0; COLUMNS];
    for column in &mut columns {
        *column = number(words.next()?)?;
    }
    Some(columns)
}

/// By how much each column grew; `None` where one started anew.
fn grown(before: [u64; COLUMNS], now: [u64; COLUMNS]) -> Option<[i64; COLUMNS]> {
    let mut grew = [0; COLUMNS];
    // The requests in flight are a level.
    for column in (0..COLUMNS).filter(|column| *column != IN_FLIGHT) {
        let increase = if TIMES.contains(&column) { increase_of_32_bits } else { increase };
        grew[column] = increase(before[column], now[column])? as i64;
    }
    Some(grew)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_wrap_and_all_else_starts_anew() {
        for column in (0..COLUMNS).filter(|column| *column != IN_FLIGHT) {
            let (mut before, mut now) = ([7; COLUMNS], [9; COLUMNS]);
            (before[column], now[column]) = (u64::from(u32::MAX), 3);
            let grew = grown(before, now).map(|grew| grew[column]);
            assert_eq!(grew, TIMES.contains(&column).then_some(4), "column {column}");
        }
    }
}
