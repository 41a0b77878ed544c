//! Tells what the readers of several rings say, in the order of time.

use crate::live::{SECOND_NS, WAIT_MS};
use crate::recording::{Recording, tell};
use crate::ring::RingError;
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Result, anyhow};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tierlab_record::clock::{Moment, monotonic_ns};

/// So many parts of all rings may wait to be told, of each its share. A reader that is so far ahead of
/// another waits for it, and what the kernel drops meanwhile is counted.
const MOST_WAITING: usize = 4_096;

/// Of each ring: the last may wait for a time after its own, which the next one tells.
const LEAST_WAITING: usize = 2;

/// What was said of a ring's next part.
struct Part {
    ring: usize,
    said: Recording,
    until_ns: i64,
    seen: Summary,
}

/// Where a ring's reader hands over what it says.
pub(crate) struct Outlet {
    ring: usize,
    parts: Sender<Part>,
    /// Each is room for one part.
    room: Receiver<()>,
}

impl Outlet {
    /// Hands over a part, once there is room for it: whatever the ring had before `until_ns` was read,
    /// and `seen` is all that was seen on it so far.
    pub(crate) fn hand_over(&self, said: Recording, until_ns: i64, seen: Summary) {
        // Nobody takes it any more once the tables have failed, which is told then.
        if self.room.recv().is_ok() {
            let _ = self.parts.send(Part { ring: self.ring, said, until_ns, seen });
        }
    }
}

/// What a reader's thread ends with.
type Ended = Result<(), RingError>;

/// Tells what all readers say.
pub(crate) struct Teller {
    parts: Receiver<Part>,
    /// What is not all told, as some ring is not read that far, and which ring's it is.
    said: Vec<Recording>,
    rings: Vec<usize>,
    /// Of each ring.
    until_ns: Vec<i64>,
    seen: Vec<Summary>,
    room: Vec<Sender<()>>,
    tables: Tables,
}

impl Teller {
    /// For so many rings; gives each of them its outlet.
    pub(crate) fn new(rings: usize, tables: Tables) -> (Self, Vec<Outlet>) {
        let (sender, parts) = channel();
        let share = (MOST_WAITING / rings).max(LEAST_WAITING);
        let outlet = |ring| {
            let (given_back, room) = channel();
            for _ in 0..share {
                let _ = given_back.send(());
            }
            (given_back, Outlet { ring, parts: sender.clone(), room })
        };
        let (room, outlets) = (0..rings).map(outlet).unzip();
        let (until_ns, seen) = (vec![0; rings], vec![Summary::default(); rings]);
        let (said, of) = (Vec::new(), Vec::new());
        (Self { parts, said, rings: of, until_ns, seen, room, tables }, outlets)
    }

    /// Tells until all readers have ended. Fails as soon as one has died: the others wait for it.
    pub(crate) fn run(mut self, mut readers: Vec<JoinHandle<Ended>>) -> Result<()> {
        let (mut tick, mut known) = (Moment::now(), Summary::default());
        loop {
            match self.parts.recv_timeout(Duration::from_millis(WAIT_MS as u64)) {
                Ok(part) => self.take(part),
                Err(RecvTimeoutError::Timeout) => check(&mut readers)?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if monotonic_ns() - tick.monotonic_ns >= SECOND_NS {
                check(&mut readers)?;
                (known, tick) = self.second(known, tick)?;
                self.tables.say(known.progress());
            }
        }
        readers.into_iter().try_for_each(end)?;
        let (mut last, _) = self.second(known, tick)?;
        last.visits = self.tables.visit_count();
        self.tables.finish()?;
        last.last();
        Ok(())
    }

    fn take(&mut self, part: Part) {
        self.until_ns[part.ring] = part.until_ns;
        self.seen[part.ring] = part.seen;
        self.said.push(part.said);
        self.rings.push(part.ring);
        let until_ns = self.until_ns.iter().copied().min().unwrap_or(0);
        tell(&mut self.said, until_ns, &mut self.tables);
        self.make_room();
    }

    /// Forgets what is told: its readers may hand over as much again.
    fn make_room(&mut self) {
        let Self { said, rings, room, .. } = self;
        let mut is_told = said.iter().map(Recording::is_told);
        rings.retain(|ring| {
            let is_told = is_told.next().unwrap_or_default();
            if is_told {
                // A reader that has ended hands over nothing any more.
                let _ = room[*ring].send(());
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::{sleep, spawn};
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
    fn visit(at_ns: i64) -> Recording {
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
            label: "GET /",
            status: None,
            bytes_in: 0,
            bytes_out: 0,
            id_hash: None,
            literals: &[],
        });
        said
    }

    /// Hands over a visit each nanosecond, and counts them.
    fn read(outlet: &Outlet, handed_over: &AtomicUsize) {
        for at_ns in 1..=MANY {
            outlet.hand_over(visit(at_ns), at_ns, Summary::default());
            handed_over.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn nothing_more(outlet: &Outlet) {
        outlet.hand_over(Recording::new(false), i64::MAX, Summary::default());
    }

    #[test]
    fn a_reader_that_is_ahead_waits_for_the_others() {
        let (_folder, tables) = tables();
        let (mut teller, mut outlets) = Teller::new(2, tables);
        let (behind, ahead) = (outlets.remove(0), outlets.remove(0));
        let handed_over = Arc::new(AtomicUsize::new(0));
        let counted = handed_over.clone();
        let reader = spawn(move || {
            read(&ahead, &counted);
            nothing_more(&ahead);
        });
        for _ in 0..MOST_WAITING / 2 {
            teller.take(teller.parts.recv().unwrap());
        }
        sleep(Duration::from_millis(50));
        assert!(teller.parts.try_recv().is_err());
        assert_eq!(handed_over.load(Ordering::Relaxed), MOST_WAITING / 2);
        assert_eq!((teller.said.len(), teller.tables.visit_count()), (MOST_WAITING / 2, 0));
        nothing_more(&behind);
        drop(behind);
        while let Ok(part) = teller.parts.recv() {
            teller.take(part);
        }
        reader.join().unwrap();
        assert_eq!((teller.said.len(), teller.tables.visit_count()), (0, MANY as u64));
        teller.tables.finish().unwrap();
    }

    #[test]
    fn where_a_reader_has_died_the_capture_ends() {
        let (_folder, tables) = tables();
        let (teller, mut outlets) = Teller::new(2, tables);
        let (dies, ahead) = (outlets.remove(0), outlets.remove(0));
        let readers = vec![
            spawn(move || -> Ended {
                drop(dies);
                panic!("it dies, as this test wants")
            }),
            spawn(move || {
                read(&ahead, &AtomicUsize::new(0));
                Ok(())
            }),
        ];
        let error = teller.run(readers).unwrap_err();
        assert_eq!(error.to_string(), "a thread that reads a ring died");
    }
}
