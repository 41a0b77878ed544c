//! Applications drawn at random: tiers, pages with their calls, connections, load and background work.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::collections::BTreeMap;
use tierlab_link::Topology;

/// A duration's distribution: its mean in microseconds and its shape.
#[derive(Clone, Copy, Debug)]
pub struct Duration {
    pub mean_us: f64,
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Within a tenth of the mean.
    Steady,
    /// Two fifths of the mean, and an exponential rest.
    Shifted,
    Exponential,
    /// Log-normal with this standard deviation of the logarithm.
    LogNormal(f64),
    /// A cache: nine hits of ten, and a miss takes ten times as long.
    HitOrMiss,
}

impl Duration {
    fn draw(random: &mut StdRng, least_us: f64, most_us: f64) -> Self {
        let log: f64 = random.random_range(least_us.ln()..most_us.ln());
        let shape = match random.random_range(0..5) {
            0 => Shape::Steady,
            1 => Shape::Shifted,
            2 => Shape::Exponential,
            3 => Shape::LogNormal(random.random_range(0.3..1.2)),
            _ => Shape::HitOrMiss,
        };
        Self { mean_us: log.exp(), shape }
    }

    pub fn sample_ns(self, random: &mut StdRng) -> i64 {
        let exponential: f64 = Exp1.sample(random);
        let factor = match self.shape {
            Shape::Steady => random.random_range(0.9..1.1),
            Shape::Shifted => 0.4 + 0.6 * exponential,
            Shape::Exponential => exponential,
            Shape::LogNormal(sigma) => {
                let normal: f64 = StandardNormal.sample(random);
                (sigma * normal - sigma * sigma / 2.0).exp()
            }
            Shape::HitOrMiss if random.random_bool(0.9) => 0.53 * (0.5 + 0.5 * exponential),
            Shape::HitOrMiss => 5.3 * (0.5 + 0.5 * exponential),
        };
        (self.mean_us * factor * 1e3) as i64 + 5_000
    }
}

/// Calls that a page issues at the same time, after some work of its own.
#[derive(Clone, Debug)]
pub struct Step {
    pub work: Duration,
    /// The tier and its page.
    pub calls: Vec<(usize, usize)>,
    /// The step is left out with the rest of the probability.
    pub kept: f64,
    /// So often in any case,
    pub times: usize,
    /// and once more with this probability, again and again.
    pub again: f64,
    /// A call fails, or its caller gives up, and is repeated.
    pub retried: f64,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub label: u32,
    pub weight: f64,
    pub steps: Vec<Step>,
    /// Work after the last reply; all the work of a page without calls.
    pub last: Duration,
}

/// How callers get connections to a tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connections {
    /// A fresh one for each call.
    Fresh,
    /// One of a pool for each call.
    PerCall { lifo: bool },
    /// One of a pool from the first call of a request to its end.
    PerRequest { lifo: bool },
    /// Each thread has its own.
    PerThread,
}

#[derive(Clone, Debug)]
pub struct Tier {
    pub name: &'static str,
    pub servers: usize,
    pub pages: Vec<Page>,
    pub connections: Connections,
    /// Pool size over the mean number of connections in use.
    pub room: f64,
    pub lent: bool,
    /// Threads over the mean number in use.
    pub spare: f64,
}

/// Work of the entry tier that belongs to no request: a series of calls, again and again.
#[derive(Clone, Debug)]
pub struct Background {
    pub pause: Duration,
    pub calls: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
pub struct Application {
    /// The entry first.
    pub tiers: Vec<Tier>,
    pub background: Vec<Background>,
    /// Requests carry a parameter of so many values that their calls carry, too; 0 for none.
    pub literals: u64,
    /// Requests that shall be under way, on average.
    pub under_way: f64,
    /// Users who think so many times as long as a response takes; none for an open arrival process.
    pub think: Option<f64>,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

impl Application {
    /// The application of this seed, with about so many requests under way.
    pub fn draw(seed: u64, under_way: f64) -> Self {
        let random = &mut StdRng::seed_from_u64(seed);
        let backends = random.random_range(1..=3_usize);
        let is_deep = random.random_bool(0.3);
        let mut tiers: Vec<Tier> = Vec::new();
        // A tier's pages can only call tiers that exist: the lowest come first.
        let deepest = is_deep.then(|| {
            tiers.push(tier(random, NAMES[backends + 1], &[]));
            0
        });
        for at in (0..backends).rev() {
            let below: Vec<(usize, usize)> = match deepest {
                Some(deep) if at == 0 => (0..tiers[deep].pages.len()).map(|p| (deep, p)).collect(),
                _ => Vec::new(),
            };
            let made = tier(random, NAMES[at + 1], &below);
            tiers.push(made);
        }
        let first = usize::from(is_deep);
        let below: Vec<(usize, usize)> = (first..tiers.len())
            .flat_map(|at| (0..tiers[at].pages.len()).map(move |page| (at, page)))
            .collect();
        let entry = tier(random, NAMES[0], &below);
        tiers.push(entry);
        tiers.reverse();
        let count = tiers.len();
        for step in tiers.iter_mut().flat_map(|it| &mut it.pages).flat_map(|it| &mut it.steps) {
            step.calls.iter_mut().for_each(|call| call.0 = count - 1 - call.0);
        }
        for (tier, at) in tiers.iter_mut().zip(0..) {
            tier.pages.iter_mut().zip(0..).for_each(|(page, n)| page.label = 100 * at + n);
        }
        let below: Vec<(usize, usize)> =
            below.into_iter().map(|(tier, page)| (count - 1 - tier, page)).collect();
        let background = if random.random_bool(0.3) {
            let rounds = random.random_range(1..=3);
            let calls = (0..rounds).filter_map(|_| below.choose(random).copied()).collect();
            vec![Background { pause: Duration::draw(random, 3e4, 3e5), calls }]
        } else {
            Vec::new()
        };
        Self {
            tiers,
            background,
            literals: if random.random_bool(0.5) { random.random_range(20..5_000) } else { 0 },
            under_way,
            think: random.random_bool(0.6).then(|| random.random_range(0.1..8.0)),
        }
    }

    /// The servers' names, tier by tier.
    pub fn servers(&self, tier: usize) -> Vec<String> {
        let tier = &self.tiers[tier];
        (1..=tier.servers).map(|server| format!("{}.{server}", tier.name)).collect()
    }

    /// Which tiers a tier calls.
    pub fn called_by(&self, tier: usize) -> Vec<usize> {
        let steps = self.tiers[tier].pages.iter().flat_map(|page| &page.steps);
        let mut called: Vec<usize> =
            steps.flat_map(|step| &step.calls).map(|&(called, _)| called).collect();
        if tier == 0 {
            called.extend(self.background.iter().flat_map(|it| &it.calls).map(|it| it.0));
        }
        called.sort_unstable();
        called.dedup();
        called
    }

    pub fn topology(&self) -> Topology {
        let mut calls = BTreeMap::new();
        for tier in 0..self.tiers.len() {
            let called: Vec<String> =
                self.called_by(tier).iter().flat_map(|&it| self.servers(it)).collect();
            if called.is_empty() {
                continue;
            }
            for server in self.servers(tier) {
                calls.insert(server, called.clone());
            }
        }
        Topology::new(&calls).expect("calls go downwards")
    }
}

/// A tier with pages that call some of `below`.
fn tier(random: &mut StdRng, name: &'static str, below: &[(usize, usize)]) -> Tier {
    let pages = random.random_range(1..=if below.is_empty() { 4 } else { 6 });
    let connections = match random.random_range(0..6) {
        0 | 1 => Connections::Fresh,
        2 => Connections::PerCall { lifo: random.random_bool(0.5) },
        3 | 4 => Connections::PerRequest { lifo: random.random_bool(0.5) },
        _ => Connections::PerThread,
    };
    let at_once = random.random_bool(0.25);
    let retried = if random.random_bool(0.2) { random.random_range(0.005..0.05) } else { 0.0 };
    Tier {
        name,
        servers: if below.is_empty() && random.random_bool(0.3) { 2 } else { 1 },
        pages: (0..pages).map(|at| page(random, at, below, at_once, retried)).collect(),
        connections,
        room: random.random_range(1.2..4.0),
        lent: match connections {
            Connections::PerRequest { .. } => true,
            Connections::Fresh => false,
            _ => random.random_bool(0.5),
        },
        spare: random.random_range(1.3..4.0),
    }
}

fn page(
    random: &mut StdRng,
    at: usize,
    below: &[(usize, usize)],
    at_once: bool,
    retried: f64,
) -> Page {
    let steps = if below.is_empty() { 0 } else { random.random_range(0..=4) };
    let step = |random: &mut StdRng| {
        let wide = if at_once && random.random_bool(0.5) { random.random_range(2..=3) } else { 1 };
        Step {
            work: Duration::draw(random, 50.0, 4_000.0),
            calls: (0..wide).filter_map(|_| below.choose(random).copied()).collect(),
            kept: if random.random_bool(0.2) { random.random_range(0.2..0.9) } else { 1.0 },
            times: if random.random_bool(0.2) { random.random_range(2..=4) } else { 1 },
            again: if random.random_bool(0.1) { random.random_range(0.2..0.7) } else { 0.0 },
            retried,
        }
    };
    let made = (0..steps).map(|_| step(random)).collect();
    let most_us = if below.is_empty() { 20_000.0 } else { 5_000.0 };
    Page {
        label: 0,
        weight: 1.0 / (at + 1) as f64,
        steps: made,
        last: Duration::draw(random, 100.0, most_us),
    }
}
