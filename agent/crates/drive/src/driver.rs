//! The event loop: one thread that starts what is due, waits for sockets and keeps the phases.

use crate::arrivals::ArrivalTimes;
use crate::course::Course;
use crate::deadlines::Deadlines;
use crate::flight::{Flight, Stage};
use crate::journal::{Journal, Moment};
use crate::judgement::judged_span;
use crate::plan::{Pace, Plan};
use crate::poll::Poll;
use crate::rules::Start;
use crate::scheduling;
use crate::script::Script;
use crate::session::User;
use crate::sources::Sources;
use crate::wire::Wire;
use anyhow::Result;
use serde_json::json;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;
use tierlab_record::clock::{monotonic_ns, realtime_ns};
use tierlab_record::status::say;
use tierlab_record::{Stop, priority};

/// Interactions started before sockets are looked at again: replies must not wait for a burst.
const STARTS_PER_TURN: usize = 32;
const EVENTS_PER_TURN: usize = 256;
const SECOND_NS: i64 = 1_000_000_000;
/// A user without a flight.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Real minus monotonic time; `None` when the reading was interrupted and would be off.
fn real_offset_ns() -> Option<i64> {
    const LONGEST_READING_NS: i64 = 2_000;
    let before = monotonic_ns();
    let real = realtime_ns();
    let after = monotonic_ns();
    (after - before <= LONGEST_READING_NS).then_some(real - (before + after) / 2)
}

/// Everything that one run needs. What is scheduled is monotonic time, what is recorded real time.
pub struct Driver {
    pub(crate) plan: Plan,
    pub(crate) script: Script,
    pub(crate) sources: Sources,
    pub(crate) wire: Wire,
    pub(crate) poll: Poll,
    pub(crate) journal: Journal,
    pub(crate) users: Vec<User>,
    /// By user: where its flight is.
    pub(crate) places: Vec<u32>,
    pub(crate) flights: Slab<Flight>,
    /// Flights that are not idle.
    pub(crate) in_flight: usize,
    /// When users start, go on or open again.
    pub(crate) schedule: BinaryHeap<Reverse<(i64, u32)>>,
    /// Sessions of the open loop that wait for an arrival, the longest-waiting first.
    pub(crate) idle: VecDeque<u32>,
    pub(crate) connect_deadlines: Deadlines,
    pub(crate) request_deadlines: Deadlines,
    /// Body buffers that nobody uses at the moment.
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) incoming: Box<[u8]>,
    pub(crate) outgoing: Vec<u8>,
    pub(crate) tokens: u32,
    /// Real minus monotonic time, taken anew at each turn.
    pub(crate) real_offset_ns: i64,
    next_second_ns: i64,
    arrivals: Option<ArrivalTimes>,
    started_users: usize,
    stop: Stop,
}

impl Driver {
    /// Prepares a run; `out` receives the tables.
    pub fn new(plan: Plan, script: Script, out: &Path, stop: Stop) -> Result<Self> {
        let users: Vec<User> =
            (0..plan.users).map(|number| User::new(&script, plan.seed, number)).collect();
        Ok(Self {
            sources: Sources::parse(&plan.sources, plan.target.address)?,
            wire: Wire::new(&plan),
            poll: Poll::new(EVENTS_PER_TURN)?,
            journal: Journal::create(out, plan.request_ids, plan.priority, realtime_ns())?,
            places: vec![NOWHERE; users.len()],
            users,
            flights: Slab::new(),
            in_flight: 0,
            schedule: BinaryHeap::new(),
            idle: VecDeque::new(),
            connect_deadlines: Deadlines::new(plan.timeouts.connect_ns),
            request_deadlines: Deadlines::new(plan.timeouts.request_ns),
            buffers: Vec::new(),
            incoming: vec![0; 64 << 10].into(),
            outgoing: Vec::with_capacity(4096),
            tokens: 0,
            real_offset_ns: real_offset_ns().unwrap_or_else(|| realtime_ns() - monotonic_ns()),
            next_second_ns: 0,
            arrivals: None,
            started_users: 0,
            stop,
            plan,
            script,
        })
    }

    /// Runs all phases, ends what is in flight and closes the tables.
    pub fn run(mut self) -> Result<()> {
        self.journal.is_scheduled(priority::take(scheduling::role(self.plan.priority)));
        let start_ns = monotonic_ns();
        self.set_out(start_ns);
        let phases = std::mem::take(&mut self.plan.phases);
        let start_real_ns = start_ns + self.real_offset_ns;
        self.journal.judge(judged_span(&phases, start_real_ns));
        let mut course = Course::new(phases, start_ns, start_real_ns);
        self.next_second_ns = start_ns + SECOND_NS;
        // The phases count from here: whoever acts at a point of them needs to know it.
        say(&json!({ "ready": true, "start_ns": start_real_ns }));
        while !self.stop.asked() {
            let now = monotonic_ns();
            self.keep_course(&mut course, now)?;
            if course.is_over() {
                // What was due in time is started, however late: who leaves it out hides a stall.
                while self.start_due(course.end_ns() - 1)? {}
                break;
            }
            let more = self.start_due(now)?;
            self.expire(now)?;
            let until = if more { now } else { self.next_wake(course.end_ns()) };
            self.attend(until - monotonic_ns())?;
        }
        if let Some(cut) = course.end(monotonic_ns()) {
            self.journal.phase(&cut);
        }
        self.end_flights(&course)
    }

    /// Schedules the users' first interactions.
    fn set_out(&mut self, start_ns: i64) {
        match self.plan.pace {
            Pace::Open { rate_per_s, arrivals } => {
                self.arrivals =
                    Some(ArrivalTimes::new(arrivals, rate_per_s, self.plan.seed, start_ns));
                self.idle.extend(0..self.plan.users);
            }
            Pace::Closed { .. } => {
                let over = match self.script.workload.rules.start {
                    Start::AtOnce => 0,
                    Start::Staggered => self.plan.phases[0].duration_ns,
                };
                let users = i128::from(self.plan.users);
                let at = |user: u32| (i128::from(user) * i128::from(over) / users) as i64;
                self.schedule
                    .extend((0..self.plan.users).map(|user| Reverse((start_ns + at(user), user))));
            }
        }
    }

    /// Ends phases and seconds that are over.
    fn keep_course(&mut self, course: &mut Course, now: i64) -> Result<()> {
        if now >= self.next_second_ns {
            self.end_second(course, now)?;
            self.next_second_ns += SECOND_NS * ((now - self.next_second_ns) / SECOND_NS + 1);
        }
        while let Some(ended) = course.advance(now) {
            self.journal.phase(&ended);
        }
        Ok(())
    }

    fn end_second(&mut self, course: &Course, now: i64) -> Result<()> {
        self.journal.second(&Moment {
            now_ns: now + self.real_offset_ns,
            elapsed_ns: now - course.start_ns(),
            phase: course.name(),
            users: self.started_users,
            in_flight: self.in_flight,
        })
    }

    /// Starts what is due. True when there is more than one turn should do.
    fn start_due(&mut self, now: i64) -> Result<bool> {
        for _ in 0..STARTS_PER_TURN {
            let scheduled = self.schedule.peek().map(|Reverse(due)| *due);
            if let Some((due, user)) = scheduled.filter(|(due, _)| *due <= now) {
                self.schedule.pop();
                self.go_on(user, due)?;
            } else if let Some(due) = self.arrival_due(now) {
                let user = self.idle.pop_front().unwrap_or_else(|| self.add_session());
                self.begin(user, due)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn arrival_due(&mut self, now: i64) -> Option<i64> {
        let arrivals = self.arrivals.as_mut()?;
        let due = arrivals.next_ns();
        (due <= now).then(|| {
            arrivals.advance();
            due
        })
    }

    /// A session more for the open loop.
    fn add_session(&mut self) -> u32 {
        let number = self.users.len() as u32;
        self.users.push(User::new(&self.script, self.plan.seed, number));
        self.places.push(NOWHERE);
        number
    }

    /// The user's time has come: to begin an interaction, or to open one again.
    fn go_on(&mut self, user: u32, due: i64) -> Result<()> {
        let place = self.places[user as usize] as usize;
        match self.flights.get(place) {
            Some(flight) if flight.stage == Stage::Pausing => self.exchange(place),
            _ => self.begin(user, due),
        }
    }

    fn begin(&mut self, user: u32, intended_ns: i64) -> Result<()> {
        if self.users[user as usize].is_new() {
            self.started_users += 1;
        }
        let place = match self.places[user as usize] {
            NOWHERE => {
                let place = self.flights.insert(Flight::new(user));
                self.places[user as usize] = place as u32;
                place
            }
            place => place as usize,
        };
        self.in_flight += 1;
        self.start_page(place, intended_ns)
    }

    fn next_wake(&self, phase_end_ns: i64) -> i64 {
        [
            self.schedule.peek().map(|Reverse((due, _))| *due),
            self.arrivals.as_ref().map(ArrivalTimes::next_ns),
            self.connect_deadlines.next_ns(),
            self.request_deadlines.next_ns(),
        ]
        .into_iter()
        .flatten()
        .fold(phase_end_ns.min(self.next_second_ns), i64::min)
    }

    /// Waits for sockets, at most `timeout_ns`, and serves them.
    fn attend(&mut self, timeout_ns: i64) -> Result<()> {
        let count = self.poll.wait(timeout_ns)?;
        self.real_offset_ns = real_offset_ns().unwrap_or(self.real_offset_ns);
        for place in 0..count {
            let ready = self.poll.ready(place);
            self.serve(ready)?;
        }
        Ok(())
    }

    /// Lets what is in flight end within the grace, cuts the rest and closes the tables.
    fn end_flights(mut self, course: &Course) -> Result<()> {
        self.schedule.clear();
        self.arrivals = None;
        let until = monotonic_ns() + self.plan.grace_ns;
        while self.in_flight > 0 && monotonic_ns() < until {
            let now = monotonic_ns();
            self.expire(now)?;
            // Who thinks now will never go on, and who pauses will not open again.
            self.schedule.clear();
            let next = [self.connect_deadlines.next_ns(), self.request_deadlines.next_ns()];
            let wake = next.into_iter().flatten().fold(until, i64::min);
            self.attend(wake - now)?;
        }
        let places: Vec<usize> = self
            .flights
            .iter()
            .filter(|(_, flight)| flight.stage != Stage::Idle)
            .map(|(place, _)| place)
            .collect();
        for place in places {
            self.cut(place)?;
        }
        let now = monotonic_ns();
        self.end_second(course, now)?;
        let sessions = self.users.iter().map(|user| u64::from(user.sessions_played())).sum();
        self.journal.finish(now + self.real_offset_ns, self.started_users, sessions)
    }
}
