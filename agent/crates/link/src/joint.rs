//! What finds the parents of all calls of some callers together.

use crate::event_loop::EventLoop;
use crate::infer::Sequences;
use crate::topology::Topology;
use crate::visit::{Linked, Visit};

/// By how the callers work.
pub enum Joint {
    /// One thread works on all requests in turns.
    EventLoop(Box<EventLoop>),
    /// Each request has a thread, or a task, of its own.
    Sequences(Box<Sequences>),
}

impl Joint {
    /// A visit that may be a parent.
    pub fn parent(&mut self, visit: &Visit) {
        match self {
            Joint::EventLoop(it) => it.parent(visit),
            Joint::Sequences(it) => it.parent(visit),
        }
    }

    /// A visit that looks for its parent.
    pub fn child(&mut self, visit: Visit) {
        match self {
            Joint::EventLoop(it) => it.child(visit),
            Joint::Sequences(it) => it.child(visit),
        }
    }

    /// A visit whose parent is found elsewhere. Its id counts if it `has_id`.
    pub fn call(&mut self, visit: &Visit, has_id: bool) {
        if let Joint::EventLoop(it) = self {
            it.call(visit, has_id);
        }
    }

    /// Decides what can be decided at `now_ns`; everything at `i64::MAX`.
    pub fn advance(&mut self, now_ns: i64, topology: &Topology, out: &mut Vec<Linked>) {
        match self {
            Joint::EventLoop(it) => it.advance(now_ns, topology, out),
            Joint::Sequences(it) => it.advance(now_ns, topology, out),
        }
    }
}
