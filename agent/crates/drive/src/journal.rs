//! What the driver writes down: interactions, phases, and its own lag and cost.

use crate::course::Ended;
use crate::flight::Record;
use crate::judgement::{Judgement, Times, at, times};
use crate::plan::Priority;
use crate::scheduling;
use crate::script::Script;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use tierlab_record::clock::process_cpu_ns;
use tierlab_record::priority::Scheduling;
use tierlab_record::status::say;
use tierlab_record::tables::{EventRow, Events, RequestRow, Requests};
use tierlab_record::{Rows, WhenFull, Writer};

/// The tables and the figures of one run.
pub struct Journal {
    writer: Writer,
    requests: Rows<Requests>,
    events: Rows<Events>,
    ids: bool,
    /// Of the present second.
    second: Second,
    judgement: Judgement,
    errors: BTreeMap<String, u64>,
    recorded: u64,
    attempts: u64,
    started_ns: i64,
    busiest_second: f64,
    scheduling: Scheduling,
}

struct Second {
    from_ns: i64,
    cpu_ns: i64,
    errors: u64,
    total_ns: u128,
    largest_lag_ns: u64,
    responses: Times,
    lag: Times,
}

/// What only the driver knows about the moment.
pub struct Moment<'a> {
    /// Now, since the epoch.
    pub now_ns: i64,
    /// Since the beginning of the phase.
    pub elapsed_ns: i64,
    /// The phase's name.
    pub phase: &'a str,
    /// Users that have started.
    pub users: usize,
    /// Interactions under way.
    pub in_flight: usize,
}

impl Journal {
    /// Creates the tables in `out`. `ids`: whether request ids were sent;
    /// `priority`: the driver's.
    pub fn create(out: &Path, ids: bool, priority: Priority, now_ns: i64) -> Result<Self> {
        // When much waits for the disk, the driver waits too, and its lag shows it.
        let writer = Writer::start(WhenFull::Wait, scheduling::role(priority))?;
        Ok(Self {
            requests: writer.table(out)?,
            events: writer.table_as(out, "drive.events")?,
            writer,
            ids,
            second: Second {
                from_ns: now_ns,
                cpu_ns: process_cpu_ns(),
                errors: 0,
                total_ns: 0,
                largest_lag_ns: 0,
                responses: times()?,
                lag: times()?,
            },
            judgement: Judgement::new()?,
            errors: BTreeMap::new(),
            recorded: 0,
            attempts: 0,
            started_ns: now_ns,
            busiest_second: 0.0,
            scheduling: Scheduling::default(),
        })
    }

    /// Judges the driver by what happens in `span`, nanoseconds since the epoch, only.
    pub fn judge(&mut self, span: Range<i64>) {
        self.judgement.narrow(span);
    }

    /// Notes how the driver is scheduled from now on.
    pub fn is_scheduled(&mut self, scheduling: Scheduling) {
        self.scheduling = scheduling;
    }

    /// Notes how late an interaction started.
    pub fn started(&mut self, lag_ns: i64) {
        let lag = lag_ns.max(0) as u64;
        self.second.lag.saturating_record(lag);
        self.second.largest_lag_ns = self.second.largest_lag_ns.max(lag);
    }

    /// Records an interaction of the user `number` that ended at `end_ns`.
    pub fn ended(
        &mut self,
        script: &Script,
        number: u32,
        record: &Record,
        end_ns: i64,
    ) -> Result<()> {
        let error = record.failure.map(|(failure, image)| {
            if image { format!("image_{}", failure.name()) } else { failure.name().into_owned() }
        });
        let id = format!("{:016x}", record.request_id);
        self.requests.push(RequestRow {
            user: number as i32,
            session: i64::from(number) * 1_000_000 + i64::from(record.session),
            interaction: &script.workload.states[usize::from(record.state)].name,
            request_id: self.ids.then_some(id.as_str()),
            intended_ns: record.intended_ns,
            start_ns: record.start_ns,
            connected_ns: record.connected_ns,
            first_byte_ns: record.first_byte_ns,
            end_ns,
            status: record.status.map(|status| status as i16),
            bytes: record.bytes as i64,
            error: error.as_deref(),
            attempts: record.attempts,
        });
        self.judgement.interaction(record.intended_ns, record.start_ns, error.as_deref());
        let response_ns = (end_ns - record.start_ns).max(0) as u64;
        self.second.responses.saturating_record(response_ns);
        self.second.total_ns += u128::from(response_ns);
        self.recorded += 1;
        self.attempts += record.attempts as u64;
        if let Some(error) = error {
            self.second.errors += 1;
            *self.errors.entry(error).or_default() += 1;
        }
        Ok(())
    }

    /// Records a phase.
    pub fn phase(&mut self, phase: &Ended<'_>) {
        self.events.push(EventRow {
            t_ns: phase.start_ns,
            duration_ns: phase.end_ns - phase.start_ns,
            kind: "phase",
            subject: phase.name,
            detail: "{}",
        });
    }

    /// Ends a second: its lag becomes an event, its figures a line on standard output, and what
    /// was recorded goes to disk. `requests` and `errors` are those that ended in it.
    pub fn second(&mut self, moment: &Moment<'_>) -> Result<()> {
        let cpu_ns = process_cpu_ns();
        let spent_ns = cpu_ns - self.second.cpu_ns;
        let length_ns = (moment.now_ns - self.second.from_ns).max(1);
        self.judgement.second(self.second.from_ns..moment.now_ns, spent_ns);
        if length_ns >= 500_000_000 {
            self.busiest_second = self.busiest_second.max(spent_ns as f64 / length_ns as f64);
        }
        let second = &self.second;
        let lag = json!({
            "starts": second.lag.len(),
            "p50_ns": at(&second.lag, 0.5),
            "p99_ns": at(&second.lag, 0.99),
            "max_ns": (!second.lag.is_empty()).then_some(second.largest_lag_ns),
            "cpu_ns": spent_ns,
        });
        self.events.push(EventRow {
            t_ns: second.from_ns,
            duration_ns: length_ns,
            kind: "driver_lag",
            subject: "driver",
            detail: &lag.to_string(),
        });
        let ended = second.responses.len();
        self.writer.say(json!({
            "t_ns": moment.now_ns,
            "phase": moment.phase,
            "elapsed_ns": moment.elapsed_ns,
            "users": moment.users,
            "requests": ended,
            "errors": second.errors,
            "mean_ns": (ended > 0).then(|| (second.total_ns / u128::from(ended)) as u64),
            "p99_ns": at(&second.responses, 0.99),
            "lag_p99_ns": at(&second.lag, 0.99),
            "in_flight": moment.in_flight,
        }));
        self.second.from_ns = moment.now_ns;
        self.second.cpu_ns = cpu_ns;
        self.second.errors = 0;
        self.second.total_ns = 0;
        self.second.largest_lag_ns = 0;
        self.second.responses.reset();
        self.second.lag.reset();
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<()> {
        self.requests.hand_over();
        self.events.hand_over();
        Ok(self.writer.check()?)
    }

    /// Ends the tables and says what the run was and cost. Lag, `runtime_cpu_share` and
    /// `bottleneck` are of the runtime, or of all phases when none has that name.
    pub fn finish(mut self, now_ns: i64, users: usize, sessions: u64) -> Result<()> {
        self.hand_over()?;
        self.writer.finish()?;
        let cpu_ns = process_cpu_ns();
        let wall_ns = (now_ns - self.started_ns).max(1);
        let cpu_share = cpu_ns as f64 / wall_ns as f64;
        let judged = &self.judgement;
        let why = judged.bottleneck(cpu_share);
        say(&json!({ "summary": {
            "requests": self.recorded,
            "errors": self.errors.values().sum::<u64>(),
            "errors_by_name": self.errors,
            "attempts": self.attempts,
            "users": users,
            "sessions": sessions,
            "scheduling": self.scheduling,
            "wall_ns": wall_ns,
            "cpu_ns": cpu_ns,
            "cpu_share": cpu_share,
            "busiest_second_cpu_share": self.busiest_second,
            "runtime_cpu_share": judged.cpu_share(),
            "lag_p50_ns": judged.lag(0.5),
            "lag_p99_ns": judged.lag(0.99),
            "lag_max_ns": judged.largest_lag_ns(),
            "bottleneck": why.is_some(),
            "why": why,
        }}));
        Ok(())
    }
}
