//! Likely accounts of what the loops did, followed side by side message by message (multiple hypothesis
//! tracking: Reid, "An Algorithm for Tracking Multiple Targets", IEEE Trans. Automatic Control, 1979).
//!
//! Where several requests are in the same place of their course, every order of theirs is as likely, and
//! a few such places have more accounts than can be followed. So small groups of accounts are followed
//! that know nothing of each other, each of which leaves some out by lot: what is a matter of chance
//! comes out differently in each, and a call is the more probably a request's the more groups say so.

use crate::event_loop::behaviour::{Behaviour, REPLY};
use crate::event_loop::branches::{Branch, Random, thin};
use crate::event_loop::causes::{HOPELESS, best_cause, learn};
use crate::event_loop::hypothesis::{ANY_TIME, Hypothesis, Sending};
use crate::event_loop::open::Open;
use crate::event_loop::request::{Call, Input, Progress, Request};
use crate::topology::Topology;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::rc::Rc;

/// The logarithm of the probability that a call is no request's.
const ORPHAN: f64 = -9.0;
/// A call is decided when so many were sent after it, or after so long.
const MOST_UNDECIDED: usize = 1_024;
const UNDECIDED_NS: i64 = 1_000_000_000;

/// Who made a call, and how probable that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The call.
    pub call: i64,
    /// The request's visit; none if it was no request's.
    pub owner: Option<i64>,
    /// The probability.
    pub belief: f64,
}

/// Follows the accounts.
pub struct Tracker {
    /// Of all groups.
    accounts: Vec<Hypothesis>,
    /// How many there are in each group.
    most: usize,
    groups: u8,
    random: Random,
    open: Open,
    /// Calls that are not decided, by number, with when they were sent.
    undecided: VecDeque<(i64, i64)>,
    /// Of those that are decided but not answered, whose they are.
    decided: FxHashMap<i64, Option<i64>>,
    first_undecided: u64,
    /// What is seen where more requests than so many are under way counts less.
    pub quiet: usize,
    /// Positions among all calls, of those that are not answered.
    position: FxHashMap<i64, u64>,
    callers: Vec<(usize, f64)>,
}

impl Tracker {
    /// Follows so many groups of up to so many accounts.
    pub fn new(groups: u8, most: usize) -> Self {
        Self {
            accounts: (0..groups).map(Hypothesis::new).collect(),
            most,
            groups,
            random: Random::default(),
            open: Open::default(),
            undecided: VecDeque::new(),
            decided: FxHashMap::default(),
            first_undecided: 0,
            quiet: usize::MAX,
            position: FxHashMap::default(),
            callers: Vec::new(),
        }
    }

    /// A request came whole.
    pub fn asked(&mut self, request: &Request) {
        let progress = Rc::new(Progress::new(request.page, request.span.arrival_ns));
        let slot = self.open.ask(request.clone());
        for account in &mut self.accounts {
            if self.open.is_crowded() {
                account.lose_track();
            } else {
                account.ask(slot, progress.clone());
            }
        }
    }

    /// A request's reply began to leave.
    pub fn replied(&mut self, visit: i64, at_ns: i64, behaviour: &mut Behaviour, teach: f64) {
        let Some(slot) = self.open.slot(visit) else { return };
        if self.open.is_crowded() {
            self.open.close(slot);
            return;
        }
        let Some((server, page)) = self.open.request(slot).map(|it| (it.server, it.page)) else {
            return;
        };
        let sending = Sending { at_ns, output: REPLY, freed_ns: None };
        let trust = self.trust();
        for account in &mut self.accounts {
            let (cause, log) = best_cause(account, (slot, server), &sending, behaviour, None);
            let calls = account.progress(slot).map(|it| it.calls);
            account.weight += log + calls.map_or(0.0, |it| behaviour.log_calls(page, it));
            if teach > 0.0 {
                learn(account, (slot, server), cause, &sending, behaviour, teach * trust);
            }
            account.send((slot, server), cause, &sending);
            account.close(slot);
        }
        self.open.close(slot);
        self.prune();
    }

    /// How much what is seen now counts.
    fn trust(&self) -> f64 {
        (self.quiet as f64 / self.open.len().max(1) as f64).powi(3).min(1.0)
    }

    /// A call was sent.
    pub fn called(
        &mut self,
        number: i64,
        call: &Call,
        sending: &Sending,
        topology: &Topology,
        behaviour: &Behaviour,
    ) {
        if self.open.is_crowded() {
            self.accounts.iter_mut().for_each(|it| it.owners.push_back(None));
            self.register(number, call);
            return;
        }
        let mut callers = std::mem::take(&mut self.callers);
        self.open.callers(call, topology, behaviour, &mut callers);
        let branches = self.branches(&callers, sending, behaviour);
        let branches = self.choose(branches);
        self.callers = callers;
        self.branch_off(branches, sending);
        self.register(number, call);
    }

    /// A call was sent by the request that is known to have sent it.
    pub fn taught(
        &mut self,
        number: i64,
        call: &Call,
        sending: &Sending,
        (owner, belief): (Option<i64>, f64),
        behaviour: &mut Behaviour,
    ) {
        let belief = belief * self.trust();
        let owner = owner.filter(|_| !self.open.is_crowded());
        let slot = owner.and_then(|visit| self.open.slot(visit));
        let whose = slot.and_then(|slot| self.open.request(slot).map(|it| (slot, it.server)));
        let account = &mut self.accounts[0];
        account.owners.push_back(owner.filter(|_| whose.is_some()));
        if let Some((slot, server)) = whose {
            let (cause, _) = best_cause(account, (slot, server), sending, behaviour, None);
            if let Some(request) = self.open.request(slot) {
                let is_shared = call.literals.iter().any(|it| request.literals.contains(it));
                behaviour.see_literal(request.page, call.label, is_shared, belief);
            }
            learn(account, (slot, server), cause, sending, behaviour, belief);
            account.send((slot, server), cause, sending);
        }
        self.register(number, call);
        self.decide(i64::MAX);
    }

    /// A call's answer was there whole.
    pub fn answered(&mut self, number: i64, call: &Call, behaviour: &Behaviour) {
        let Some(position) = self.position.remove(&number) else { return };
        let (at_ns, source) = (call.span.departure_ns, Some(call.server));
        let input = Input { at_ns, source, label: call.label, answer: call.answer };
        let decided = self.decided.remove(&number);
        for account in &mut self.accounts {
            let undecided = || account.owners[(position - self.first_undecided) as usize];
            let owner = decided.unwrap_or_else(undecided);
            if let Some(slot) = owner.and_then(|visit| self.open.slot(visit)) {
                account.answer(slot, input, behaviour);
            }
        }
    }

    /// Decides the calls that were sent long enough before `now_ns`; all at `i64::MAX`.
    pub fn decide(&mut self, now_ns: i64) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        while let Some(&(call, sent_ns)) = self.undecided.front() {
            let is_old = sent_ns < now_ns.saturating_sub(UNDECIDED_NS);
            if !is_old && now_ns != i64::MAX && self.undecided.len() <= MOST_UNDECIDED {
                break;
            }
            self.undecided.pop_front();
            self.first_undecided += 1;
            let mut beliefs: Vec<(Option<i64>, f64)> = Vec::new();
            let mut sums = vec![0.0; self.groups.into()];
            for account in &self.accounts {
                sums[usize::from(account.group)] += account.weight.exp();
            }
            let groups = f64::from(self.groups);
            for account in &mut self.accounts {
                let owner = account.owners.pop_front().flatten();
                let weight = account.weight.exp() / sums[usize::from(account.group)] / groups;
                match beliefs.iter_mut().find(|it| it.0 == owner) {
                    Some(known) => known.1 += weight,
                    None => beliefs.push((owner, weight)),
                }
            }
            let best = beliefs.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let (owner, weight) = best.unwrap_or((None, 0.0));
            if self.position.contains_key(&call) {
                self.decided.insert(call, owner);
            }
            verdicts.push(Verdict { call, owner, belief: weight });
        }
        verdicts
    }

    fn register(&mut self, number: i64, call: &Call) {
        self.position.insert(number, self.first_undecided + self.undecided.len() as u64);
        self.undecided.push_back((number, call.span.arrival_ns));
    }

    /// All likely ways on from all accounts.
    fn branches(
        &self,
        callers: &[(usize, f64)],
        sending: &Sending,
        behaviour: &Behaviour,
    ) -> Vec<Branch> {
        let orphan = ORPHAN + ANY_TIME + behaviour.log_share(sending.output);
        let mut branches = Vec::new();
        let mut best = vec![f64::NEG_INFINITY; self.groups.into()];
        let mut known = vec![None; callers.len()];
        for (from, account) in self.accounts.iter().enumerate() {
            let mut add = |log: f64, owner| {
                let weight = account.weight + log;
                let best = &mut best[usize::from(account.group)];
                *best = best.max(weight);
                if weight > *best - HOPELESS {
                    branches.push(Branch { from, weight, owner });
                }
            };
            add(orphan, None);
            for (&(slot, contents), known) in callers.iter().zip(&mut known) {
                let Some(server) = self.open.request(slot).map(|it| it.server) else { continue };
                let (cause, log) =
                    best_cause(account, (slot, server), sending, behaviour, Some(known));
                add(log + contents, Some((slot, cause)));
            }
        }
        let best_of = |it: &Branch| best[usize::from(self.accounts[it.from].group)];
        branches.retain(|it| it.weight > best_of(it) - HOPELESS);
        branches.iter_mut().for_each(|it| it.weight -= best_of(it));
        branches
    }

    /// Leaves as many branches of each group as are followed: the likelier ones, and some of the others
    /// by lot.
    fn choose(&mut self, mut branches: Vec<Branch>) -> Vec<Branch> {
        branches.sort_by(|a, b| {
            let group = |it: &Branch| self.accounts[it.from].group;
            group(a).cmp(&group(b)).then(b.weight.total_cmp(&a.weight))
        });
        let mut chosen = Vec::new();
        let mut branches = branches.into_iter().peekable();
        while let Some(first) = branches.next() {
            let group = self.accounts[first.from].group;
            let mut of_group = vec![first];
            while let Some(next) = branches.next_if(|it| self.accounts[it.from].group == group) {
                of_group.push(next);
            }
            thin(of_group, self.most, self.random.next(), &mut chosen);
        }
        chosen
    }

    fn branch_off(&mut self, branches: Vec<Branch>, sending: &Sending) {
        let mut uses = vec![0_u32; self.accounts.len()];
        branches.iter().for_each(|it| uses[it.from] += 1);
        let mut accounts: Vec<Option<Hypothesis>> = self.accounts.drain(..).map(Some).collect();
        for branch in branches {
            uses[branch.from] -= 1;
            let account = if uses[branch.from] == 0 {
                accounts[branch.from].take()
            } else {
                accounts[branch.from].clone()
            };
            let Some(mut account) = account else { continue };
            account.weight = branch.weight;
            let request = branch.owner.and_then(|(slot, _)| self.open.request(slot));
            account.owners.push_back(request.map(|it| it.visit));
            if let (Some((slot, cause)), Some(request)) = (branch.owner, request) {
                account.send((slot, request.server), cause, sending);
            }
            self.accounts.push(account);
        }
    }

    fn prune(&mut self) {
        let mut best = vec![f64::NEG_INFINITY; self.groups.into()];
        for account in &self.accounts {
            let best = &mut best[usize::from(account.group)];
            *best = best.max(account.weight);
        }
        self.accounts.retain(|it| it.weight > best[usize::from(it.group)] - HOPELESS);
        self.accounts.iter_mut().for_each(|it| it.weight -= best[usize::from(it.group)]);
    }
}
