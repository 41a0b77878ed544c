//! A workload made ready to be played: names resolved to numbers, distributions summed up.

use crate::links;
use crate::operation::{Condition, Step};
use crate::replay::Recorded;
use crate::request::Request;
use crate::state::{Encoding, Method, State};
use crate::upload;
use crate::workload::Workload;
use std::collections::BTreeMap;

/// The site among the servers, which the plan's `targets` are.
pub const SITE: u8 = 0;
/// The pseudo-state that returns to the state before.
pub const BACK: u8 = 254;
/// The pseudo-state that ends the session.
pub const END: u8 = 255;

/// A workload, ready to be played.
pub struct Script {
    /// The workload itself.
    pub workload: Workload,
    /// What its site is called, for links that say it: the `Host` of each server that is called.
    pub hosts: Vec<String>,
    /// The same of the further servers, in the order of the plan's `servers`.
    others: Vec<Vec<String>>,
    /// By state: the server that is asked.
    server_of: Vec<u8>,
    /// By session kind: the home state.
    homes: Vec<u8>,
    /// The names under which links and what is extracted are remembered.
    pub memories: Vec<String>,
    /// By session kind and state: the next states with their probabilities.
    transitions: Vec<Vec<Vec<(u8, f64)>>>,
    /// By state: the cumulative weights of its rows.
    row_weights: Vec<Vec<f64>>,
    /// By session kind: the share of the users up to and with it.
    shares: Vec<f64>,
    /// By state: the pages of its operation.
    operations: Vec<Box<[Part]>>,
    /// By state: what ends the body of its request, where that has parts.
    tails: Vec<Box<[u8]>>,
    /// The paths of all resources that states name.
    pub resources: Vec<String>,
    /// By state: its resources.
    resources_of: Vec<Box<[u16]>>,
    /// Whether users have what a browser keeps.
    pub browsers: bool,
    /// What was recorded.
    pub visits: Vec<Box<[Recorded]>>,
}

/// A page of an operation.
pub struct Part {
    /// The state that it is a page of.
    pub state: u8,
    /// When it is asked for.
    pub when: Condition,
    /// Whether it is the operation's own, without which there is none.
    pub own: bool,
}

impl Script {
    /// Prepares a checked workload for a site of these names, without further servers.
    pub fn new(mut workload: Workload, hosts: Vec<String>) -> Self {
        let visits = std::mem::take(&mut workload.visits);
        let number = |name: &str| match name {
            "Back" => BACK,
            "End" => END,
            name => workload.state(name).unwrap_or(END),
        };
        let transitions = workload.sessions.iter().map(|kind| {
            let column = |name: &String| {
                let column = kind.transitions.get(name).map(Vec::as_slice).unwrap_or_default();
                column.iter().map(|(to, p)| (number(to), *p)).collect()
            };
            workload.states.iter().map(|state| column(&state.name)).collect()
        });
        let transitions = transitions.collect();
        let picked =
            workload.states.iter().filter_map(|state| state.pick.as_ref()?.remember.clone());
        let extracted =
            workload.states.iter().flat_map(|state| &state.extract).map(|it| it.name.clone());
        let mut memories: Vec<String> = picked.chain(extracted).collect();
        memories.sort();
        memories.dedup();
        let weights = |state: &State| {
            cumulative(state.row.iter().flat_map(|rows| rows.weights.iter().copied()))
        };
        let part = |step: &Step| {
            let (state, when) = (number(&step.state), step.when.clone());
            Part { state, when, own: false }
        };
        let operation = |state: &State| {
            let own = Part { state: number(&state.name), when: Condition::default(), own: true };
            let before = state.before.iter().map(part);
            before.chain([own]).chain(state.after.iter().map(part)).collect()
        };
        let visit = |requests: Vec<(i64, String, String)>| {
            let recorded = |(at_ns, state, target): (i64, String, String)| {
                let target = target.into_bytes().into();
                Recorded { at_ns, state: number(&state), target }
            };
            requests.into_iter().map(recorded).collect()
        };
        let tail = |state: &State| match state.encoding {
            Encoding::Multipart => upload::tail(&state.parameters, &workload.files).into(),
            Encoding::Urlencoded => Box::default(),
        };
        let mut resources: Vec<String> =
            workload.states.iter().flat_map(|state| state.resources.iter().cloned()).collect();
        resources.sort();
        resources.dedup();
        let resources_of = |state: &State| {
            let places =
                state.resources.iter().filter_map(|path| resources.binary_search(path).ok());
            places.map(|place| place as u16).collect()
        };
        Self {
            others: Vec::new(),
            server_of: vec![SITE; workload.states.len()],
            operations: workload.states.iter().map(operation).collect(),
            tails: workload.states.iter().map(tail).collect(),
            resources_of: workload.states.iter().map(resources_of).collect(),
            browsers: workload.needs_browsers(),
            resources,
            homes: workload
                .sessions
                .iter()
                .map(|kind| number(kind.home.as_ref().unwrap_or(&workload.home)))
                .collect(),
            row_weights: workload.states.iter().map(weights).collect(),
            shares: cumulative(workload.sessions.iter().map(|kind| kind.share)),
            transitions,
            memories,
            visits: visits.into_iter().map(visit).collect(),
            hosts,
            workload,
        }
    }

    /// Has states ask the servers that they name, each with what it is called. Fails with the
    /// sentence about a state that names another.
    pub fn with_servers(mut self, servers: &BTreeMap<String, Vec<String>>) -> Result<Self, String> {
        for (state, server) in self.workload.states.iter().zip(&mut self.server_of) {
            let Some(name) = &state.server else { continue };
            let Some(at) = servers.keys().position(|it| it == name) else {
                return Err(format!(
                    "state {:?} asks the server {name:?}, which the plan's `servers` lack",
                    state.name
                ));
            };
            *server = at as u8 + 1;
        }
        self.others = servers.values().cloned().collect();
        Ok(self)
    }

    /// The server that a state asks.
    pub fn server_of(&self, state: u8) -> u8 {
        self.server_of[usize::from(state)]
    }

    /// What a server is called.
    pub fn hosts_of(&self, server: u8) -> &[String] {
        match server.checked_sub(1) {
            None => &self.hosts,
            Some(at) => &self.others[usize::from(at)],
        }
    }

    /// Where a reference leads that the reply for the target `from` of a server has: to which server,
    /// and the target there. `None` when it is off all of them.
    pub fn leads(&self, reference: &[u8], from: &[u8], server: u8) -> Option<(u8, Box<[u8]>)> {
        let there = |it: u8| Some((it, links::target(reference, from, self.hosts_of(it))?));
        let others = (SITE..=self.others.len() as u8).filter(|it| *it != server);
        there(server).or_else(|| others.into_iter().find_map(there))
    }

    /// Whether a reference leads off all servers.
    pub fn leaves(&self, reference: &[u8]) -> bool {
        links::leaves(reference, &self.hosts)
            && self.others.iter().all(|hosts| links::leaves(reference, hosts))
    }

    /// The state in which sessions of a kind start.
    pub fn home(&self, kind: u8) -> u8 {
        self.homes[usize::from(kind)]
    }

    /// The session kind of the user `number`: each kind's users are spread evenly, so that any
    /// run of users holds every kind in its share, unless they take turns.
    pub fn kind_of(&self, number: u32) -> u8 {
        if self.workload.sessions_in_turn {
            return (number as usize % self.shares.len()) as u8;
        }
        // Additive recurrence with the golden ratio: a low-discrepancy sequence in [0, 1).
        let place = (f64::from(number) * 0.618_033_988_749_894_9).fract();
        let kind = self.shares.partition_point(|upto| *upto <= place);
        kind.min(self.shares.len() - 1) as u8
    }

    /// The state after `from`, given a uniform draw. Columns are walked as they stand; beyond
    /// their sum the state repeats.
    pub fn next(&self, kind: u8, from: u8, draw: f64) -> u8 {
        let mut upto = 0.0;
        for (to, probability) in &self.transitions[usize::from(kind)][usize::from(from)] {
            upto += probability;
            if draw < upto {
                return *to;
            }
        }
        from
    }

    /// The pages of the state's operation, in order.
    pub fn operation(&self, state: u8) -> &[Part] {
        &self.operations[usize::from(state)]
    }

    /// What ends the body of a request, after its fields.
    pub fn tail(&self, request: &Request) -> &[u8] {
        if request.method == Method::Post { &self.tails[usize::from(request.state)] } else { &[] }
    }

    /// Whether a request says from which site it comes: where a reply makes a page of what was sent,
    /// browsers do not any more (Fetch standard, section 3.2).
    pub fn says_origin(&self, request: &Request) -> bool {
        let state = &self.workload.states[usize::from(request.state)];
        state.origin && state.method == request.method
    }

    /// The resources of the state's page, by their places in [`Script::resources`].
    pub fn resources_of(&self, state: u8) -> &[u16] {
        &self.resources_of[usize::from(state)]
    }

    /// Whether a path is that of a resource of the state's page.
    pub fn has_resource(&self, state: u8, path: &[u8]) -> bool {
        let place = self.resources.binary_search_by(|it| it.as_bytes().cmp(path));
        place.is_ok_and(|place| self.resources_of(state).contains(&(place as u16)))
    }

    /// Whether one can go back from `state`.
    pub fn leads_back(&self, kind: u8, state: u8) -> bool {
        self.transitions[usize::from(kind)][usize::from(state)]
            .iter()
            .any(|(to, probability)| *to == BACK && *probability > 0.0)
    }

    /// The row of `state` that a uniform draw falls on.
    pub fn row(&self, state: u8, draw: f64) -> usize {
        let weights = &self.row_weights[usize::from(state)];
        let total = weights.last().copied().unwrap_or(0.0);
        weights.partition_point(|upto| *upto <= draw * total).min(weights.len().saturating_sub(1))
    }
}

fn cumulative(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    weights
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}
