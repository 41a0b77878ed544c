//! Servers that are asked about themselves, each by a thread of its own: one that is stopped or busy
//! answers late, which is seen in `poll_ns`, and keeps nobody else from sampling.

use crate::events::EventLog;
use crate::grid::Grid;
use crate::sampler::{Account, NotMeasured, Place, Task};
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tierlab_record::clock::Moment;
use tierlab_record::priority::{self, Role};
use tierlab_record::{RecordError, Rows, Table, clock, held};

/// Longer than a server is ever stopped on purpose: its late answer is the true one.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The other tables wait no longer for some server to answer for the first time.
const FIRST_ANSWER: Duration = Duration::from_secs(1);

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
    silent: Arc<Silent>,
}

/// The servers that have not answered, and why.
type Silent = Mutex<BTreeMap<String, String>>;

/// A server that is asked for the first time.
struct First<R: Reading> {
    subject: String,
    link: Box<dyn Link<R>>,
    silent: Arc<Silent>,
    answered: Sender<()>,
    /// What it has in common with the others, once there is a table.
    shared: Receiver<Arc<Shared<R>>>,
}

/// One server's poll.
struct Poll<R> {
    subject: String,
    link: Box<dyn Link<R>>,
    rows_end: Moment,
    before: Option<(Moment, R)>,
}

impl<R: Reading> Polls<R> {
    /// Asks every server once. There is no table if all refuse; one that refuses beside others is not
    /// asked again. If there is nobody to ask, the table has no rows.
    pub fn start(
        servers: impl IntoIterator<Item = (String, Box<dyn Link<R>>)>,
        interval_ns: i64,
        place: Place<'_>,
    ) -> Result<Result<Self, NotMeasured>, RecordError> {
        let silent = Arc::<Silent>::default();
        let (answered, answers) = channel();
        let mut begun = Vec::new();
        for (subject, link) in servers {
            held(&silent).insert(subject.clone(), "it has not answered".to_owned());
            let (table, shared) = channel();
            let (silent, answered) = (silent.clone(), answered.clone());
            let first = First { subject, link, silent, answered, shared };
            std::thread::spawn(move || first.run(interval_ns));
            begun.push(table);
        }
        drop(answered);
        let all_are_through =
            answers.recv_timeout(FIRST_ANSWER) == Err(RecvTimeoutError::Disconnected);
        if let Some(reasons) = reasons(&silent).filter(|_| all_are_through) {
            return Ok(Err(NotMeasured(reasons)));
        }
        let rows = Mutex::new(place.writer.table(place.folder)?);
        let shared = Arc::new(Shared { rows, cpu_ns: AtomicI64::new(0), silent });
        for table in begun {
            // One that has refused takes it no more.
            let _ = table.send(shared.clone());
        }
        Ok(Ok(Self { shared }))
    }
}

/// Who has not answered, and why; none if all have.
fn reasons(silent: &Silent) -> Option<String> {
    let silent = held(silent);
    let each = silent.iter().map(|(subject, reason)| format!("{subject}: {reason}"));
    (!silent.is_empty()).then(|| each.collect::<Vec<_>>().join("; "))
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
        reasons(&self.shared.silent).map(|reasons| ("servers", reasons)).into_iter().collect()
    }
}

impl<R: Reading> First<R> {
    /// Asks, and polls from then on, unless it refuses or all do.
    fn run(self, interval_ns: i64) {
        priority::leave_signals_to_others();
        priority::take(Role::Observer);
        let Self { subject, mut link, silent, answered, shared } = self;
        let reading = match link.read() {
            Ok(reading) => reading,
            Err(error) => {
                held(&silent).insert(subject, format!("{error:#}"));
                return;
            }
        };
        let now = Moment::now();
        held(&silent).remove(&subject);
        let _ = answered.send(());
        if let Ok(shared) = shared.recv() {
            let before = Some((now, reading));
            Poll { subject, link, rows_end: now, before }.run(interval_ns, &shared);
        }
    }
}

impl<R: Reading> Poll<R> {
    /// Polls until the process ends.
    fn run(mut self, interval_ns: i64, shared: &Shared<R>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache;
    use anyhow::bail;
    use std::time::Instant;
    use tierlab_record::{WhenFull, Writer};

    /// A server that answers, one that refuses, and one that does neither.
    struct Scripted(Read);

    type Read = fn() -> Result<cache::Reading>;

    impl Link<cache::Reading> for Scripted {
        fn read(&mut self) -> Result<cache::Reading> {
            self.0()
        }
    }

    fn answers() -> Result<cache::Reading> {
        Ok(cache::Reading::default())
    }

    fn refuses() -> Result<cache::Reading> {
        bail!("connection refused")
    }

    fn is_silent() -> Result<cache::Reading> {
        std::thread::sleep(PATIENCE);
        bail!("it took too long")
    }

    fn start(
        servers: &[(&str, Read)],
        run: impl FnOnce(Result<Polls<cache::Reading>, NotMeasured>),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::start(WhenFull::Drop, Role::Ordinary).unwrap();
        let place = Place { writer: &writer, folder: folder.path() };
        let link = |it: &Read| -> Box<dyn Link<cache::Reading>> { Box::new(Scripted(*it)) };
        let servers = servers.iter().map(|(subject, it)| ((*subject).to_owned(), link(it)));
        run(Polls::start(servers, 10_000_000, place).unwrap());
    }

    fn soon(is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE / 2);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn one_that_does_not_answer_keeps_nobody_from_starting() {
        let began = Instant::now();
        start(&[("a", is_silent), ("b", answers)], |polls| {
            assert!(began.elapsed() < PATIENCE / 2);
            let polls = polls.unwrap();
            assert_eq!(polls.missing_columns(), [("servers", "a: it has not answered".to_owned())]);
            soon(|| !held(&polls.shared.rows).batch().is_empty());
        });
        start(&[("a", is_silent)], |polls| assert!(polls.is_ok()));
        assert!(began.elapsed() < PATIENCE / 2);
    }

    #[test]
    fn one_that_refuses_beside_others_is_named() {
        start(&[("a", answers), ("b", refuses)], |polls| {
            let polls = polls.unwrap();
            let expected = [("servers", "b: connection refused".to_owned())];
            soon(|| polls.missing_columns() == expected);
        });
    }

    #[test]
    fn there_is_no_table_only_if_all_refuse() {
        start(&[("a", refuses), ("b", refuses)], |polls| {
            let Err(NotMeasured(reasons)) = polls else { panic!("there is a table") };
            assert_eq!(reasons, "a: connection refused; b: connection refused");
        });
        start(&[], |polls| assert!(polls.unwrap().missing_columns().is_empty()));
    }
}
