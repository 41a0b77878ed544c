//! Capture by several threads, each with a ring of its own, among which the kernel shares out the
//! connections. What they say is told in the order of time by the thread that started them.

use crate::live::{SECOND_NS, WAIT_MS};
use crate::outage;
use crate::recording::Recording;
use crate::ring::{HANDED_OVER, Ring, RingError};
use crate::summary::Summary;
use crate::tables::Tables;
use crate::teller::{Outlet, Teller};
use anyhow::{Context, Result};
use tierlab_dissect::Dissector;
use tierlab_record::clock::realtime_ns;
use tierlab_record::priority;

/// Captures with all of these rings until `over`.
pub(crate) fn run(
    rings: Vec<Ring>,
    dissector: impl Fn(usize) -> Dissector,
    over: impl Fn() -> bool + Copy + Send + 'static,
    tables: Tables,
) -> Result<()> {
    let count = rings.len();
    let with_messages = tables.has_messages();
    let (teller, outlets) = Teller::new(count, tables);
    let start = |(number, (ring, outlet))| {
        let (dissector, seen) = (dissector(count), Summary::default());
        let mut reader =
            Reader { ring, number, count, dissector, with_messages, seen, until_ns: 0, outlet };
        std::thread::Builder::new()
            .name(format!("ring {number}"))
            .spawn(move || reader.run(over))
            .context("cannot start a thread")
    };
    let rings = rings.into_iter().zip(outlets).enumerate();
    let readers: Vec<_> = rings.map(start).collect::<Result<_>>()?;
    priority::take(priority::Role::Observer);
    Summary::ready();
    teller.run(readers)
}

/// Reads one ring.
struct Reader {
    ring: Ring,
    number: usize,
    /// How many rings there are.
    count: usize,
    dissector: Dissector,
    with_messages: bool,
    seen: Summary,
    until_ns: i64,
    outlet: Outlet,
}

impl Reader {
    fn run(&mut self, over: impl Fn() -> bool) -> Result<(), RingError> {
        self.seen.scheduling = priority::take(priority::Role::Observer);
        let read = self.until(over);
        // What was read is handed over, whatever has failed.
        let finished = self.finish();
        read.and(finished)
    }

    fn until(&mut self, over: impl Fn() -> bool) -> Result<(), RingError> {
        let mut drops_read_ns = 0;
        while !over() {
            let idle_since_ns = realtime_ns() - HANDED_OVER.as_nanos() as i64;
            let mut said = Recording::new(self.with_messages);
            if !self.read_block(&mut said) {
                self.until_ns = self.until_ns.max(idle_since_ns);
                outage::wait(&mut self.ring, WAIT_MS, &mut self.seen)?;
            }
            self.hand_over(said);
            if idle_since_ns - drops_read_ns >= SECOND_NS / 10 {
                self.seen.drops += self.ring.drops()?;
                drops_read_ns = idle_since_ns;
            }
        }
        Ok(())
    }

    /// Takes the next block. False if none is ready.
    fn read_block(&mut self, said: &mut Recording) -> bool {
        let Self { ring, dissector, seen, until_ns, .. } = self;
        let (number, count) = (self.number as i64, self.count as i64);
        ring.read_block(|at_ns, frame| {
            said.frame = at_ns;
            // No two rings give a number twice.
            dissector.number_next(seen.packets as i64 * count + number);
            dissector.captured(at_ns, frame, said);
            seen.packets += 1;
            seen.bytes += frame.bytes.len() as u64;
            *until_ns = (*until_ns).max(at_ns);
        })
    }

    fn finish(&mut self) -> Result<(), RingError> {
        // What came until now is handed over when its block's time is up.
        std::thread::sleep(HANDED_OVER);
        let mut said = Recording::new(self.with_messages);
        for _ in 0..self.ring.blocks() {
            if !self.read_block(&mut said) {
                break;
            }
        }
        let drops = self.ring.drops();
        self.seen.drops += drops.as_ref().copied().unwrap_or(0);
        said.frame = i64::MAX - 1;
        self.dissector.finish(&mut said);
        self.until_ns = i64::MAX;
        self.hand_over(said);
        drops.map(drop)
    }

    fn hand_over(&mut self, said: Recording) {
        self.seen.connections = self.dissector.open_connections() as u64;
        self.seen.crowded_out = self.dissector.crowded_out();
        self.outlet.hand_over(said, self.until_ns, self.seen);
    }
}
