//! Tells what the readers of several rings say, in the order of time.

use crate::live::{SECOND_NS, WAIT_MS};
use crate::outage::Outages;
use crate::recording::{Recording, tell};
use crate::ring::RingError;
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Result, anyhow};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tierlab_record::clock::{Moment, monotonic_ns};

/// So many parts of all rings may wait to be told, with so many bytes, of each ring its share. A
/// reader that is so far ahead of another, or of the disk, waits, and what the kernel drops meanwhile
/// is counted. A part is small or has all messages of a full block.
const MOST_PARTS: usize = 4_096;
const MOST_BYTES: usize = 64 << 20;

/// So many parts of each ring may wait whatever their bytes: the last may wait for a time after its
/// own, which the next one tells.
const LEAST_PARTS: usize = 2;

/// What was said of a ring's next part.
struct Part {
    ring: usize,
    said: Recording,
    bytes: usize,
    until_ns: i64,
    seen: Summary,
}

/// Where a ring's reader hands over what it says.
pub(crate) struct Outlet {
    ring: usize,
    parts: Sender<Part>,
    /// The bytes of each part that does not wait any more.
    freed: Receiver<usize>,
    /// Parts that wait, as far as this knows, and their bytes.
    waiting: usize,
    waiting_bytes: usize,
    /// How many rings share what may wait.
    rings: usize,
}

impl Outlet {
    /// Hands over a part, once there is room for it: whatever the ring had before `until_ns` was read,
    /// and `seen` is all that was seen on it so far.
    pub(crate) fn hand_over(&mut self, said: Recording, until_ns: i64, seen: Summary) {
        let bytes = said.bytes();
        while let Ok(freed) = self.freed.try_recv() {
            self.make_room(freed);
        }
        while !self.has_room(bytes) {
            match self.freed.recv() {
                Ok(freed) => self.make_room(freed),
                // The tables have failed: the writer reports that, and nobody takes parts any more.
                Err(_) => return,
            }
        }
        (self.waiting, self.waiting_bytes) = (self.waiting + 1, self.waiting_bytes + bytes);
        let _ = self.parts.send(Part { ring: self.ring, said, bytes, until_ns, seen });
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.waiting < LEAST_PARTS
            || self.waiting < MOST_PARTS / self.rings
                && self.waiting_bytes + bytes <= MOST_BYTES / self.rings
    }

    fn make_room(&mut self, bytes: usize) {
        (self.waiting, self.waiting_bytes) = (self.waiting - 1, self.waiting_bytes - bytes);
    }
}

/// What a reader's thread ends with.
type Ended = Result<(), RingError>;

/// Tells what all readers say.
pub(crate) struct Teller {
    parts: Receiver<Part>,
    /// What is not all told, as some ring is not read that far; which ring's it is, and its bytes.
    said: Vec<Recording>,
    of: Vec<(usize, usize)>,
    /// Of each ring.
    until_ns: Vec<i64>,
    seen: Vec<Summary>,
    room: Vec<Sender<usize>>,
    tables: Tables,
    outages: Outages,
}

impl Teller {
    /// For so many rings; gives each of them its outlet.
    pub(crate) fn new(rings: usize, tables: Tables) -> (Self, Vec<Outlet>) {
        let (sender, parts) = channel();
        let outlet = |ring| {
            let (room, freed) = channel();
            let parts = sender.clone();
            (room, Outlet { ring, parts, freed, waiting: 0, waiting_bytes: 0, rings })
        };
        let (room, outlets) = (0..rings).map(outlet).unzip();
        let (until_ns, seen) = (vec![0; rings], vec![Summary::default(); rings]);
        let (said, of, outages) = (Vec::new(), Vec::new(), Outages::default());
        (Self { parts, said, of, until_ns, seen, room, tables, outages }, outlets)
    }

    /// Tells until all readers have ended. Fails as soon as one has died: the others wait for it.
    pub(crate) fn run(mut self, readers: Vec<JoinHandle<Ended>>) -> Result<()> {
        let (mut tick, mut known) = (Moment::now(), Summary::default());
        let merged = self.until_ended(readers, &mut tick, &mut known);
        // What was read is written, whatever has failed.
        for _ in 0..MOST_PARTS {
            let Ok(part) = self.parts.try_recv() else { break };
            self.take(part);
        }
        tell(&mut self.said, i64::MAX, &mut self.tables);
        let last = self.second(known, tick);
        self.outages.end(Moment::now(), &mut self.tables);
        let visits = self.tables.visit_count();
        let written = self.tables.finish();
        merged?;
        let (last, _) = last?;
        written?;
        Summary { visits, ..last }.last();
        Ok(())
    }

    fn until_ended(
        &mut self,
        mut readers: Vec<JoinHandle<Ended>>,
        tick: &mut Moment,
        known: &mut Summary,
    ) -> Result<()> {
        loop {
            match self.parts.recv_timeout(Duration::from_millis(WAIT_MS as u64)) {
                Ok(part) => self.take(part),
                Err(RecvTimeoutError::Timeout) => check(&mut readers)?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if monotonic_ns() - tick.monotonic_ns >= SECOND_NS {
                check(&mut readers)?;
                (*known, *tick) = self.second(*known, *tick)?;
                self.tables.say(known.progress());
            }
        }
        readers.into_iter().try_for_each(end)
    }

    fn take(&mut self, part: Part) {
        self.until_ns[part.ring] = part.until_ns;
        self.seen[part.ring] = part.seen;
        self.said.push(part.said);
        self.of.push((part.ring, part.bytes));
        let until_ns = self.until_ns.iter().copied().min().unwrap_or(0);
        tell(&mut self.said, until_ns, &mut self.tables);
        self.make_room();
    }

    /// Forgets what is told: its readers may hand over as much again.
    fn make_room(&mut self) {
        let Self { said, of, room, .. } = self;
        let mut is_told = said.iter().map(Recording::is_told);
        of.retain(|&(ring, bytes)| {
            let is_told = is_told.next().unwrap_or_default();
            if is_told {
                // A reader that has ended hands over nothing any more.
                let _ = room[ring].send(bytes);
            }
            !is_told
        });
        said.retain(|said| !said.is_told());
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
        self.outages.follow(&all, last, now, &mut self.tables);
        all.visits = self.tables.visit_count();
        self.tables.flush()?;
        Ok((all, now))
    }
}

/// Fails if a reader has failed or died.
fn check(readers: &mut Vec<JoinHandle<Ended>>) -> Result<()> {
    while let Some(ended) = readers.iter().position(JoinHandle::is_finished) {
        end(readers.swap_remove(ended))?;
    }
    Ok(())
}

fn end(reader: JoinHandle<Ended>) -> Result<()> {
    Ok(reader.join().map_err(|_| anyhow!("a thread that reads a ring died"))??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::reader::StreamReader;
    use std::fs::File;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::spawn;
    use tierlab_dissect::{Peer, Protocol, Server, Sink, Visit};

    const MANY: i64 = 10_000;

    fn tables() -> (tempfile::TempDir, Tables) {
        let folder = tempfile::tempdir().unwrap();
        let servers: Arc<[Server]> = Arc::new([Server {
            name: "web.1".into(),
            address: [127, 0, 1, 1].into(),
            port: 8080,
            protocol: Protocol::Http1,
            pass_through: false,
        }]);
        let tables = Tables::create(folder.path(), "capture", &servers, false).unwrap();
        (folder, tables)
    }

    /// A visit at that time.
    fn labelled(at_ns: i64, label: &str) -> Recording {
        let mut said = Recording::new(false);
        said.frame = at_ns;
        said.visit(&Visit {
            server: 0,
            connection: 1,
            client: Peer { address: [127, 0, 0, 1].into(), port: 1 },
            arrival_ns: at_ns,
            request_end_ns: at_ns,
            reply_start_ns: None,
            departure_ns: None,
            closed_ns: None,
            may_wait_ns: None,
            label,
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            id_hash: None,
            literals: &[],
        });
        said
    }

    /// Hands over a visit each nanosecond, and counts them.
    fn read(outlet: &mut Outlet, visits: i64, label: &str, handed_over: &AtomicUsize) {
        for at_ns in 1..=visits {
            outlet.hand_over(labelled(at_ns, label), at_ns, Summary::default());
            handed_over.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn nothing_more(outlet: &mut Outlet) {
        outlet.hand_over(Recording::new(false), i64::MAX, Summary::default());
    }

    /// One of two readers hands over visits with this label, the other nothing. Returns how many the
    /// first one hands over before it waits.
    fn handed_over_ahead(visits: i64, label: String) -> usize {
        let (_folder, tables) = tables();
        let (mut teller, mut outlets) = Teller::new(2, tables);
        let (mut behind, mut ahead) = (outlets.remove(0), outlets.remove(0));
        let handed_over = Arc::new(AtomicUsize::new(0));
        let counted = handed_over.clone();
        let reader = spawn(move || {
            read(&mut ahead, visits, &label, &counted);
            nothing_more(&mut ahead);
        });
        while let Ok(part) = teller.parts.recv_timeout(Duration::from_millis(200)) {
            teller.take(part);
        }
        let waiting = handed_over.load(Ordering::Relaxed);
        assert_eq!((teller.said.len(), teller.tables.visit_count()), (waiting, 0));
        nothing_more(&mut behind);
        drop(behind);
        while let Ok(part) = teller.parts.recv() {
            teller.take(part);
        }
        reader.join().unwrap();
        assert_eq!((teller.said.len(), teller.tables.visit_count()), (0, visits as u64));
        teller.tables.finish().unwrap();
        waiting
    }

    #[test]
    fn a_reader_that_is_ahead_waits_for_the_others() {
        assert_eq!(handed_over_ahead(MANY, "GET /".into()), MOST_PARTS / 2);
    }

    #[test]
    fn a_reader_of_large_parts_waits_before_they_fill_the_memory() {
        let label = "x".repeat(256 << 10);
        let each = labelled(1, &label).bytes();
        assert!(each > label.len(), "{each} bytes");
        assert_eq!(handed_over_ahead(300, label), MOST_BYTES / 2 / each);
    }

    #[test]
    fn where_a_reader_has_died_the_capture_ends_and_what_others_read_is_written() {
        let (folder, tables) = tables();
        let (teller, mut outlets) = Teller::new(2, tables);
        let (dies, mut ahead) = (outlets.remove(0), outlets.remove(0));
        let readers = vec![
            spawn(move || -> Ended {
                drop(dies);
                panic!("it dies, as this test wants")
            }),
            spawn(move || {
                read(&mut ahead, MANY, "GET /", &AtomicUsize::new(0));
                Ok(())
            }),
        ];
        let error = teller.run(readers).unwrap_err();
        assert_eq!(error.to_string(), "a thread that reads a ring died");
        let file = File::open(folder.path().join("raw_visits.arrows")).unwrap();
        let batches = StreamReader::try_new(file, None).unwrap();
        let written: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(written, MOST_PARTS / 2, "so many were handed over");
    }
}
