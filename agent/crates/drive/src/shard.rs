//! One thread's event loop: it starts what is due, waits for sockets, and ends with the run.

use crate::arrivals::ArrivalTimes;
use crate::cancels::Cancels;
use crate::curve::Curve;
use crate::deadlines::Deadlines;
use crate::destination::Destinations;
use crate::flight::Flight;
use crate::halt::Halt;
use crate::journal::Journal;
use crate::judgement::judged_span;
use crate::plan::Plan;
use crate::poll::Poll;
use crate::replay::Replay;
use crate::scheduling;
use crate::script::Script;
use crate::session::User;
use crate::share::Share;
use crate::sources::Sources;
use crate::tally::{End, Standing, Tally};
use anyhow::Result;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tierlab_record::Rows;
use tierlab_record::clock::{Moment, monotonic_ns, realtime_ns};
use tierlab_record::priority::Scheduling;
use tierlab_record::tables::Requests;

const EVENTS_PER_TURN: usize = 256;
pub(crate) const SECOND_NS: i64 = 1_000_000_000;
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

/// What all threads of a run have in common.
pub struct Common {
    /// The plan.
    pub plan: Plan,
    /// What users do.
    pub script: Script,
    /// How many there are when; always all when `None`.
    pub curve: Option<Curve>,
    /// Whether to leave early.
    pub halt: Halt,
    /// How many threads drive.
    pub threads: u32,
    /// How many cores the driver may use.
    pub cores: u32,
}

/// Now, by both clocks.
pub fn now() -> Moment {
    let offset_ns = real_offset_ns().unwrap_or_else(|| realtime_ns() - monotonic_ns());
    let monotonic_ns = monotonic_ns();
    Moment { t_ns: monotonic_ns + offset_ns, monotonic_ns }
}

/// A part of the users and everything that drives them. Users are known by their place in the
/// share; their number among all users seeds them, and is what is recorded. What is scheduled is
/// monotonic time, what is recorded real time.
pub struct Shard {
    pub(crate) common: Arc<Common>,
    pub(crate) share: Share,
    pub(crate) sources: Sources,
    pub(crate) destinations: Destinations,
    pub(crate) poll: Poll,
    pub(crate) tally: Tally,
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
    /// Requests to give up statements that took too long.
    pub(crate) cancels: Cancels,
    /// Body buffers that nobody uses at the moment.
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) incoming: Box<[u8]>,
    pub(crate) outgoing: Vec<u8>,
    pub(crate) tokens: u32,
    /// Real minus monotonic time, taken anew at each turn.
    pub(crate) real_offset_ns: i64,
    pub(crate) began_ns: i64,
    /// When the last phase ends.
    end_ns: i64,
    next_second_ns: i64,
    pub(crate) arrivals: Option<ArrivalTimes>,
    /// How far recorded visits are.
    pub(crate) replay: Replay,
    pub(crate) started_users: usize,
    /// Where users follow a curve: those there at first who have not begun yet.
    pub(crate) coming: usize,
}

impl Shard {
    /// Prepares the users of `share`. What they do goes to `requests`.
    pub fn new(common: Arc<Common>, share: Share, requests: Rows<Requests>) -> Result<Self> {
        let plan = &common.plan;
        let poll = Poll::new(EVENTS_PER_TURN)?;
        poll.add(common.halt.fd(), u64::MAX, false)?;
        Ok(Self {
            sources: Sources::parse(&plan.sources, plan.targets[0].address)?,
            destinations: Destinations::new(plan),
            poll,
            tally: Tally::new(share.first as usize, plan, requests)?,
            places: Vec::new(),
            users: Vec::new(),
            flights: Slab::new(),
            in_flight: 0,
            schedule: BinaryHeap::new(),
            idle: VecDeque::new(),
            connect_deadlines: Deadlines::new(plan.timeouts.connect_ns),
            request_deadlines: Deadlines::new(plan.timeouts.request_ns),
            cancels: Cancels::default(),
            buffers: Vec::new(),
            incoming: vec![0; 64 << 10].into(),
            outgoing: Vec::with_capacity(4096),
            tokens: 0,
            real_offset_ns: 0,
            began_ns: 0,
            end_ns: 0,
            next_second_ns: 0,
            arrivals: None,
            replay: Replay::default(),
            started_users: 0,
            coming: 0,
            share,
            common,
        })
    }

    /// Takes the calling thread's priority and makes the users, which is what takes long of the
    /// preparation. Returns how the thread is scheduled.
    pub fn settle(&mut self) -> Scheduling {
        let Common { plan, threads, cores, .. } = &*self.common;
        let scheduling = scheduling::take_turn(plan.priority, *threads, *cores);
        let count = self.share.count(self.common.plan.users);
        self.users.reserve_exact(count as usize);
        self.places.reserve_exact(count as usize);
        for _ in 0..count {
            self.add_user();
        }
        scheduling
    }

    /// Runs all phases from `began` on and ends what is in flight.
    pub fn run(mut self, began: Moment, journal: &Mutex<Journal>) -> Result<()> {
        self.set_out(began);
        while !self.common.halt.asked() {
            let now = monotonic_ns();
            self.keep_seconds(now, journal)?;
            if now >= self.end_ns {
                // What was due in time is started, however late: who leaves it out hides a stall.
                while self.start_due(self.end_ns - 1)? {}
                break;
            }
            let more = self.start_due(now)?;
            self.expire(now)?;
            let until = if more { now } else { self.next_wake() };
            self.attend(until - monotonic_ns())?;
        }
        // A signal may have interrupted this thread only.
        if self.common.halt.asked() {
            self.common.halt.call();
        }
        let left_ns = monotonic_ns();
        self.end_flights()?;
        self.finish(left_ns, journal)
    }

    /// Schedules the users' first interactions.
    fn set_out(&mut self, began: Moment) {
        self.real_offset_ns = began.t_ns - began.monotonic_ns;
        self.began_ns = began.monotonic_ns;
        self.next_second_ns = began.monotonic_ns + SECOND_NS;
        let plan = &self.common.plan;
        let length_ns: i64 = plan.phases.iter().map(|phase| phase.duration_ns).sum();
        self.end_ns = began.monotonic_ns + length_ns;
        self.tally.begin(began.t_ns, judged_span(&plan.phases, began.t_ns));
        self.schedule_starts(began.monotonic_ns);
    }

    /// Ends seconds that are over.
    fn keep_seconds(&mut self, now: i64, journal: &Mutex<Journal>) -> Result<()> {
        if now >= self.next_second_ns {
            let second = self.tally.second(self.standing(now))?;
            held(journal).second(second)?;
            self.next_second_ns += SECOND_NS * ((now - self.next_second_ns) / SECOND_NS + 1);
        }
        Ok(())
    }

    fn standing(&self, now: i64) -> Standing {
        let seconds = (now - self.began_ns) / SECOND_NS;
        // As the last whole second ended: a curve may jump where the next one begins.
        let ended_ns = self.began_ns + seconds * SECOND_NS - 1;
        Standing {
            at: Moment { t_ns: now + self.real_offset_ns, monotonic_ns: now },
            seconds,
            users: self.started_users,
            there: self.users_there(ended_ns),
            in_flight: self.in_flight,
        }
    }

    fn next_wake(&self) -> i64 {
        [
            self.schedule.peek().map(|Reverse((due, _))| *due),
            self.arrivals.as_ref().map(ArrivalTimes::next_ns),
            self.connect_deadlines.next_ns(),
            self.request_deadlines.next_ns(),
        ]
        .into_iter()
        .flatten()
        .fold(self.end_ns.min(self.next_second_ns), i64::min)
    }

    /// Waits for sockets, at most `timeout_ns`, and serves them.
    fn attend(&mut self, timeout_ns: i64) -> Result<()> {
        let count = self.poll.wait(timeout_ns)?;
        self.real_offset_ns = real_offset_ns().unwrap_or(self.real_offset_ns);
        for place in 0..count {
            let ready = self.poll.ready(place);
            match Cancels::of(ready) {
                Some(number) => self.cancels.go_on(number, ready),
                None => self.serve(ready)?,
            }
        }
        Ok(())
    }

    /// Lets what is in flight end within the grace, and cuts the rest.
    fn end_flights(&mut self) -> Result<()> {
        self.schedule.clear();
        self.arrivals = None;
        let until = monotonic_ns() + self.common.plan.grace_ns;
        loop {
            let now = monotonic_ns();
            self.expire(now)?;
            if self.in_flight == 0 || now >= until {
                break;
            }
            // Who thinks now will never go on, and who pauses will not open again.
            self.schedule.clear();
            let next = [self.connect_deadlines.next_ns(), self.request_deadlines.next_ns()];
            let wake = next.into_iter().flatten().fold(until, i64::min);
            self.attend(wake - now)?;
        }
        let places: Vec<usize> = self
            .flights
            .iter()
            .filter(|(_, flight)| flight.is_under_way())
            .map(|(place, _)| place)
            .collect();
        for place in places {
            self.cut(place)?;
        }
        Ok(())
    }

    /// Tells the journal the rest.
    fn finish(mut self, left_ns: i64, journal: &Mutex<Journal>) -> Result<()> {
        let own = |place: &u32| self.replay.owner(*place) == *place;
        let places = (0..self.users.len() as u32).filter(own);
        let played = |place: u32| u64::from(self.users[place as usize].sessions_played());
        let sessions = places.map(played).sum();
        let second = self.tally.second(self.standing(monotonic_ns()))?;
        let end = End { left_ns, whole: self.tally.into_whole(), sessions };
        held(journal).end(second, end);
        Ok(())
    }
}

/// The journal, which a thread that panicked has left as good as before.
fn held(journal: &Mutex<Journal>) -> MutexGuard<'_, Journal> {
    journal.lock().unwrap_or_else(PoisonError::into_inner)
}
