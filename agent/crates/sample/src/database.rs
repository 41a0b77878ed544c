//! Table `database`: a database server's own counters, asked for over its UNIX socket (no message of
//! it is on the wire that the tracer sees). Each server has a thread of its own: one that is stopped
//! or busy answers late, which is seen in `poll_ns`, and keeps nobody else from sampling.

mod link;
mod mariadb;
mod postgresql;
mod postgresql_session;
mod reading;

use crate::counter::grown;
use crate::events::EventLog;
use crate::grid::Grid;
use crate::plan::{DatabaseServer, Plan};
use crate::sampler::{Account, NotMeasured, Place, Task};
use link::Link;
use reading::{Counters, Reading};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tierlab_record::clock::Moment;
use tierlab_record::priority::{self, Role};
use tierlab_record::tables::{Database, DatabaseRow};
use tierlab_record::{RecordError, Rows, Table, clock};

const NS_PER_MS: i64 = 1_000_000;

/// The running polls of all servers.
pub struct DatabasePolls {
    shared: Arc<Shared>,
}

/// What the polling threads and the session have in common.
struct Shared {
    rows: Mutex<Rows<Database>>,
    cpu_ns: AtomicI64,
}

/// One server's poll.
struct Poll {
    subject: String,
    link: Box<dyn Link + Send>,
    rows_end: Moment,
    before: Option<(Moment, Reading)>,
}

impl DatabasePolls {
    /// Logs in to every server; those that refuse are named if there is no other.
    pub fn start(plan: &Plan, place: Place<'_>) -> Result<Result<Self, NotMeasured>, RecordError> {
        let mut reasons = Vec::new();
        let mut polls = Vec::new();
        for server in &plan.databases {
            match Poll::open(server) {
                Ok(poll) => polls.push(poll),
                Err(NotMeasured(reason)) => reasons.push(format!("{}: {reason}", server.subject)),
            }
        }
        if polls.is_empty() {
            let none = "the plan names no database server".to_owned();
            let reason = if reasons.is_empty() { none } else { reasons.join("; ") };
            return Ok(Err(NotMeasured(reason)));
        }
        let shared = Arc::new(Shared {
            rows: Mutex::new(place.writer.table(place.folder)?),
            cpu_ns: AtomicI64::new(0),
        });
        for poll in polls {
            let (shared, interval_ns) = (shared.clone(), plan.database_interval_ns);
            std::thread::spawn(move || poll.run(interval_ns, &shared));
        }
        Ok(Ok(Self { shared }))
    }
}

impl Task for DatabasePolls {
    fn name(&self) -> &'static str {
        Database::NAME
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

impl Poll {
    fn open(server: &DatabaseServer) -> Result<Self, NotMeasured> {
        let mut link = link::to(server);
        let reading = link.read().map_err(|error| NotMeasured(format!("{error:#}")))?;
        let now = Moment::now();
        let subject = server.subject.clone();
        Ok(Self { subject, link, rows_end: now, before: Some((now, reading)) })
    }

    /// Polls until the process ends.
    fn run(mut self, interval_ns: i64, shared: &Shared) {
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
    fn push(&mut self, table: &mut Database, began: Moment, now: Moment, reading: Option<Reading>) {
        let (since, before) = match (&self.before, &reading) {
            (Some((since, before)), Some(_)) => (*since, *before),
            _ => (self.rows_end, Reading::default()),
        };
        let Reading { levels, counters } = reading.unwrap_or_default();
        let count = |of: fn(&Counters) -> Option<u64>, unit| {
            grown(of(&before.counters), of(&counters), unit)
        };
        table.push(DatabaseRow {
            t_ns: now.t_ns,
            dt_ns: now.since(since),
            subject: &self.subject,
            poll_ns: now.since(began),
            threads_connected: levels.threads_connected,
            threads_running: levels.threads_running,
            idle_in_transaction: levels.idle_in_transaction,
            row_lock_waiting: levels.row_lock_waiting,
            row_lock_waits: count(|it| it.row_lock_waits, 1),
            row_lock_time_ns: count(|it| it.row_lock_time_ms, NS_PER_MS),
            table_lock_waiting: levels.table_lock_waiting,
            table_lock_waits: count(|it| it.table_lock_waits, 1),
            log_waits: count(|it| it.log_waits, 1),
            pending_fsyncs: levels.pending_fsyncs,
            pending_reads: levels.pending_reads,
            pending_writes: levels.pending_writes,
            data_reads: count(|it| it.data_reads, 1),
            data_writes: count(|it| it.data_writes, 1),
            data_fsyncs: count(|it| it.data_fsyncs, 1),
            buffer_pool_hits: count(|it| it.buffer_pool_hits, 1),
            buffer_pool_waits: count(|it| it.buffer_pool_waits, 1),
            temporary_bytes: count(|it| it.temporary_bytes, 1),
            checkpoints_running: levels.checkpoints_running,
            checkpoint_age: levels.checkpoint_age,
            pages_flushed: count(|it| it.pages_flushed, 1),
            vacuums_running: levels.vacuums_running,
            workers_running: levels.workers_running,
            aborted_connections: count(|it| it.aborted_connections, 1),
            refused_connections: count(|it| it.refused_connections, 1),
        });
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
