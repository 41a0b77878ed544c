//! The requests that are under way, and which of them may have made a call.

use crate::event_loop::behaviour::Behaviour;
use crate::event_loop::request::{Call, Request};
use crate::topology::Topology;
use rustc_hash::FxHashMap;

/// The logarithm of the probability that a request does not wait for its call's answer.
const NOT_AWAITED: f64 = -4.0;
/// If more are under way it is not asked which of them made a call: hardly one could be told, and what
/// that costs grows with the square of their number.
const MOST_UNDER_WAY: usize = 128;

/// The requests under way, each in a slot.
#[derive(Default)]
pub struct Open {
    slots: Vec<Option<Request>>,
    free: Vec<usize>,
    by_visit: FxHashMap<i64, usize>,
    is_crowded: bool,
}

impl Open {
    /// A request came; its slot.
    pub fn ask(&mut self, request: Request) -> usize {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        self.by_visit.insert(request.visit, slot);
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(request);
        self.is_crowded |= self.len() > MOST_UNDER_WAY;
        slot
    }

    /// A request's reply has left. The others are in other slots when that ends a crowd.
    pub fn close(&mut self, slot: usize) {
        let Some(request) = self.slots[slot].take() else { return };
        self.by_visit.remove(&request.visit);
        self.free.push(slot);
        if self.is_crowded && self.len() <= MOST_UNDER_WAY / 2 {
            let rest = std::mem::take(self).slots;
            rest.into_iter().flatten().for_each(|it| {
                self.ask(it);
            });
        }
    }

    /// True from when there are too many until there are half as many.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// The request in a slot.
    pub fn request(&self, slot: usize) -> Option<&Request> {
        self.slots[slot].as_ref()
    }

    /// A request's slot.
    pub fn slot(&self, visit: i64) -> Option<usize> {
        self.by_visit.get(&visit).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_visit.len()
    }

    /// The slots of the requests that may have made a call.
    pub fn around<'a>(
        &'a self,
        call: &'a Call,
        topology: &'a Topology,
    ) -> impl Iterator<Item = usize> + 'a {
        let may = move |request: &Request| {
            request.span.departure_ns >= call.span.arrival_ns
                && topology.calls(request.server, call.server)
                && call.id.is_none_or(|id| request.id == Some(id))
        };
        let all = self.slots.iter().enumerate();
        all.filter(move |(_, it)| it.as_ref().is_some_and(may)).map(|(slot, _)| slot)
    }

    /// The slots of the requests that may have made a call, each with the logarithm of how its
    /// contents speak for it.
    pub fn callers(
        &self,
        call: &Call,
        topology: &Topology,
        behaviour: &Behaviour,
        found: &mut Vec<(usize, f64)>,
    ) {
        found.clear();
        for slot in self.around(call, topology) {
            let Some(request) = &self.slots[slot] else { continue };
            let is_awaited = call.span.departure_ns <= request.span.departure_ns;
            let rarity = behaviour.literals.rarity(&call.literals, &request.literals);
            let literals = behaviour.log_literal(request.page, call.label, rarity);
            found.push((slot, literals + if is_awaited { 0.0 } else { NOT_AWAITED }));
        }
    }
}
