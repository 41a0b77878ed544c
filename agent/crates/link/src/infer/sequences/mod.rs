//! Parents of the calls of callers that work on many requests at a time, each of which makes calls one
//! after the other or side by side: to one backend or to several, on whatever connections.
//!
//! Nothing is known beforehand. What pages do is learned from the calls themselves, by turns: calls
//! are assigned to requests by what is known, and what is known follows from the assignments
//! (stochastic expectation-maximisation; Celeux and Diebolt, "The SEM Algorithm", 1985). Calls that
//! lie in few requests weigh more at first.

mod behaviour;
mod decide;
mod gaps;
mod lesson;
mod problem;
mod random;
mod sampler;

use crate::infer::sample::Parent;
use crate::topology::Topology;
use crate::visit::{Linked, Visit};
use decide::{Beliefs, decide};
use lesson::{Lesson, Model};
use problem::{Labels, Problem, Seeker, over_ns};
use sampler::{NOBODY, Sampler};
use std::collections::VecDeque;

/// A request replies at most this long after its last call.
const LAG_NS: i64 = 4_000_000_000;
/// How much is decided at once.
const STEP_NS: i64 = 2_000_000_000;
/// A sample is learned from in stretches of this many calls, and so many of them at most.
const STRETCH: usize = 1_500;
const MOST_STRETCHES: usize = 8;
/// Assignments and model are worked out from each other this many times, and so many sweeps each.
const ROUNDS: usize = 16;
const SWEEPS: usize = 3;
/// Chains that begin anew, each with so many sweeps until it has settled, and so many that count. Where
/// chains settle on different assignments, none of them is sure.
const CHAINS: u64 = 6;
/// After this many, the others are spared where fewer calls than this share have a request that is
/// likely: in an overload hardly a call would be linked.
const FEW_CHAINS: u64 = 2;
const WORTH: f64 = 0.02;
const LIKELY: f64 = 0.7;
/// A window has at most this many pairs of a call and a candidate: it is decided in seconds.
const MOST_PAIRS: usize = 300_000;
const SETTLING: usize = 12;
const COUNTED: usize = 8;
/// The temperature at which a chain begins.
const HOT: f64 = 4.0;

/// Finds the parents of the calls of some tiers by how requests behave.
pub struct Sequences {
    labels: Labels,
    lesson: Lesson,
    model: Model,
    callers: Vec<Parent>,
    seekers: VecDeque<Seeker>,
    next_ns: i64,
}

impl Sequences {
    /// Learns from a sample of parents and children, each in the order of departure.
    pub fn learn(parents: &[&Visit], children: &[&Visit], topology: &Topology) -> Self {
        let mut it = Self::blank();
        it.study(parents, children, topology);
        it
    }

    /// Knows what the true parents of a sample teach: what no inference can do better without other
    /// evidence. It is for measuring.
    pub fn knowing(
        parents: &[&Visit],
        children: &[&Visit],
        topology: &Topology,
        truth: impl Fn(i64) -> Option<i64>,
    ) -> Self {
        let mut it = Self::blank();
        let mut children: Vec<&Visit> = children.to_vec();
        children.sort_by_key(|it| it.span.arrival_ns);
        let decided = |&it: &&Visit| Seeker { visit: it.clone(), decided: Some(truth(it.visit)) };
        let seekers: Vec<Seeker> = children.iter().map(decided).collect();
        let mut callers: Vec<Parent> = parents.iter().map(|it| Parent::of(it)).collect();
        callers.sort_by_key(|it| it.span.arrival_ns);
        let seekers: Vec<&Seeker> = seekers.iter().collect();
        let problem = Problem::new(callers, &seekers, topology, &mut it.labels);
        Sampler::new(&problem, &it.model, 0).teach(&mut it.lesson, 1.0, 0.0);
        it.model = Model::of(&it.lesson);
        it
    }

    fn blank() -> Self {
        let lesson = Lesson::default();
        Self {
            labels: Labels::default(),
            model: Model::of(&lesson),
            lesson,
            callers: Vec::new(),
            seekers: VecDeque::new(),
            next_ns: 0,
        }
    }

    fn study(&mut self, parents: &[&Visit], children: &[&Visit], topology: &Topology) {
        let mut children: Vec<&Visit> = children.to_vec();
        children.sort_by_key(|it| it.span.arrival_ns);
        let stretches: Vec<&[&Visit]> = children.chunks(STRETCH).collect();
        let every = stretches.len().div_ceil(MOST_STRETCHES).max(1);
        let problems: Vec<Problem> = (stretches.into_iter().step_by(every))
            .map(|it| stretch(parents, it, topology, &mut self.labels))
            .collect();
        self.expect(&problems);
        let mut samplers: Vec<Sampler<'_>> = (problems.iter().zip(1..))
            .map(|(it, seed)| Sampler::new(it, &self.model, seed))
            .collect();
        for sampler in &mut samplers {
            sampler.assign_greedily(&self.model);
        }
        for round in 0..ROUNDS {
            let left = (ROUNDS - round) as f64 / ROUNDS as f64;
            let mut lesson = Lesson::default();
            for sampler in &mut samplers {
                sampler.score_all(&self.model);
                sampler.heat = 1.0 + left;
                for _sweep in 0..SWEEPS {
                    sampler.sweep(&self.model);
                    sampler.teach(&mut lesson, 1.0 / SWEEPS as f64, left);
                }
            }
            self.model = Model::of(&lesson);
            self.lesson = lesson;
        }
    }

    /// A first model: how many calls of which label the requests of a page make, by
    /// expectation-maximisation, and nothing of their order or time.
    fn expect(&mut self, problems: &[Problem]) {
        for _round in 0..ROUNDS {
            let mut next = Lesson::default();
            for problem in problems {
                problem.pages.iter().for_each(|&page| next.counts.request(page));
                for call in &problem.calls {
                    let pages = || call.candidates.iter().map(|&it| problem.pages[it as usize]);
                    let of = |page| self.lesson.counts.calls_per_request(page, call.kind);
                    let whole: f64 = pages().map(of).sum();
                    pages().for_each(|page| {
                        next.counts.expect(page, call.kind, of(page) / whole.max(1e-9));
                    });
                    let share = next.calls.entry(call.kind).or_default();
                    share.of += 1.0;
                    share.hits += f64::from(u8::from(call.candidates.is_empty()));
                }
                next.seconds += problem.seconds();
            }
            self.lesson = next;
        }
        self.model = Model::of(&self.lesson);
    }

    /// A visit that looks for its parent.
    pub fn child(&mut self, visit: Visit) {
        self.seekers.push_back(Seeker { visit, decided: None });
    }

    /// A visit that may be a parent.
    pub fn parent(&mut self, visit: &Visit) {
        self.callers.push(Parent::of(visit));
    }

    /// Decides what can be decided at `now_ns`; everything at `i64::MAX`.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        if now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns.saturating_add(STEP_NS);
        let decided_ns = if now_ns == i64::MAX { now_ns } else { now_ns - LAG_NS };
        // Calls whose requests may still be under way would look like nobody's.
        let known_ns = if now_ns == i64::MAX { now_ns } else { now_ns - LAG_NS / 2 };
        self.callers.sort_by_key(|it| it.span.arrival_ns);
        self.seekers.make_contiguous().sort_by_key(|it| it.visit.span.arrival_ns);
        let seekers: Vec<&Seeker> =
            self.seekers.iter().filter(|it| over_ns(&it.visit) <= known_ns).collect();
        if !seekers.iter().any(|it| it.decided.is_none() && over_ns(&it.visit) <= decided_ns) {
            return self.forget(decided_ns);
        }
        let mut problem =
            Problem::new(std::mem::take(&mut self.callers), &seekers, topology, &mut self.labels);
        problem.limit(MOST_PAIRS);
        let mut beliefs = Beliefs::new(&problem);
        let mut lesson = std::mem::take(&mut self.lesson);
        lesson.make_room(problem.calls.len() as f64);
        let mut owners = Vec::new();
        for chain in 0..CHAINS {
            if chain == FEW_CHAINS && beliefs.promising(LIKELY) < WORTH {
                break;
            }
            let mut sampler = Sampler::new(&problem, &self.model, chain);
            self.draw(&mut sampler, &mut lesson);
            beliefs.add(&sampler.sums, COUNTED as f64);
            let owner = |&it: &u32| (it != NOBODY).then(|| problem.callers[it as usize].visit);
            owners = sampler.owners.iter().map(owner).collect();
        }
        let links = decide(&beliefs.likeliest(&problem), &problem);
        let mut at = 0;
        for seeker in &mut self.seekers {
            let visit = &seeker.visit;
            if over_ns(visit) > known_ns {
                continue;
            }
            if seeker.decided.is_none() && over_ns(visit) <= decided_ns {
                seeker.decided = Some(owners[at]);
                out.push((visit.clone(), links[at]));
            }
            at += 1;
        }
        self.callers = problem.callers;
        self.model = Model::of(&lesson);
        self.lesson = lesson;
        self.forget(decided_ns);
    }

    /// Lets a chain settle, and counts.
    fn draw(&self, sampler: &mut Sampler<'_>, lesson: &mut Lesson) {
        sampler.heat = HOT;
        sampler.assign_greedily(&self.model);
        for sweep in 0..SETTLING {
            sampler.heat = HOT.powf((SETTLING - sweep) as f64 / SETTLING as f64);
            sampler.sweep(&self.model);
        }
        sampler.heat = 1.0;
        sampler.settle();
        for _sweep in 0..COUNTED {
            sampler.sweep(&self.model);
        }
        sampler.teach(lesson, 1.0 / CHAINS as f64, 0.0);
    }

    /// Forgets requests that no call still to be decided may belong to, and the calls decided of
    /// those forgotten.
    fn forget(&mut self, decided_ns: i64) {
        let undecided = self.seekers.iter().filter(|it| it.decided.is_none());
        let needed_ns = undecided.map(|it| it.visit.span.arrival_ns).min().unwrap_or(i64::MAX);
        let needed_ns = needed_ns.min(decided_ns);
        self.callers.retain(|it| it.span.departure_ns >= needed_ns);
        let least_ns = self.callers.iter().map(|it| it.span.arrival_ns).min().unwrap_or(i64::MAX);
        self.seekers.retain(|it| it.decided.is_none() || it.visit.span.arrival_ns >= least_ns);
    }
}

/// A stretch of a sample: some calls, and the requests that may have made them.
fn stretch(
    parents: &[&Visit],
    children: &[&Visit],
    topology: &Topology,
    labels: &mut Labels,
) -> Problem {
    let first_ns = children.first().map_or(i64::MIN, |it| it.span.arrival_ns);
    let last_ns = children.last().map_or(i64::MAX, |it| it.span.arrival_ns);
    let is_near = |it: &&&Visit| it.ended_ns >= first_ns && it.span.arrival_ns <= last_ns;
    let mut callers: Vec<Parent> =
        parents.iter().filter(is_near).map(|it| Parent::of(it)).collect();
    callers.sort_by_key(|it| it.span.arrival_ns);
    let seekers: Vec<Seeker> =
        children.iter().map(|&it| Seeker { visit: it.clone(), decided: None }).collect();
    Problem::new(callers, &seekers.iter().collect::<Vec<_>>(), topology, labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use std::collections::BTreeMap;

    const MS: i64 = 1_000_000;

    fn topology() -> Topology {
        Topology::new(&BTreeMap::from([("a".to_owned(), vec!["b".to_owned()])])).unwrap()
    }

    #[test]
    fn requests_without_calls_are_forgotten() {
        let mut it = Sequences::blank();
        (0..100).for_each(|n| it.parent(&visit(n).at(0).during(n * MS, (n + 5) * MS).build()));
        it.advance(10_000 * MS, &topology(), &mut Vec::new());
        assert!(it.callers.is_empty(), "{} requests held", it.callers.len());
    }

    #[test]
    fn each_call_comes_out_once_though_its_reply_was_not_seen() {
        let mut it = Sequences::blank();
        it.child(visit(3).at(1).during(4 * MS, 0).given_up(9 * MS).build());
        it.child(visit(4).at(1).during(11 * MS, 12 * MS).build());
        it.parent(&visit(2).at(0).during(0, 20 * MS).build());
        let mut out = Vec::new();
        it.advance(10_000 * MS, &topology(), &mut out);
        it.advance(20_000 * MS, &topology(), &mut out);
        let mut found: Vec<i64> = out.iter().map(|(visit, _)| visit.visit).collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4]);
        assert!(it.seekers.is_empty() && it.callers.is_empty());
    }
}
