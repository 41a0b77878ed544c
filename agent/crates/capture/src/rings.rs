//! Capture by several threads, each with a ring of its own, among which the kernel shares out the
//! connections. What they say is told in the order of time by the thread that started them.

use crate::live::{SECOND_NS, WAIT_MS};
use crate::recording::{Recording, tell};
use crate::ring::{HANDED_OVER, Ring, RingError};
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Context, Result, anyhow};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tierlab_dissect::{Dissector, LinkType};
use tierlab_record::clock::{Moment, monotonic_ns, realtime_ns};
use tierlab_record::priority;

/// So many parts of all rings may wait to be told; then their readers wait too, and what the kernel
/// drops meanwhile is counted.
const MOST_WAITING: usize = 4_096;

/// What was said of a ring's next part.
struct Part {
    ring: usize,
    said: Recording,
    /// Whatever the ring had before this time was read.
    until_ns: i64,
    /// All that was seen on this ring so far.
    seen: Summary,
}

/// Captures with all of these rings until `over`.
pub(crate) fn run(
    rings: Vec<Ring>,
    dissector: impl Fn(usize) -> Dissector,
    over: impl Fn() -> bool + Copy + Send + 'static,
    tables: Tables,
) -> Result<()> {
    let count = rings.len();
    let with_messages = tables.has_messages();
    let (parts, told) = sync_channel(MOST_WAITING);
    let start = |(number, ring)| {
        let (dissector, parts) = (dissector(count), parts.clone());
        let seen = Summary::default();
        let mut reader =
            Reader { ring, number, count, dissector, with_messages, seen, until_ns: 0, parts };
        std::thread::Builder::new()
            .name(format!("ring {number}"))
            .spawn(move || reader.run(over))
            .context("cannot start a thread")
    };
    let readers: Vec<_> = rings.into_iter().enumerate().map(start).collect::<Result<_>>()?;
    drop(parts);
    priority::take(priority::Role::Observer);
    Summary::ready();
    Teller::new(count, tables).run(&told, readers)
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
    parts: SyncSender<Part>,
}

impl Reader {
    fn run(&mut self, over: impl Fn() -> bool) -> Result<(), RingError> {
        self.seen.scheduling = priority::take(priority::Role::Observer);
        let mut drops_read_ns = 0;
        while !over() {
            let idle_since_ns = realtime_ns() - HANDED_OVER.as_nanos() as i64;
            let mut said = Recording::new(self.with_messages);
            if !self.read_block(&mut said) {
                self.until_ns = self.until_ns.max(idle_since_ns);
                self.ring.wait(WAIT_MS)?;
            }
            if idle_since_ns - drops_read_ns >= SECOND_NS / 10 {
                self.seen.drops += self.ring.drops()?;
                drops_read_ns = idle_since_ns;
            }
            self.hand_over(said);
        }
        self.finish()
    }

    /// Takes the next block. False if none is ready.
    fn read_block(&mut self, said: &mut Recording) -> bool {
        let Self { ring, dissector, seen, until_ns, .. } = self;
        let (number, count) = (self.number as i64, self.count as i64);
        ring.read_block(|at_ns, bytes| {
            said.frame = at_ns;
            // No two rings give a number twice.
            dissector.number_next(seen.packets as i64 * count + number);
            dissector.frame(at_ns, LinkType::Raw, bytes, said);
            seen.packets += 1;
            seen.bytes += bytes.len() as u64;
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
        self.seen.drops += self.ring.drops()?;
        said.frame = i64::MAX - 1;
        self.dissector.finish(&mut said);
        self.until_ns = i64::MAX;
        self.hand_over(said);
        Ok(())
    }

    fn hand_over(&mut self, said: Recording) {
        self.seen.connections = self.dissector.open_connections() as u64;
        self.seen.crowded_out = self.dissector.crowded_out();
        let (ring, until_ns, seen) = (self.number, self.until_ns, self.seen);
        // Nobody takes it any more once the tables have failed, which is told then.
        let _ = self.parts.send(Part { ring, said, until_ns, seen });
    }
}

/// Tells what all readers say.
struct Teller {
    /// What is not all told, as some ring is not read that far.
    said: Vec<Recording>,
    /// Of each ring.
    until_ns: Vec<i64>,
    seen: Vec<Summary>,
    tables: Tables,
}

impl Teller {
    fn new(rings: usize, tables: Tables) -> Self {
        let (until_ns, seen) = (vec![0; rings], vec![Summary::default(); rings]);
        Self { said: Vec::new(), until_ns, seen, tables }
    }

    fn run(
        mut self,
        parts: &Receiver<Part>,
        readers: Vec<JoinHandle<Result<(), RingError>>>,
    ) -> Result<()> {
        let (mut tick, mut known) = (Moment::now(), Summary::default());
        loop {
            match parts.recv_timeout(Duration::from_millis(WAIT_MS as u64)) {
                Ok(part) => self.take(part),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if monotonic_ns() - tick.monotonic_ns >= SECOND_NS {
                (known, tick) = self.second(known, tick)?;
                self.tables.say(known.progress());
            }
        }
        for reader in readers {
            reader.join().map_err(|_| anyhow!("a thread that reads a ring died"))??;
        }
        let (mut last, _) = self.second(known, tick)?;
        last.visits = self.tables.visit_count();
        self.tables.finish()?;
        last.last();
        Ok(())
    }

    fn take(&mut self, part: Part) {
        self.until_ns[part.ring] = part.until_ns;
        self.seen[part.ring] = part.seen;
        if !part.said.is_told() {
            self.said.push(part.said);
        }
        let until_ns = self.until_ns.iter().copied().min().unwrap_or(0);
        tell(&mut self.said, until_ns, &mut self.tables);
        self.said.retain(|said| !said.is_told());
    }

    /// Once a second: what was lost since the last, and the rows to the writer. Returns what was
    /// seen on all rings, and when it was.
    fn second(&mut self, before: Summary, last: Moment) -> Result<(Summary, Moment)> {
        let now = Moment::now();
        let mut all = self.seen[0];
        self.seen[1..].iter().for_each(|seen| all.add_ring(seen));
        let drops = all.drops - before.drops;
        if drops > 0 {
            self.tables.capture_drop(last.t_ns, now.since(last), drops);
        }
        all.visits = self.tables.visit_count();
        self.tables.flush()?;
        Ok((all, now))
    }
}
