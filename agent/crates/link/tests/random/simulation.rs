//! A discrete-event simulation of an application: its visits as a capture shows them, and the truth.

use super::application::{Application, Connections, Page};
use super::under_way::{Call, State, Task};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tierlab_link::{Span, Visit};

/// Visits in the order of departure, and the parents of those that have one.
#[derive(Default)]
pub struct Capture {
    pub visits: Vec<Visit>,
    pub parents: BTreeMap<i64, i64>,
    /// Requests under way, on average over time.
    pub under_way: f64,
}

/// A caller gives up on a call after so long.
const PATIENCE_NS: i64 = 30_000_000;

#[derive(Clone, Copy)]
enum Event {
    Request(Option<usize>),
    Background(usize),
    /// A task's work is done.
    Worked(usize),
    /// A task's caller gives up, if it still waits.
    GivenUp(usize),
}

pub struct Simulation<'a> {
    application: &'a Application,
    random: StdRng,
    now_ns: i64,
    events: BinaryHeap<Reverse<(i64, usize, u8)>>,
    kinds: Vec<Event>,
    tasks: Vec<Task>,
    states: Vec<State>,
    servers: Vec<Vec<u16>>,
    capture: Capture,
    requests: usize,
    under_way: usize,
    under_way_ns: f64,
    pause_ns: f64,
    next_connection: i64,
}

/// Simulates until about so many calls are captured.
pub fn simulate(application: &Application, seed: u64, calls: usize) -> Capture {
    // A pilot with one user tells how long a response takes, and what it needs.
    let mut pilot = Simulation::new(application, seed ^ 0x5eed);
    pilot.states.iter_mut().for_each(|it| (it.pool, _) = (1_000, it.grow(1_000)));
    pilot.run_users(1, 0.0, 600);
    let response_ns = (pilot.now_ns as f64 / pilot.requests.max(1) as f64).max(1e4);
    let mut it = Simulation::new(application, seed);
    for (at, tier) in application.tiers.iter().enumerate() {
        let share = |used_ns: f64| application.under_way * used_ns / pilot.now_ns as f64;
        it.states[at].pool = (share(pilot.states[at].used_ns) * tier.room).ceil() as usize + 1;
        it.states[at].grow((share(pilot.states[at].busy_ns) * tier.spare).ceil() as usize + 1);
    }
    it.states[0].grow((4.0 * application.under_way) as usize + 20);
    match application.think {
        Some(think) => {
            let users = (application.under_way * (1.0 + think)).round().max(1.0);
            let think_ns = (response_ns * (users / application.under_way - 1.0)).max(0.0);
            it.run_users(users as usize, think_ns, calls);
        }
        None => it.run_open(response_ns / application.under_way, calls),
    }
    it.capture.visits.sort_by_key(|visit| visit.ended_ns);
    it.capture.under_way = it.under_way_ns / it.now_ns as f64;
    it.capture
}

impl<'a> Simulation<'a> {
    fn new(application: &'a Application, seed: u64) -> Self {
        let topology = application.topology();
        let number = |name: &String| topology.names().iter().position(|it| it == name);
        let servers = (0..application.tiers.len())
            .map(|tier| {
                let names = application.servers(tier);
                // A tier that nobody calls is never visited.
                names.iter().map(|it| number(it).unwrap_or(0) as u16).collect()
            })
            .collect();
        Self {
            application,
            random: StdRng::seed_from_u64(seed),
            now_ns: 0,
            events: BinaryHeap::new(),
            kinds: Vec::new(),
            tasks: Vec::new(),
            states: application.tiers.iter().map(|_| State::default()).collect(),
            servers,
            capture: Capture::default(),
            requests: 0,
            under_way: 0,
            under_way_ns: 0.0,
            pause_ns: 0.0,
            next_connection: 0,
        }
    }

    fn run_users(&mut self, users: usize, think_ns: f64, calls: usize) {
        self.pause_ns = think_ns;
        for user in 0..users {
            let at_ns = (think_ns + 1e6) * user as f64 / users as f64;
            self.schedule(at_ns as i64, Event::Request(Some(user)));
        }
        self.run(calls);
    }

    fn run_open(&mut self, pause_ns: f64, calls: usize) {
        self.pause_ns = pause_ns;
        self.schedule(0, Event::Request(None));
        self.run(calls);
    }

    fn run(&mut self, calls: usize) {
        for at in 0..self.application.background.len() {
            self.schedule(0, Event::Background(at));
        }
        while let Some(Reverse((at_ns, kind, _))) = self.events.pop() {
            let passed_ns = (at_ns - self.now_ns) as f64;
            self.under_way_ns += passed_ns * self.under_way as f64;
            for state in &mut self.states {
                state.used_ns += passed_ns * state.in_use as f64;
                state.busy_ns += passed_ns * (state.size - state.threads.len()) as f64;
            }
            self.now_ns = at_ns;
            match self.kinds[kind] {
                Event::Request(user) => self.request(user),
                Event::Background(at) => self.background(at),
                Event::Worked(task) => self.proceed(task),
                Event::GivenUp(task) => self.give_up(task),
            }
            let is_over = self.capture.parents.len() >= calls || self.requests > 2 * calls;
            if is_over || self.now_ns > 1_000_000_000_000 {
                break;
            }
        }
    }

    fn schedule(&mut self, at_ns: i64, event: Event) {
        self.kinds.push(event);
        self.events.push(Reverse((at_ns, self.kinds.len() - 1, 0)));
    }

    fn pause(&mut self) -> i64 {
        let drawn: f64 = Exp1.sample(&mut self.random);
        (self.pause_ns * drawn) as i64
    }

    fn request(&mut self, user: Option<usize>) {
        if user.is_none() {
            let next_ns = self.now_ns + self.pause();
            self.schedule(next_ns, Event::Request(None));
        }
        self.under_way += 1;
        self.requests += 1;
        let pages: Vec<usize> = (0..self.application.tiers[0].pages.len()).collect();
        let weight = |&page: &usize| self.application.tiers[0].pages[page].weight;
        let page = *pages.choose_weighted(&mut self.random, weight).expect("weights are positive");
        let literal = match self.application.literals {
            0 => 0,
            // Small values are far more common.
            most => 1 + (self.random.random::<f64>().powi(2) * most as f64) as u64,
        };
        let connection = user.map_or(1_000_000 + self.requests as i64, |user| user as i64);
        let task = self.task(0, page, None, (connection, literal));
        self.tasks[task].user = user;
        self.arrive(task);
    }

    fn background(&mut self, at: usize) {
        let it = &self.application.background[at];
        let next_ns = self.now_ns + it.pause.sample_ns(&mut self.random);
        self.schedule(next_ns, Event::Background(at));
        let calls = it.calls.iter().rev();
        let steps = calls
            .map(|&(tier, page)| (200_000, vec![Call { tier, page, is_given_up: false }]))
            .collect();
        let task = self.task(0, 0, None, (0, 0));
        let task_state = &mut self.tasks[task];
        (task_state.number, task_state.steps, task_state.last_ns) = (None, steps, 0);
        self.start(task, 1_000_000 + at);
    }

    fn task(
        &mut self,
        tier: usize,
        page: usize,
        caller: Option<usize>,
        (connection, literal): (i64, u64),
    ) -> usize {
        let it = &self.application.tiers[tier].pages[page];
        let steps = self.script(it);
        let server = *self.servers[tier].choose(&mut self.random).expect("each tier has one");
        self.tasks.push(Task {
            tier,
            number: Some(self.tasks.len() as i64),
            server,
            label: it.label,
            caller,
            user: None,
            connection,
            thread: 0,
            arrival_ns: self.now_ns,
            steps,
            last_ns: it.last.sample_ns(&mut self.random),
            pending: 0,
            literal,
            leases: BTreeMap::new(),
            awaited: true,
        });
        self.tasks.len() - 1
    }

    /// What one visit of a page does, the last step first.
    fn script(&mut self, page: &Page) -> Vec<(i64, Vec<Call>)> {
        let mut script = Vec::new();
        for step in &page.steps {
            if !self.random.random_bool(step.kept) {
                continue;
            }
            let mut left = step.times;
            while left > 0 {
                left -= 1;
                let calls: Vec<Call> = (step.calls.iter())
                    .map(|&(tier, page)| Call { tier, page, is_given_up: false })
                    .collect();
                script.push((step.work.sample_ns(&mut self.random), calls));
                if self.random.random_bool(step.retried) {
                    let given_up = self.random.random_bool(0.5);
                    let last = script.len() - 1;
                    let again = script[last].1.clone();
                    script[last].1.iter_mut().for_each(|it| it.is_given_up = given_up);
                    script.push((step.work.sample_ns(&mut self.random), again));
                }
                if left == 0 && self.random.random_bool(step.again) {
                    left = 1;
                }
            }
        }
        script.reverse();
        script
    }

    fn arrive(&mut self, task: usize) {
        self.tasks[task].arrival_ns = self.now_ns;
        let state = &mut self.states[self.tasks[task].tier];
        match state.threads.pop() {
            Some(thread) => self.start(task, thread),
            None => state.waiting.push_back(task),
        }
    }

    fn start(&mut self, task: usize, thread: usize) {
        self.tasks[task].thread = thread;
        self.work(task);
    }

    fn work(&mut self, task: usize) {
        let it = &self.tasks[task];
        let work_ns = it.steps.last().map_or(it.last_ns, |step| step.0);
        self.schedule(self.now_ns + work_ns, Event::Worked(task));
    }

    fn proceed(&mut self, task: usize) {
        let Some((_, calls)) = self.tasks[task].steps.pop() else { return self.finish(task) };
        self.tasks[task].pending = calls.len();
        for call in calls {
            self.call(task, call);
        }
    }

    fn call(&mut self, caller: usize, call: Call) {
        let connections = self.application.tiers[call.tier].connections;
        let thread = self.tasks[caller].thread as i64;
        let is_alone = self.tasks[caller].number.is_none();
        let state = &mut self.states[call.tier];
        let connection = match connections {
            _ if is_alone => Some(900_000 + thread),
            Connections::Fresh => None,
            Connections::PerThread if self.tasks[caller].pending == 1 => Some(500_000 + thread),
            Connections::PerThread => None,
            Connections::PerRequest { .. }
                if self.tasks[caller].leases.contains_key(&call.tier)
                    && self.tasks[caller].pending == 1 =>
            {
                self.tasks[caller].leases.get(&call.tier).copied()
            }
            Connections::PerRequest { .. } if self.tasks[caller].pending > 1 => None,
            _ => match state.idle.pop_front() {
                Some(idle) => Some(idle),
                None if state.opened < state.pool => {
                    state.opened += 1;
                    Some(state.opened as i64)
                }
                None => return state.for_connection.push_back((caller, call)),
            },
        };
        let fresh = 1_000_000 + self.next_connection;
        self.next_connection += i64::from(connection.is_none());
        self.send(caller, call, connection.unwrap_or(fresh));
    }

    fn send(&mut self, caller: usize, call: Call, connection: i64) {
        if matches!(self.application.tiers[call.tier].connections, Connections::PerRequest { .. })
            && connection < 500_000
        {
            self.tasks[caller].leases.insert(call.tier, connection);
        }
        self.states[call.tier].in_use += 1;
        let literal = self.tasks[caller].literal;
        let task = self.task(call.tier, call.page, Some(caller), (connection, literal));
        let (number, parent) = (self.tasks[task].number, self.tasks[caller].number);
        if let (Some(number), Some(parent)) = (number, parent) {
            self.capture.parents.insert(number, parent);
        }
        if call.is_given_up {
            self.tasks[task].last_ns += 2 * PATIENCE_NS;
            self.schedule(self.now_ns + PATIENCE_NS, Event::GivenUp(task));
        }
        self.arrive(task);
    }

    fn give_up(&mut self, task: usize) {
        if self.tasks[task].awaited {
            self.capture_visit(task, false);
            self.answer(task);
        }
    }

    fn finish(&mut self, task: usize) {
        let (tier, thread) = (self.tasks[task].tier, self.tasks[task].thread);
        for (called, connection) in std::mem::take(&mut self.tasks[task].leases) {
            self.give_back(called, connection);
        }
        if self.tasks[task].number.is_none() {
            return;
        }
        if self.tasks[task].awaited {
            self.capture_visit(task, true);
        }
        match self.states[tier].waiting.pop_front() {
            Some(next) => self.start(next, thread),
            None => self.states[tier].threads.push(thread),
        }
        if self.tasks[task].caller.is_some() {
            if self.tasks[task].awaited {
                self.answer(task);
            }
        } else {
            self.under_way -= 1;
            if let Some(user) = self.tasks[task].user {
                let next_ns = self.now_ns + self.pause();
                self.schedule(next_ns, Event::Request(Some(user)));
            }
        }
    }

    /// The caller of a task goes on.
    fn answer(&mut self, task: usize) {
        let (tier, connection) = (self.tasks[task].tier, self.tasks[task].connection);
        self.tasks[task].awaited = false;
        self.states[tier].in_use -= 1;
        let Some(caller) = self.tasks[task].caller else { return };
        let per_call =
            matches!(self.application.tiers[tier].connections, Connections::PerCall { .. });
        if per_call && connection < 500_000 {
            self.give_back(tier, connection);
        }
        self.tasks[caller].pending -= 1;
        if self.tasks[caller].pending == 0 {
            self.work(caller);
        }
    }

    fn give_back(&mut self, tier: usize, connection: i64) {
        if let Some((caller, call)) = self.states[tier].for_connection.pop_front() {
            return self.send(caller, call, connection);
        }
        match self.application.tiers[tier].connections {
            Connections::PerCall { lifo: true } | Connections::PerRequest { lifo: true } => {
                self.states[tier].idle.push_front(connection);
            }
            _ => self.states[tier].idle.push_back(connection),
        }
    }

    fn capture_visit(&mut self, task: usize, is_whole: bool) {
        let it = &self.tasks[task];
        let Some(number) = it.number else { return };
        let departure_ns = if is_whole { self.now_ns } else { i64::MAX };
        self.capture.visits.push(Visit {
            visit: number,
            server: it.server,
            protocol: 0,
            lent: self.application.tiers[it.tier].lent,
            connection: it.connection,
            span: Span { arrival_ns: it.arrival_ns, departure_ns },
            ended_ns: self.now_ns,
            request_end_ns: it.arrival_ns,
            reply_start_ns: is_whole.then_some(self.now_ns),
            closed_ns: (!is_whole).then_some(self.now_ns),
            may_wait_ns: None,
            label: it.label,
            status: Some(if is_whole { 200 } else { 0 }),
            bytes_in: 100,
            bytes_out: 1_000,
            upstream: None,
            id: None,
            literals: if it.literal > 0 { Box::from([it.literal]) } else { Box::default() },
            endpoints: 0,
            work: None,
        });
    }
}
