//! A four-tier system in miniature: closed-loop users, two cores that all tiers share, Tomcat's
//! threads, a pool of database connections. It yields the visits that a capture would, and the
//! truth about their parents.

mod cores;
mod journey;
mod pages;

use cores::Cores;
use journey::Request;
use pages::Page;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Distribution, Exp1};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use tierlab_link::{Topology, Visit};

/// What is simulated.
#[derive(Clone)]
pub struct Setting {
    pub users: usize,
    pub think_ms: f64,
    pub threads: usize,
    pub pool: usize,
    /// Idle connections are handed out again last in, first out.
    pub lifo: bool,
    /// A page is made before its connection is given back.
    pub keeps: bool,
    pub literals: bool,
    pub only_page: Option<usize>,
    pub seconds: f64,
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            users: 200,
            think_ms: 0.0,
            threads: 150,
            pool: 40,
            lifo: true,
            keeps: false,
            literals: true,
            only_page: None,
            seconds: 4.0,
            seed: 1,
        }
    }
}

/// The servers, numbered by the order of their names.
pub const APP: u16 = 0;
pub const DB: u16 = 1;
pub const LB: u16 = 2;
pub const WEB: u16 = 3;

pub fn topology() -> Topology {
    let calls = [("web", "app"), ("app", "lb"), ("lb", "db")];
    let calls: BTreeMap<_, _> =
        calls.map(|(upper, lower)| (upper.to_owned(), vec![lower.to_owned()])).into();
    Topology::new(&calls).expect("no circle")
}

/// Visits in the order of departure, and every one's parent.
pub struct Capture {
    pub visits: Vec<Visit>,
    pub parents: BTreeMap<i64, i64>,
    /// Mean number of requests under way.
    pub concurrency: f64,
}

pub struct System {
    setting: Setting,
    pages: Vec<Page>,
    random: StdRng,
    now_us: f64,
    cores: Cores,
    thinking: BinaryHeap<Reverse<(u64, usize)>>,
    requests: Vec<Option<Request>>,
    threads: usize,
    for_thread: VecDeque<usize>,
    idle: VecDeque<i64>,
    for_connection: VecDeque<usize>,
    ajp_idle: Vec<i64>,
    ajp_opened: i64,
    numbers: i64,
    capture: Capture,
    busy_us: f64,
}

pub fn capture(setting: Setting) -> Capture {
    let idle = (0..setting.pool as i64).collect();
    let mut system = System {
        pages: pages::rubbos(),
        random: StdRng::seed_from_u64(setting.seed),
        now_us: 1e15,
        cores: Cores::default(),
        thinking: BinaryHeap::new(),
        requests: (0..setting.users).map(|_| None).collect(),
        threads: setting.threads,
        for_thread: VecDeque::new(),
        idle,
        for_connection: VecDeque::new(),
        ajp_idle: Vec::new(),
        ajp_opened: 0,
        numbers: 0,
        capture: Capture { visits: Vec::new(), parents: BTreeMap::new(), concurrency: 0.0 },
        busy_us: 0.0,
        setting,
    };
    system.run();
    system.capture
}

impl System {
    fn run(&mut self) {
        let (start_us, end_us) = (self.now_us, self.now_us + self.setting.seconds * 1e6);
        for user in 0..self.setting.users {
            // A staggered start over the first fifth.
            let at =
                self.now_us + self.setting.seconds * 2e5 * user as f64 / self.setting.users as f64;
            self.thinking.push(Reverse((at as u64, user)));
        }
        while self.now_us < end_us {
            let done = self.cores.jobs.peek().map(|Reverse((at, _))| {
                self.now_us
                    + (*at as f64 / 1e3 - self.cores.virtual_us).max(0.0) / self.cores.rate()
            });
            let due = self.thinking.peek().map(|Reverse((at, _))| *at as f64);
            let next = done.unwrap_or(f64::MAX).min(due.unwrap_or(f64::MAX));
            let active = self.requests.iter().flatten().count() as f64;
            self.busy_us += active * (next - self.now_us).max(0.0);
            self.cores.virtual_us += (next - self.now_us).max(0.0) * self.cores.rate();
            self.now_us = self.now_us.max(next);
            if due.is_some_and(|due| due <= next) {
                let Reverse((_, user)) = self.thinking.pop().expect("one is due");
                self.begin(user);
            } else {
                let Reverse((_, user)) = self.cores.jobs.pop().expect("one is done");
                self.proceed(user);
            }
        }
        self.capture.concurrency = self.busy_us / (self.now_us - start_us);
    }

    fn now_ns(&self) -> i64 {
        (self.now_us * 1e3) as i64
    }

    fn work(&mut self, user: usize, mean_us: f64) {
        let drawn: f64 = Exp1.sample(&mut self.random);
        let work_us = mean_us * (0.4 + 0.6 * drawn);
        self.cores.add(user, work_us);
    }

    fn number(&mut self) -> i64 {
        self.numbers += 1;
        self.numbers
    }
}
