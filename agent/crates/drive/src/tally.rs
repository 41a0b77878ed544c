//! What one thread notes of its interactions: rows, and the figures of the present second and of
//! its part of the run. The journal adds up those of all threads.

use crate::flight::{Purpose, Record};
use crate::judgement::{Judgement, Times, times};
use crate::links;
use crate::plan::Plan;
use crate::script::Script;
use anyhow::Result;
use std::collections::BTreeMap;
use std::ops::Range;
use tierlab_record::Rows;
use tierlab_record::clock::{Moment, thread_cpu_ns};
use tierlab_record::tables::{RequestRow, Requests};

/// A second of one thread, or a few if it came late.
pub struct Second {
    /// The thread's number.
    pub thread: usize,
    /// Where the thread was at its end.
    pub standing: Standing,
    /// What happened in it.
    pub figures: Figures,
}

/// A thread's notes.
pub struct Tally {
    thread: usize,
    ids: bool,
    /// Whether what is in pages is fetched.
    images: bool,
    /// Whose users they are.
    system: Option<String>,
    requests: Rows<Requests>,
    figures: Figures,
    /// Since when those figures are, since the epoch, and what CPU time the thread had used.
    from_ns: i64,
    cpu_ns: i64,
    whole: Whole,
}

/// How far a thread is.
#[derive(Clone, Copy)]
pub struct Standing {
    /// Now.
    pub at: Moment,
    /// Whole seconds since the beginning of the run.
    pub seconds: i64,
    /// Users that have started.
    pub users: usize,
    /// Those of them that are there: all, where their number follows no curve.
    pub there: usize,
    /// Interactions under way.
    pub in_flight: usize,
}

/// What happened on a thread in one second, or in a few if it came late.
pub struct Figures {
    /// Interactions that failed, of those that ended.
    pub errors: u64,
    /// The response times of all that ended, together.
    pub total_ns: u128,
    /// How late the latest one started.
    pub largest_lag_ns: u64,
    /// Response times of those that ended.
    pub responses: Times,
    /// How late those were that started.
    pub lag: Times,
    /// CPU time used.
    pub cpu_ns: i64,
}

/// What happened on a thread in the whole run.
pub struct Whole {
    /// What the driver is judged by.
    pub judgement: Judgement,
    /// Interactions that failed, by the name of the error.
    pub errors: BTreeMap<String, u64>,
    /// Interactions recorded.
    pub recorded: u64,
    /// By interaction that failed so: where off the site a reply sent its user, scheme and host.
    pub sent_off: BTreeMap<String, String>,
    /// How often a page was requested.
    pub attempts: u64,
    /// Rows that statements gave.
    pub rows: u64,
}

/// How a thread's run ended.
pub struct End {
    /// When it started nothing any more, by the monotonic clock.
    pub left_ns: i64,
    /// What happened in all.
    pub whole: Whole,
    /// Sessions in which a request was sent.
    pub sessions: u64,
}

impl Figures {
    /// Of a second in which nothing has happened yet.
    pub fn new() -> Result<Self> {
        Ok(Self {
            errors: 0,
            total_ns: 0,
            largest_lag_ns: 0,
            responses: times()?,
            lag: times()?,
            cpu_ns: 0,
        })
    }

    /// Adds those of another thread, or of the second after.
    pub fn add(&mut self, other: &Self) -> Result<()> {
        self.errors += other.errors;
        self.total_ns += other.total_ns;
        self.largest_lag_ns = self.largest_lag_ns.max(other.largest_lag_ns);
        self.responses.add(&other.responses)?;
        self.lag.add(&other.lag)?;
        self.cpu_ns += other.cpu_ns;
        Ok(())
    }
}

impl Whole {
    /// Of a run in which nothing has happened yet.
    pub fn new() -> Result<Self> {
        Ok(Self {
            judgement: Judgement::new()?,
            errors: BTreeMap::new(),
            sent_off: BTreeMap::new(),
            recorded: 0,
            attempts: 0,
            rows: 0,
        })
    }

    /// Adds what happened on another thread.
    pub fn add(&mut self, other: Self) -> Result<()> {
        self.judgement.add(other.judgement)?;
        for (name, count) in other.errors {
            *self.errors.entry(name).or_default() += count;
        }
        self.sent_off.extend(other.sent_off);
        self.recorded += other.recorded;
        self.attempts += other.attempts;
        self.rows += other.rows;
        Ok(())
    }
}

impl Tally {
    /// The notes of the thread of this number.
    pub fn new(thread: usize, plan: &Plan, requests: Rows<Requests>) -> Result<Self> {
        Ok(Self {
            thread,
            ids: plan.request_ids,
            images: plan.images,
            system: plan.system.clone(),
            requests,
            figures: Figures::new()?,
            from_ns: 0,
            cpu_ns: 0,
            whole: Whole::new()?,
        })
    }

    /// The run begins, and the driver is judged by what happens in `judged` only. Both are
    /// nanoseconds since the epoch.
    pub fn begin(&mut self, began_ns: i64, judged: Range<i64>) {
        self.from_ns = began_ns;
        self.cpu_ns = thread_cpu_ns();
        self.whole.judgement.narrow(judged);
    }

    /// Notes how late an interaction started.
    pub fn started(&mut self, lag_ns: i64) {
        let lag = lag_ns.max(0) as u64;
        self.figures.lag.saturating_record(lag);
        self.figures.largest_lag_ns = self.figures.largest_lag_ns.max(lag);
    }

    /// Notes where off the site a reply sent the user of an interaction, which fails by that.
    pub fn sent_off(&mut self, script: &Script, state: u8, location: &[u8]) {
        let name = script.workload.states[usize::from(state)].shown();
        if !self.whole.sent_off.contains_key(name) {
            self.whole.sent_off.insert(name.to_owned(), links::origin(location));
        }
    }

    /// Records an interaction of the user `number` that ended at `end_ns`.
    pub fn ended(
        &mut self,
        script: &Script,
        number: u32,
        protocol: &str,
        record: &Record,
        end_ns: i64,
    ) {
        let error = record.failure.map(|(failure, purpose)| match purpose {
            Purpose::Page => failure.name().into_owned(),
            Purpose::Static => format!("static_{}", failure.name()),
            Purpose::Image => format!("image_{}", failure.name()),
        });
        let id = format!("{:016x}", record.request_id);
        let steps = (!record.steps.is_empty()).then(|| {
            let name = |state: &u8| script.workload.states[usize::from(*state)].name.as_str();
            record.steps.iter().map(name).collect::<Vec<_>>().join("+")
        });
        self.requests.push(RequestRow {
            user: number as i32,
            session: i64::from(number) * 1_000_000 + i64::from(record.session),
            interaction: script.workload.states[usize::from(record.state)].shown(),
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
            system: self.system.as_deref(),
            delay_ns: record.delay_ns,
            steps: steps.as_deref(),
            images_named: self.images.then_some(record.images_named),
            images: self.images.then_some(record.images),
            image_bytes: self.images.then_some(record.image_bytes),
            statics: self.images.then_some(record.statics),
            protocol: Some(protocol),
        });
        let judgement = &mut self.whole.judgement;
        judgement.interaction(record.intended_ns, record.start_ns, error.as_deref());
        let response_ns = (end_ns - record.start_ns).max(0) as u64;
        self.figures.responses.saturating_record(response_ns);
        self.figures.total_ns += u128::from(response_ns);
        self.whole.recorded += 1;
        self.whole.attempts += record.attempts as u64;
        self.whole.rows += record.rows;
        if let Some(error) = error {
            self.figures.errors += 1;
            *self.whole.errors.entry(error).or_default() += 1;
        }
    }

    /// Ends a second: what was recorded in it is handed over, and its figures are returned.
    pub fn second(&mut self, standing: Standing) -> Result<Second> {
        self.requests.hand_over();
        let cpu_ns = thread_cpu_ns();
        self.figures.cpu_ns = cpu_ns - self.cpu_ns;
        self.cpu_ns = cpu_ns;
        let now_ns = standing.at.t_ns;
        self.whole.judgement.second(self.from_ns..now_ns, self.figures.cpu_ns);
        self.from_ns = now_ns;
        let figures = std::mem::replace(&mut self.figures, Figures::new()?);
        Ok(Second { thread: self.thread, standing, figures })
    }

    /// What happened in the whole run.
    pub fn into_whole(self) -> Whole {
        self.whole
    }
}
