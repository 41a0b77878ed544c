//! What a run of the verb found, for the manifest.

use crate::topology::Topology;
use crate::visit::{Linked, Means};
use serde::Serialize;
use std::collections::BTreeMap;

/// The last line of the verb.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Visits read and written.
    pub visits: u64,
    /// Visits at servers that the plan does not name.
    pub strangers: u64,
    /// One for every tier that others call.
    pub pairs: Vec<PairSummary>,
    /// By server whose threads were traced: how they share requests.
    pub threads: BTreeMap<String, Threads>,
    /// CPU time that linking took.
    pub cpu_ns: i64,
}

/// How a server's threads share the requests that they read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Threads {
    /// Requests that threads read.
    pub served: u64,
    /// Those of them whose thread had another one under way.
    pub shared: u64,
    /// Those of them that another thread went on with.
    pub handed_on: u64,
    /// Calls that were sent.
    pub calls: u64,
    /// Replies and calls of threads that had another call under way.
    pub overlapping: u64,
    /// Calls between the read of the request to which their thread replied next and that reply.
    pub before_reply: u64,
    /// Who works on one request until it is replied to, if anybody does.
    pub one_request_each: Option<Keeper>,
}

/// Which worker has a request to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// The one that read it.
    Reader,
    /// The one that replies to it: another one read it, and handed it on.
    Replier,
}

/// How the visits of one tier were linked to those that call it.
#[derive(Debug, Serialize)]
pub struct PairSummary {
    /// The two tiers, as in `app-lb`.
    pub pair: String,
    /// Visits at the lower tier.
    pub visits: u64,
    /// Linked by an explicit mark.
    pub by_id: u64,
    /// Linked by the thread that read the one request and sent the other.
    pub by_thread: u64,
    /// Linked by inference.
    pub inferred: u64,
    /// Of those by thread: how many have two request ids to compare, and in how many they differ.
    pub thread_check: ThreadCheck,
    /// Without a parent.
    pub unlinked: u64,
    /// Mean confidence of the links; null when there are none.
    pub mean_confidence: Option<f64>,
    /// How right inference is on this very run; null when nothing was there to compare it with.
    pub self_check: Option<SelfCheck>,
    #[serde(skip)]
    confidence: f64,
}

/// Links by thread beside the ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadCheck {
    /// Links whose two visits carry request ids.
    pub visits: u64,
    /// Those of them whose ids differ.
    pub differ: u64,
}

/// Inference beside the ids, on a stretch of the run whose visits carry ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SelfCheck {
    /// Visits compared.
    pub visits: u64,
    /// Share whose inferred parent is the one that the ids name.
    pub right: f64,
    /// Share that was given another parent than the ids name.
    pub false_links: f64,
    /// Share that was given no parent.
    pub unlinked: f64,
}

impl SelfCheck {
    /// Counts one visit, whose parent is `truth`; the shares are counts until [`Self::shares`].
    pub(crate) fn count(&mut self, truth: i64, guess: Option<i64>) {
        self.visits += 1;
        match guess {
            Some(guess) if guess == truth => self.right += 1.0,
            Some(_) => self.false_links += 1.0,
            None => self.unlinked += 1.0,
        }
    }

    /// The counts as shares.
    pub(crate) fn shares(mut self) -> Self {
        for count in [&mut self.right, &mut self.false_links, &mut self.unlinked] {
            *count /= self.visits as f64;
        }
        self
    }
}

impl Summary {
    /// Nothing seen yet.
    pub fn new(topology: &Topology) -> Self {
        let pair = |name: &String| PairSummary {
            pair: name.clone(),
            visits: 0,
            by_id: 0,
            by_thread: 0,
            inferred: 0,
            thread_check: ThreadCheck::default(),
            unlinked: 0,
            mean_confidence: None,
            self_check: None,
            confidence: 0.0,
        };
        let pairs = topology.pairs().iter().map(pair).collect();
        Self { visits: 0, strangers: 0, pairs, threads: BTreeMap::new(), cpu_ns: 0 }
    }

    /// Counts one visit.
    pub fn count(&mut self, (visit, link): &Linked, topology: &Topology) {
        self.visits += 1;
        if !topology.knows(visit.server) {
            self.strangers += 1;
            return;
        }
        let Some(above) = topology.pair_above(visit.server) else { return };
        let pair = &mut self.pairs[above];
        pair.visits += 1;
        let Some(link) = link else {
            pair.unlinked += 1;
            return;
        };
        match link.means {
            Means::Id => pair.by_id += 1,
            Means::Thread => pair.by_thread += 1,
            Means::Inferred => pair.inferred += 1,
        }
        pair.confidence += link.confidence;
        let linked = (pair.by_id + pair.by_thread + pair.inferred) as f64;
        pair.mean_confidence = Some(pair.confidence / linked);
    }
}
