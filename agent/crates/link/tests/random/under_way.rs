//! What is under way in a simulated application: visits, and the threads and connections of its tiers.

use std::collections::{BTreeMap, VecDeque};

/// A visit under way, or a round of background work (without a number).
pub struct Task {
    pub tier: usize,
    pub number: Option<i64>,
    pub server: u16,
    pub label: u32,
    pub caller: Option<usize>,
    pub user: Option<usize>,
    pub connection: i64,
    pub thread: usize,
    pub arrival_ns: i64,
    /// What it does next, the last first: the work before, and the calls that it issues together.
    pub steps: Vec<(i64, Vec<Call>)>,
    pub last_ns: i64,
    pub pending: usize,
    pub literal: u64,
    pub leases: BTreeMap<usize, i64>,
    /// Its caller still waits for it.
    pub awaited: bool,
}

#[derive(Clone, Copy)]
pub struct Call {
    pub tier: usize,
    pub page: usize,
    pub is_given_up: bool,
}

/// A tier's threads and connections.
#[derive(Default)]
pub struct State {
    /// All threads, and those that are free.
    pub size: usize,
    pub threads: Vec<usize>,
    pub waiting: VecDeque<usize>,
    pub idle: VecDeque<i64>,
    pub opened: usize,
    pub pool: usize,
    pub for_connection: VecDeque<(usize, Call)>,
    pub in_use: usize,
    /// Time integrals of threads and connections in use.
    pub busy_ns: f64,
    pub used_ns: f64,
}

impl State {
    pub fn grow(&mut self, threads: usize) {
        self.size = threads;
        self.threads = (0..threads).collect();
    }
}
