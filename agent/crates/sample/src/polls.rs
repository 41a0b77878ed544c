//! Servers that are asked about themselves, each by a thread of its own: one that is stopped or busy
//! answers late, which is seen in `poll_ns`, and keeps nobody else from sampling.

use crate::events::EventLog;
use crate::grid::Grid;
use crate::sampler::{Account, NotMeasured, Place, Task};
use anyhow::Result;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tierlab_record::clock::Moment;
use tierlab_record::priority::{self, Role};
use tierlab_record::{RecordError, Rows, Table, clock};

/// Longer than a server is ever stopped on purpose: its late answer is the true one.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server that is kept open.
pub trait Link<R>: Send {
    /// Asks the server; after an error the next call connects anew.
    fn read(&mut self) -> Result<R>;
}

/// What a server said of itself, for a table.
pub trait Reading: Copy + Default + Send + 'static {
    /// The table.
    type Table: Table + Send + 'static;

    /// Pushes the row of an answer: levels of this reading, and counts since the one before.
    fn push(&self, before: &Self, answer: Answer<'_>, table: &mut Self::Table);
}

/// An answer: when it had come, since when what it counts is counted, and how long it took.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Answer<'a> {
    pub subject: &'a str,
    pub t_ns: i64,
    pub dt_ns: i64,
    pub poll_ns: i64,
}

/// The running polls of all servers of a kind.
pub struct Polls<R: Reading> {
    shared: Arc<Shared<R>>,
}

/// What the polling threads and the session have in common.
struct Shared<R: Reading> {
    rows: Mutex<Rows<R::Table>>,
    cpu_ns: AtomicI64,
}

/// One server's poll.
struct Poll<R> {
    subject: String,
    link: Box<dyn Link<R>>,
    rows_end: Moment,
    before: Option<(Moment, R)>,
}

impl<R: Reading> Polls<R> {
    /// Asks every server once; those that do not answer are named if there is no other. If there is
    /// nobody to ask, the table has no rows.
    pub fn start(
        servers: impl IntoIterator<Item = (String, Box<dyn Link<R>>)>,
        interval_ns: i64,
        place: Place<'_>,
    ) -> Result<Result<Self, NotMeasured>, RecordError> {
        let mut reasons = Vec::new();
        let mut polls = Vec::new();
        for (subject, link) in servers {
            match Poll::open(subject.clone(), link) {
                Ok(poll) => polls.push(poll),
                Err(error) => reasons.push(format!("{subject}: {error:#}")),
            }
        }
        if polls.is_empty() && !reasons.is_empty() {
            return Ok(Err(NotMeasured(reasons.join("; "))));
        }
        let shared = Arc::new(Shared {
            rows: Mutex::new(place.writer.table(place.folder)?),
            cpu_ns: AtomicI64::new(0),
        });
        for poll in polls {
            let shared = shared.clone();
            std::thread::spawn(move || poll.run(interval_ns, &shared));
        }
        Ok(Ok(Self { shared }))
    }
}

impl<R: Reading> Task for Polls<R> {
    fn name(&self) -> &'static str {
        R::Table::NAME
    }

    /// Nothing: the threads have their own ticks.
    fn tick(&mut self, _now: &mut Moment, _events: &mut EventLog) {}

    fn hand_over(&mut self) {
        held(&self.shared.rows).hand_over();
    }

    /// Of the threads' time that which they have run: they wait for most of it.
    fn account(&self) -> Account {
        let rows = held(&self.shared.rows);
        let took_ns = self.shared.cpu_ns.load(Ordering::Relaxed);
        Account { took_ns, written_ns: rows.spent_ns(), lost_rows: rows.lost() }
    }

    fn missing_columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl<R: Reading> Poll<R> {
    fn open(subject: String, mut link: Box<dyn Link<R>>) -> Result<Self> {
        let reading = link.read()?;
        let now = Moment::now();
        Ok(Self { subject, link, rows_end: now, before: Some((now, reading)) })
    }

    /// Polls until the process ends.
    fn run(mut self, interval_ns: i64, shared: &Shared<R>) {
        priority::leave_signals_to_others();
        priority::take(Role::Observer);
        let mut grid = Grid::aligned(interval_ns, clock::monotonic_ns(), clock::realtime_ns());
        let mut cpu_ns = clock::thread_cpu_ns();
        loop {
            let _ = grid.wait();
            let began = Moment::now();
            let reading = self.link.read().ok();
            let now = Moment::now();
            self.push(held(&shared.rows).batch(), began, now, reading);
            let earlier = std::mem::replace(&mut cpu_ns, clock::thread_cpu_ns());
            shared.cpu_ns.fetch_add(cpu_ns - earlier, Ordering::Relaxed);
        }
    }

    /// A server that did not answer has a row too: how long it was waited for.
    fn push(&mut self, table: &mut R::Table, began: Moment, now: Moment, reading: Option<R>) {
        let (since, before) = match (&self.before, &reading) {
            (Some((since, before)), Some(_)) => (*since, *before),
            _ => (self.rows_end, R::default()),
        };
        let answer = Answer {
            subject: &self.subject,
            t_ns: now.t_ns,
            dt_ns: now.since(since),
            poll_ns: now.since(began),
        };
        reading.unwrap_or_default().push(&before, answer, table);
        self.rows_end = now;
        if let Some(reading) = reading {
            self.before = Some((now, reading));
        }
    }
}

/// What a lock holds; a thread that panicked has left it as good as before.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
