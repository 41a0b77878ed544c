//! Parents of the calls of servers whose one thread works on all requests in turns (event loops).
//!
//! Such a server does one thing at a time, in the order in which messages reach it: whatever it sends
//! follows from a message that came just before, a request or the answer to an earlier call, whose
//! request is known. So its messages, in and out, are followed one by one, and each that it sends is
//! given to one of those that came and were not worked on yet.

mod behaviour;
mod branches;
mod causes;
mod commonness;
mod connections;
mod hypothesis;
mod open;
mod rates;
mod request;
mod tracker;

use crate::topology::Topology;
use crate::visit::{Link, Linked, Means, Visit};
use behaviour::Behaviour;
use commonness::Commonness;
use connections::Connections;
use hypothesis::Sending;
use rates::Rates;
use request::{Call, Request};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use tracker::{Tracker, Verdict};

/// A request's reply leaves at most this long after it came; messages are held back for as long.
const LAG_NS: i64 = 20_000_000_000;
/// How many groups of accounts are followed side by side, and how many accounts in each.
const ACCOUNTS: (u8, usize) = (8, 4);
/// The same while behaviour is learned, which needs to know what is uncertain, not how much.
const WHILE_LEARNING: (u8, usize) = (4, 2);
/// At first, what the quietest of so many equal parts of the sample shows counts.
const QUIET_PART: usize = 20;
/// The sample is gone through so often, each time with less heed to averages.
const HEEDS: [f64; 4] = [2.0, 1.0, 0.3, 0.0];
/// How sure is what all accounts agree upon: all may be wrong about how the program behaves.
const AGREED: f64 = 0.99;
/// A parent is given only if the confidence is this large. Below, few of the groups' disagreements are
/// about more than which of two is first, and half of the links are wrong.
const LEAST_CONFIDENCE: f64 = 0.9;

/// How many requests are under way when it is as quiet as in a small part of the sample.
fn quiet(parents: &[&Visit]) -> usize {
    let mut moments: Vec<(i64, i64)> = parents
        .iter()
        .flat_map(|it| [(it.span.arrival_ns, 1), (it.stay().departure_ns, -1)])
        .collect();
    moments.sort_unstable();
    let mut under_way = 0;
    let mut counts: Vec<i64> = Vec::new();
    for (_, change) in moments {
        under_way += change;
        if change > 0 {
            counts.push(under_way);
        }
    }
    counts.sort_unstable();
    counts.get(counts.len() / QUIET_PART).map_or(1, |&it| it.max(1) as usize)
}

/// A message into the loop or out of it.
#[derive(Clone)]
enum Message {
    Asked(Rc<Request>),
    Replied,
    Called(Rc<Call>, Sending),
    Answered(Rc<Call>),
}

/// When, of which visit.
type Key = (i64, i64);

/// Finds the parents of the calls of one tier's event loops.
pub struct EventLoop {
    behaviour: Behaviour,
    /// What the present pass teaches, which counts from the next on; none if it counts at once.
    next: Option<Behaviour>,
    tracker: Tracker,
    teacher: Tracker,
    connections: Connections,
    order: BinaryHeap<Reverse<(i64, i64, bool)>>,
    messages: FxHashMap<(i64, bool), Message>,
    /// What the teacher has not seen yet.
    lessons: VecDeque<(Key, Message)>,
    verdicts: FxHashMap<i64, (Option<i64>, f64)>,
    visits: FxHashMap<i64, Visit>,
    next_ns: i64,
}

impl EventLoop {
    /// Learns from a sample of parents and children, each in the order of departure.
    /// The ids of the visits at the tiers of `by_id` count.
    pub fn learn(
        parents: &[&Visit],
        children: &[&Visit],
        by_id: &[usize],
        topology: &Topology,
    ) -> Self {
        let has_id =
            |it: &Visit| topology.pair_above(it.server).is_some_and(|pair| by_id.contains(&pair));
        let mut literals = Commonness::default();
        children.iter().for_each(|it| literals.see(&it.literals));
        let rates = Rates::of(parents, children, &literals, topology);
        let mut it = Self::knowing(Behaviour::new(rates, literals, HEEDS[0]), WHILE_LEARNING);
        for (pass, heed) in HEEDS.into_iter().enumerate() {
            it.behaviour.heed = heed;
            if pass == 0 {
                it.teacher.quiet = quiet(parents);
            }
            it.next = (pass > 0).then(|| it.behaviour.afresh(heed));
            let mut children = children.iter().peekable();
            for parent in parents {
                while let Some(child) = children.next_if(|child| child.ended_ns <= parent.ended_ns)
                {
                    it.call(child, has_id(child));
                }
                it.parent(parent);
                it.advance(parent.ended_ns, topology, &mut Vec::new());
            }
            it.advance(i64::MAX, topology, &mut Vec::new());
            let accounts = if pass + 1 < HEEDS.len() { WHILE_LEARNING } else { ACCOUNTS };
            it = Self::knowing(it.next.unwrap_or(it.behaviour), accounts);
        }
        it
    }

    fn knowing(behaviour: Behaviour, (groups, accounts): (u8, usize)) -> Self {
        Self {
            behaviour,
            next: None,
            tracker: Tracker::new(groups, accounts),
            teacher: Tracker::new(1, 1),
            connections: Connections::default(),
            order: BinaryHeap::new(),
            messages: FxHashMap::default(),
            lessons: VecDeque::new(),
            verdicts: FxHashMap::default(),
            visits: FxHashMap::default(),
            next_ns: 0,
        }
    }

    /// A visit that may be a parent.
    pub fn parent(&mut self, visit: &Visit) {
        let request = Rc::new(Request::of(visit));
        let span = request.span;
        self.hold(span.arrival_ns, (visit.visit, false), Message::Asked(request));
        self.hold(span.departure_ns, (visit.visit, true), Message::Replied);
    }

    /// A visit that looks for its parent.
    pub fn child(&mut self, visit: Visit) {
        self.call(&visit, false);
        self.visits.insert(visit.visit, visit);
    }

    /// A visit whose parent is known, or not asked for: it tells of the others'. Its id counts if it
    /// `has_id`.
    pub fn call(&mut self, visit: &Visit, has_id: bool) {
        let call = Rc::new(Call::of(visit, has_id));
        let span = call.span;
        let sending = Sending { at_ns: span.arrival_ns, output: call.label, freed_ns: None };
        self.hold(span.arrival_ns, (visit.visit, false), Message::Called(call.clone(), sending));
        self.hold(span.departure_ns, (visit.visit, true), Message::Answered(call));
    }

    fn hold(&mut self, at_ns: i64, key: (i64, bool), message: Message) {
        self.order.push(Reverse((at_ns, key.0, key.1)));
        self.messages.insert(key, message);
    }

    /// Decides what can be decided at `now_ns`; everything at `i64::MAX`.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        if now_ns < self.next_ns {
            return;
        }
        self.next_ns = now_ns.saturating_add(LAG_NS / 8);
        let until_ns = if now_ns == i64::MAX { now_ns } else { now_ns - LAG_NS };
        while let Some(&Reverse((at_ns, visit, is_end))) = self.order.peek() {
            if at_ns > until_ns {
                break;
            }
            self.order.pop();
            if let Some(message) = self.messages.remove(&(visit, is_end)) {
                self.follow((at_ns, visit), message, topology, out);
            }
        }
        if now_ns == i64::MAX {
            self.decide(now_ns, out);
        }
    }

    fn follow(
        &mut self,
        key: Key,
        mut message: Message,
        topology: &Topology,
        out: &mut Vec<Linked>,
    ) {
        let (at_ns, visit) = key;
        match &mut message {
            Message::Asked(request) => self.tracker.asked(request),
            Message::Replied => self.tracker.replied(visit, at_ns, &mut self.behaviour, 0.0),
            Message::Answered(call) => {
                self.connections.answer(call);
                self.tracker.answered(visit, call, &self.behaviour);
            }
            Message::Called(call, sending) => {
                *sending = self.connections.send(call);
                self.behaviour.literals.see(&call.literals);
                self.tracker.called(visit, call, sending, topology, &self.behaviour);
            }
        }
        self.lessons.push_back((key, message));
        self.decide(at_ns, out);
    }

    fn decide(&mut self, now_ns: i64, out: &mut Vec<Linked>) {
        for Verdict { call, owner, belief } in self.tracker.decide(now_ns) {
            self.verdicts.insert(call, (owner, belief));
            let Some(visit) = self.visits.remove(&call) else { continue };
            let confidence = AGREED * belief;
            let link = owner.filter(|_| confidence >= LEAST_CONFIDENCE);
            let link = link.map(|parent| Link { parent, means: Means::Inferred, confidence });
            out.push((visit, link));
        }
        self.teach();
    }

    /// Teaches the messages up to the first call that is not decided.
    fn teach(&mut self) {
        let behaviour = self.next.as_mut().unwrap_or(&mut self.behaviour);
        while let Some(((at_ns, visit), message)) = self.lessons.pop_front() {
            match &message {
                Message::Asked(request) => self.teacher.asked(request),
                Message::Replied => self.teacher.replied(visit, at_ns, behaviour, 1.0),
                Message::Answered(call) => self.teacher.answered(visit, call, behaviour),
                Message::Called(call, sending) => {
                    let Some(verdict) = self.verdicts.remove(&visit) else {
                        self.lessons.push_front(((at_ns, visit), message));
                        break;
                    };
                    self.teacher.taught(visit, call, sending, verdict, behaviour);
                }
            }
        }
    }
}
