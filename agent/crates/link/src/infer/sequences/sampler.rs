//! Assignments of calls to requests, drawn by their probability under a model.
//!
//! A Markov chain Monte Carlo method for data association (Oh, Russell and Sastry, "Markov Chain
//! Monte Carlo Data Association for Multi-Target Tracking", IEEE Trans. Automatic Control 54(3),
//! 2009). A sweep draws each call's request anew, given all others' (Gibbs sampling), and tries to
//! exchange runs of successive calls between two requests (Metropolis). How often a call is with
//! which request is the probability that the request made it.

use super::behaviour::{MOST_REPEATS, NONE, Next, State};
use super::lesson::{Lesson, Model, Share};
use super::problem::Problem;
use super::random::Random;
use rustc_hash::FxHashMap;

/// In place of a request: the call belongs to none.
pub const NOBODY: u32 = u32::MAX;
/// A candidate that was never likelier than this while the chain settled is left out.
const HOPELESS: f32 = 1e-5;

/// The chain's present assignment.
pub struct Sampler<'a> {
    problem: &'a Problem,
    /// By call: its request.
    pub owners: Vec<u32>,
    /// By request: its calls, by start, and the logarithm of their probability.
    lists: Vec<Vec<u32>>,
    scores: Vec<f64>,
    /// By call: the candidates, by position in the call's list, that are still considered, and how
    /// likely each has been at most.
    considered: Vec<Vec<(u16, f32)>>,
    /// By call and candidate: the sum of its probabilities over the sweeps that count.
    pub sums: Vec<Vec<f64>>,
    counts: bool,
    connections: FxHashMap<usize, f64>,
    random: Random,
    /// Temperature: probabilities are taken to the power of its inverse.
    pub heat: f64,
}

impl<'a> Sampler<'a> {
    /// No call is assigned yet, but for those decided.
    pub fn new(problem: &'a Problem, model: &Model, seed: u64) -> Self {
        let every = |count: usize| (0..count as u16).map(|at| (at, 0.0)).collect();
        let mut it = Self {
            problem,
            owners: vec![NOBODY; problem.calls.len()],
            lists: vec![Vec::new(); problem.callers.len()],
            scores: vec![0.0; problem.callers.len()],
            considered: problem.calls.iter().map(|call| every(call.candidates.len())).collect(),
            sums: problem.calls.iter().map(|call| vec![0.0; call.candidates.len()]).collect(),
            counts: false,
            connections: problem.connections(),
            random: Random::new(seed),
            heat: 1.0,
        };
        for (at, call) in problem.calls.iter().enumerate() {
            if let (true, Some(&owner)) = (call.is_decided, call.candidates.first()) {
                it.owners[at] = owner;
                it.lists[owner as usize].push(at as u32);
            }
        }
        it.score_all(model);
        it
    }

    /// Works out all scores anew, for a new model.
    pub fn score_all(&mut self, model: &Model) {
        for caller in 0..self.lists.len() {
            self.scores[caller] = self.score(caller, &self.lists[caller], model);
        }
    }

    /// Gives each call in turn the request that it fits best so far.
    pub fn assign_greedily(&mut self, model: &Model) {
        for call in 0..self.owners.len() {
            self.draw(call, model, true);
        }
    }

    /// One sweep.
    pub fn sweep(&mut self, model: &Model) {
        for call in 0..self.owners.len() {
            self.draw(call, model, false);
            self.exchange(call, model);
        }
    }

    /// The chain has settled: leaves out what is hopeless, and counts from now on. Leaving out sooner
    /// would make a chain that is stuck look sure.
    pub fn settle(&mut self) {
        self.counts = true;
        for (call, considered) in self.considered.iter_mut().enumerate() {
            let owner = self.owners[call];
            let candidates = &self.problem.calls[call].candidates;
            considered.retain(|it| it.1 >= HOPELESS || candidates[usize::from(it.0)] == owner);
        }
        self.counts = true;
    }

    /// Draws a call's request, given all others', or gives it the best.
    fn draw(&mut self, call: usize, model: &Model, takes_best: bool) {
        let it = &self.problem.calls[call];
        if it.is_decided || it.candidates.is_empty() {
            return;
        }
        self.take(call, model);
        let rest_ns = self.problem.during.departure_ns - it.end_ns;
        let nobody = model.background(it.kind, rest_ns).ln();
        let mut logs: Vec<f64> = Vec::with_capacity(self.considered[call].len());
        let mut scores: Vec<f64> = Vec::with_capacity(self.considered[call].len());
        let mut list = Vec::new();
        for at in 0..self.considered[call].len() {
            let candidate = usize::from(self.considered[call][at].0);
            let caller = it.candidates[candidate];
            list.clear();
            list.extend_from_slice(&self.lists[caller as usize]);
            insert(&mut list, call as u32);
            self.owners[call] = caller;
            let score = self.score(caller as usize, &list, model);
            scores.push(score);
            let literals = self.literals(call, candidate, model);
            logs.push(score - self.scores[caller as usize] + literals);
        }
        self.owners[call] = NOBODY;
        let best = logs.iter().copied().fold(nobody, f64::max);
        let whole: f64 = logs.iter().chain([&nobody]).map(|log| (log - best).exp()).sum();
        for (at, log) in logs.iter().enumerate() {
            let share = (log - best).exp() / whole;
            let most = &mut self.considered[call][at].1;
            *most = most.max(share as f32);
            if self.counts {
                self.sums[call][usize::from(self.considered[call][at].0)] += share;
            }
        }
        let chosen = if takes_best {
            logs.iter().position(|&log| log == best)
        } else {
            let hot = |log: &f64| ((log - best) / self.heat).exp();
            let whole: f64 = logs.iter().chain([&nobody]).map(hot).sum();
            let mut left = self.random.unit() * whole;
            logs.iter().position(|log| {
                left -= hot(log);
                left < 0.0
            })
        };
        if let Some(at) = chosen {
            let caller = it.candidates[usize::from(self.considered[call][at].0)];
            self.owners[call] = caller;
            insert(&mut self.lists[caller as usize], call as u32);
            self.scores[caller as usize] = scores[at];
        }
    }

    /// Takes a call from its request.
    fn take(&mut self, call: usize, model: &Model) {
        let owner = std::mem::replace(&mut self.owners[call], NOBODY);
        if owner != NOBODY {
            let caller = owner as usize;
            self.lists[caller].retain(|&it| it != call as u32);
            self.scores[caller] = self.score(caller, &self.lists[caller], model);
        }
    }

    /// Tries to exchange a run of calls, the first of which is `call`, between its request and
    /// another. The run is one of both requests' calls in the order of start, which the exchange
    /// leaves as it is: either way is proposed as often.
    fn exchange(&mut self, call: usize, model: &Model) {
        let (owner, considered) = (self.owners[call], &self.considered[call]);
        if owner == NOBODY || considered.len() < 2 || self.problem.calls[call].is_decided {
            return;
        }
        let other = considered[self.random.below(considered.len())].0;
        let other = self.problem.calls[call].candidates[usize::from(other)];
        if other == owner {
            return;
        }
        let (one, two) = (owner as usize, other as usize);
        let mut both = [&self.lists[one][..], &self.lists[two][..]].concat();
        both.sort_unstable();
        let first = both.partition_point(|&it| it < call as u32);
        let most = both.len() - first;
        let length = match self.random.below(3) {
            0 => most,
            1 => 1 + self.random.below(most),
            _ => 1 + self.random.below(most.min(3)),
        };
        let run = &both[first..first + length];
        let can_be = |&it: &u32| {
            let to = if self.owners[it as usize] == owner { other } else { owner };
            let call = &self.problem.calls[it as usize];
            !call.is_decided && call.candidates.binary_search(&to).is_ok()
        };
        if !run.iter().all(can_be) {
            return;
        }
        // The literals of what is exchanged speak for the one or the other, too.
        let before = self.literals_of(run, model);
        self.swap(run, (owner, other));
        let after = self.literals_of(run, model);
        let of = |caller: u32| -> Vec<u32> {
            both.iter().copied().filter(|&it| self.owners[it as usize] == caller).collect()
        };
        let (own, others) = (of(owner), of(other));
        let scores = (self.score(one, &own, model), self.score(two, &others, model));
        let gain = scores.0 + scores.1 - self.scores[one] - self.scores[two] + after - before;
        if gain >= 0.0 || self.random.unit() < (gain / self.heat).exp() {
            (self.lists[one], self.lists[two]) = (own, others);
            (self.scores[one], self.scores[two]) = scores;
        } else {
            self.swap(run, (owner, other));
        }
    }

    fn swap(&mut self, run: &[u32], (one, two): (u32, u32)) {
        for &call in run {
            let owner = &mut self.owners[call as usize];
            *owner = if *owner == one { two } else { one };
        }
    }

    fn literals_of(&self, run: &[u32], model: &Model) -> f64 {
        let of = |&call: &u32| {
            let at = self.problem.calls[call as usize]
                .candidates
                .binary_search(&self.owners[call as usize]);
            at.map_or(0.0, |at| self.literals(call as usize, at, model))
        };
        run.iter().map(of).sum()
    }

    /// How much likelier a call and a candidate are together by the literals that they share.
    fn literals(&self, call: usize, candidate: usize, model: &Model) -> f64 {
        let it = &self.problem.calls[call];
        if !it.has_carrier {
            return 0.0;
        }
        let (rarity, sharing) = (f64::from(it.rarity[candidate]), model.sharing(it.kind));
        if rarity > 0.0 { (sharing * rarity).ln() } else { (1.0 - sharing).ln() }
    }

    /// The logarithm of the probability of a request's calls.
    fn score(&self, caller: usize, list: &[u32], model: &Model) -> f64 {
        let mut sum = 0.0;
        self.steps(caller, list, |state, next, gap_ns| {
            sum += model.behaviour.log_density(state, next, gap_ns);
        });
        self.reuses(caller, list, |pair, is_same| {
            let (share, of) =
                (model.reuse(pair), self.connections.get(&pair).copied().unwrap_or(1.0));
            // Of one connection, every call is on the one that was used last.
            if of > 1.5 {
                sum += if is_same {
                    (share * of).ln()
                } else {
                    ((1.0 - share) * of / (of - 1.0)).ln()
                };
            }
        });
        sum
    }

    /// Goes through a request's steps, from its arrival to its reply.
    fn steps(&self, caller: usize, list: &[u32], mut step: impl FnMut(State, Next, i64)) {
        let it = &self.problem.callers[caller];
        let mut state = State { page: self.problem.pages[caller], last: NONE, repeats: 0 };
        let (mut ready_ns, mut started_ns) = (it.request_end_ns, it.request_end_ns);
        for (at, &call) in list.iter().enumerate() {
            let call = &self.problem.calls[call as usize];
            let is_beside = at > 0 && call.start_ns < ready_ns;
            let since_ns = if is_beside { started_ns } else { ready_ns };
            step(state, Next { kind: call.kind, is_beside }, call.start_ns - since_ns);
            let same =
                list[..at].iter().filter(|&&it| self.problem.calls[it as usize].kind == call.kind);
            let repeats = (1 + same.count()).min(MOST_REPEATS);
            state = State { last: call.kind, repeats, ..state };
            started_ns = call.start_ns;
            ready_ns = ready_ns.max(call.end_ns);
        }
        step(state, Next { kind: NONE, is_beside: false }, it.reply_start_ns - ready_ns);
    }

    /// Goes through a request's further calls of each pair: whether it used their connection last.
    fn reuses(&self, caller: usize, list: &[u32], mut reuse: impl FnMut(usize, bool)) {
        for (at, &call) in list.iter().enumerate() {
            let it = &self.problem.calls[call as usize];
            let is_further =
                list[..at].iter().any(|&it2| self.problem.calls[it2 as usize].pair == it.pair);
            if is_further {
                let same = it.before.is_some_and(|it| self.owners[it as usize] == caller as u32);
                reuse(it.pair, same);
            }
        }
    }

    /// Adds what the present assignment teaches. What a request teaches among many weighs less by
    /// this power of how many there are, where few are surer.
    pub fn teach(&self, lesson: &mut Lesson, weight: f64, heed: f64) {
        for caller in 0..self.lists.len() {
            let list = &self.lists[caller];
            let around = list.iter().map(|&it| self.problem.calls[it as usize].candidates.len());
            let around = around.sum::<usize>().max(1) as f64 / list.len().max(1) as f64;
            let weight = weight * around.powf(-heed);
            self.steps(caller, list, |state, next, gap_ns| {
                lesson.counts.step(state, next, gap_ns, weight);
            });
            self.reuses(caller, list, |pair, is_same| {
                count(lesson.reuse.entry(pair).or_default(), is_same, weight);
            });
        }
        for (call, it) in self.problem.calls.iter().enumerate() {
            let owner = self.owners[call];
            count(lesson.calls.entry(it.kind).or_default(), owner == NOBODY, weight);
            let Ok(at) = it.candidates.binary_search(&owner) else { continue };
            if it.has_carrier {
                count(lesson.sharing.entry(it.kind).or_default(), it.rarity[at] > 0.0, weight);
            }
            lesson.rest(self.problem.callers[owner as usize].reply_start_ns - it.end_ns, weight);
        }
        lesson.seconds += weight * self.problem.seconds();
    }
}

fn count(share: &mut Share, is_hit: bool, weight: f64) {
    share.of += weight;
    share.hits += if is_hit { weight } else { 0.0 };
}

fn insert(list: &mut Vec<u32>, call: u32) {
    let at = list.partition_point(|&it| it < call);
    list.insert(at, call);
}
