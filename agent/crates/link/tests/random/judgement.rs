//! Links against the truth, over many applications.

use super::application::Application;
use super::simulation::{Capture, simulate};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tierlab_link::{Joint, Link, Linker, Sequences, Survey, Topology, Visit};

const WINDOW_NS: i64 = 60_000_000_000;
/// The least and the most number of requests under way, drawn evenly by their logarithm.
pub const LOADS: [(f64, f64); 3] = [(0.3, 1.3), (8.0, 12.0), (80.0, 120.0)];

/// What became of the calls of one application, or of several.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub calls: usize,
    /// Of them, those that a captured request made.
    pub with_parent: usize,
    pub linked: usize,
    pub wrong: usize,
    /// By tenth of stated confidence: links, the sum of what is stated, and how many are right.
    pub tenths: [(usize, f64, usize); 10],
}

impl Judgement {
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.with_parent += other.with_parent;
        self.linked += other.linked;
        self.wrong += other.wrong;
        for (own, other) in self.tenths.iter_mut().zip(&other.tenths) {
            own.0 += other.0;
            own.1 += other.1;
            own.2 += other.2;
        }
    }

    pub fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.calls.max(1) as f64
    }

    pub fn linked_share(&self) -> f64 {
        self.linked as f64 / self.with_parent.max(1) as f64
    }

    /// The largest difference of stated confidence and truth, over tenths with so many links.
    pub fn calibration_error(&self, least: usize) -> f64 {
        let tenths = self.tenths.iter().filter(|tenth| tenth.0 >= least);
        tenths.map(|it| (it.1 - it.2 as f64).abs() / it.0 as f64).fold(0.0, f64::max)
    }
}

/// A seed's application; its load is one of three, in turn.
pub fn application(seed: u64) -> Application {
    let (least, most) = LOADS[load_of(seed)];
    let mut random = StdRng::seed_from_u64(seed ^ 0x10ad);
    let under_way = random.random_range(least.ln()..most.ln()).exp();
    Application::draw(seed, under_way)
}

/// Which of the loads a seed shall have.
fn load_of(seed: u64) -> usize {
    (seed / 2 % 3) as usize
}

/// The load that a capture came nearest to.
pub fn nearest_load(capture: &Capture) -> usize {
    LOADS[1..].iter().filter(|load| capture.under_way > load.0 / 3.0).count()
}

/// Simulates a seed's application.
pub fn captured(application: &Application, seed: u64, calls: usize) -> Capture {
    simulate(application, seed, calls)
}

/// The inference of some pairs that knows how the application behaves from the truth.
fn knowing(pairs: &[usize], capture: &Capture, topology: &Topology) -> Joint {
    let calls =
        |it: &&Visit| topology.pairs_below(it.server).iter().any(|pair| pairs.contains(pair));
    let is_called =
        |it: &&Visit| topology.pair_above(it.server).is_some_and(|pair| pairs.contains(&pair));
    let parents: Vec<&Visit> = capture.visits.iter().filter(calls).collect();
    let children: Vec<&Visit> = capture.visits.iter().filter(is_called).collect();
    let truth = |visit: i64| capture.parents.get(&visit).copied();
    Joint::Sequences(Box::new(Sequences::knowing(&parents, &children, topology, truth)))
}

/// Links a capture without ids and compares with the truth.
pub fn judged(application: &Application, capture: &Capture, by_truth: bool) -> Judgement {
    let topology = application.topology();
    let survey = Survey { beginning: capture.visits.clone(), middle: Vec::new() };
    let (ways, mut loops) = (survey.ways(&topology, true), survey.loops(&topology, true));
    if by_truth {
        loops.iter_mut().for_each(|it| it.event_loop = knowing(&it.pairs, capture, &topology));
    }
    let mut linker = Linker::new(topology.clone(), ways, WINDOW_NS).with_loops(loops);
    capture.visits.iter().for_each(|visit| linker.push(visit.clone()));
    linker.finish();
    let decided = linker.decided();
    assert_eq!(decided.len(), capture.visits.len(), "every visit comes out once");
    let known: std::collections::BTreeSet<i64> =
        capture.visits.iter().map(|visit| visit.visit).collect();
    let mut it = Judgement::default();
    for (visit, link) in decided {
        if topology.pair_above(visit.server).is_none() {
            continue;
        }
        let truth = capture.parents.get(&visit.visit).filter(|parent| known.contains(parent));
        it.calls += 1;
        it.with_parent += usize::from(truth.is_some());
        let Some(Link { parent, confidence, .. }) = link else { continue };
        let is_right = truth == Some(&parent);
        it.linked += usize::from(truth.is_some());
        it.wrong += usize::from(!is_right);
        let tenth = &mut it.tenths[((confidence * 10.0) as usize).min(9)];
        *tenth = (tenth.0 + 1, tenth.1 + confidence, tenth.2 + usize::from(is_right));
    }
    it
}
