//! Counters of perf_event_open(2): one event of one core, of everybody or of a control group.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What counts an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The processor.
    Pmu,
    /// The kernel.
    Software,
}

impl By {
    /// As the tables have it.
    pub fn name(self) -> &'static str {
        match self {
            By::Pmu => "pmu",
            By::Software => "software",
        }
    }
}

/// An event by its name in perf-list(1), and its numbers in perf_event_open(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: &'static str,
    kind: u32,
    config: u64,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const EVENTS: [Event; 12] = [
    Event { name: "cycles", kind: HARDWARE, config: 0 },
    Event { name: "instructions", kind: HARDWARE, config: 1 },
    Event { name: "cache-references", kind: HARDWARE, config: 2 },
    Event { name: "cache-misses", kind: HARDWARE, config: 3 },
    Event { name: "branch-misses", kind: HARDWARE, config: 5 },
    // The cache, what is done, and whether it missed: a byte each.
    Event { name: "LLC-loads", kind: CACHE, config: 0x00_00_02 },
    Event { name: "LLC-load-misses", kind: CACHE, config: 0x01_00_02 },
    Event { name: "dTLB-load-misses", kind: CACHE, config: 0x01_00_03 },
    Event { name: "page-faults", kind: SOFTWARE, config: 2 },
    Event { name: "context-switches", kind: SOFTWARE, config: 3 },
    Event { name: "cpu-migrations", kind: SOFTWARE, config: 4 },
    Event { name: "major-faults", kind: SOFTWARE, config: 6 },
];

impl Event {
    /// Who counts it.
    pub fn by(self) -> By {
        if self.kind == SOFTWARE { By::Software } else { By::Pmu }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names = || EVENTS.map(|it| it.name).join(", ");
        let found = EVENTS.into_iter().find(|it| it.name == name);
        found.ok_or_else(|| {
            D::Error::custom(format!("unknown event `{name}`, expected one of {}", names()))
        })
    }
}

/// `struct perf_event_attr` as it was at first (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    breakpoint: u64,
}

const TIMES: u64 = 1 | 2;
const OF_CONTROL_GROUP: libc::c_ulong = 1 << 2;
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// What a counter said: the count, for how long it was wanted, and for how long it counted, because
/// a processor's counters take turns where more events are wanted than it has.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    count: u64,
    wanted_ns: u64,
    counted_ns: u64,
}

impl Reading {
    /// How many there were since an earlier one, those that were not counted among them as far as
    /// they are like the others; `None` where none of the time was counted.
    pub fn since(self, earlier: Self) -> Option<i64> {
        let count = self.count.saturating_sub(earlier.count);
        let wanted = self.wanted_ns.saturating_sub(earlier.wanted_ns);
        let counted = self.counted_ns.saturating_sub(earlier.counted_ns);
        match (wanted, counted) {
            (0, _) => Some(count as i64),
            (_, 0) => None,
            _ if counted >= wanted => Some(count as i64),
            _ => Some((count as f64 * (wanted as f64 / counted as f64)).round() as i64),
        }
    }
}

/// One that a test makes up.
#[cfg(test)]
pub fn reading(count: u64, wanted_ns: u64, counted_ns: u64) -> Reading {
    Reading { count, wanted_ns, counted_ns }
}

/// What tells a count: a counter of the kernel's, or a test's.
pub trait Reader {
    /// What it says now.
    fn read(&self) -> Option<Reading>;
}

/// An open counter.
pub struct Counter(OwnedFd);

impl Counter {
    /// Counts an event on a core from now on: of everybody, or of the threads in a control group,
    /// whose open folder this is.
    pub fn open(event: Event, core: i32, group: Option<RawFd>) -> io::Result<Self> {
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            read_format: TIMES,
            ..Attributes::default()
        };
        let (whose, flags) = match group {
            Some(folder) => (folder, CLOSE_ON_EXEC | OF_CONTROL_GROUP),
            None => (-1, CLOSE_ON_EXEC),
        };
        // SAFETY: the attributes are valid and say their size; the kernel gives a new descriptor that
        // nobody else owns.
        unsafe {
            let fd = libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                whose,
                core,
                -1,
                flags,
            );
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedFd::from_raw_fd(fd as RawFd)))
        }
    }
}

impl Reader for Counter {
    fn read(&self) -> Option<Reading> {
        let mut reading = Reading::default();
        let size = size_of::<Reading>();
        // SAFETY: there is room for three 64-bit words, which is what this read format gives.
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut reading).cast(), size) };
        (read == size as isize).then_some(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_counted_is_taken_to_be_like_the_rest() {
        let earlier = reading(100, 1_000, 1_000);
        assert_eq!(reading(150, 2_000, 2_000).since(earlier), Some(50));
        assert_eq!(reading(150, 2_000, 1_500).since(earlier), Some(100));
        assert_eq!(reading(100, 2_000, 1_000).since(earlier), None);
        // Nobody of the group ran.
        assert_eq!(earlier.since(earlier), Some(0));
    }

    #[test]
    fn events_are_named_as_perf_names_them() {
        let event = |name: &str| serde_json::from_value::<Event>(name.into());
        assert_eq!(event("instructions").unwrap().by().name(), "pmu");
        assert_eq!(event("page-faults").unwrap().by().name(), "software");
        let said = event("cpu-clock").unwrap_err().to_string();
        assert!(said.contains("unknown event `cpu-clock`"), "{said}");
    }
}
