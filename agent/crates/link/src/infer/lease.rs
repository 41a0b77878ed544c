//! Leases: the children on one connection that belong to one parent, from the moment it took the
//! connection until it gave it back.

use crate::infer::model::Model;
use crate::names::Name;
use crate::topology::Server;
use crate::visit::{Span, Visit};
use rustc_hash::FxHashMap;

/// A connection that was silent for so long carries another parent's child next.
const SILENCE_NS: i64 = 2_000_000_000;

/// Children of one parent, in order.
#[derive(Debug)]
pub struct Lease {
    /// At least one.
    pub children: Vec<Visit>,
    /// When its connection was used next; none when it fell silent, or is not lent.
    pub next_ns: Option<i64>,
}

impl Lease {
    fn beginning(visit: Visit) -> Self {
        Self { children: vec![visit], next_ns: None }
    }

    /// From the first child's arrival to the last one's departure.
    pub fn span(&self) -> Span {
        let first = &self.children[0];
        let last = &self.children[self.children.len() - 1];
        Span { arrival_ns: first.span.arrival_ns, departure_ns: last.ended_ns }
    }

    /// When the last reply was there: its end on a lent connection, whose next request needs it
    /// whole; its start elsewhere, because a reply can be passed on from its first byte.
    pub fn answered_ns(&self) -> i64 {
        let last = &self.children[self.children.len() - 1];
        let reply_ns = if last.lent { None } else { last.reply_start_ns };
        reply_ns.unwrap_or(last.ended_ns)
    }

    /// Where.
    pub fn server(&self) -> Server {
        self.children[0].server
    }

    /// The children's labels.
    pub fn labels(&self) -> Vec<Name> {
        self.children.iter().map(|child| child.label).collect()
    }

    /// All literals of the children, each once.
    pub fn literals(&self) -> Vec<u64> {
        let mut all: Vec<u64> =
            self.children.iter().flat_map(|child| child.literals.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Cuts connections into leases.
#[derive(Default)]
pub struct Leases {
    open: FxHashMap<(Server, i64), Lease>,
}

impl Leases {
    /// Takes the next child of a connection; returns the lease that thereby ended. A child on a
    /// connection that is not lent is a lease of its own.
    pub fn push(&mut self, visit: Visit, model: &Model) -> Option<Lease> {
        if !visit.lent {
            return Some(Lease::beginning(visit));
        }
        let key = (visit.server, visit.connection);
        match self.open.get_mut(&key) {
            Some(lease) if belongs(lease, &visit, model) => {
                lease.children.push(visit);
                None
            }
            _ => {
                let next_ns = visit.span.arrival_ns;
                let ended = self.open.insert(key, Lease::beginning(visit));
                ended.map(|lease| Lease { next_ns: Some(next_ns), ..lease })
            }
        }
    }

    /// Takes the leases whose connection was last used before `until_ns`.
    pub fn silent(&mut self, until_ns: i64) -> Vec<Lease> {
        let due = |lease: &Lease| lease.span().departure_ns < until_ns.saturating_sub(SILENCE_NS);
        self.open.extract_if(|_, lease| due(lease)).map(|(_, lease)| lease).collect()
    }
}

fn belongs(lease: &Lease, visit: &Visit, model: &Model) -> bool {
    let last = &lease.children[lease.children.len() - 1];
    let pause_ns = visit.span.arrival_ns.saturating_sub(last.ended_ns);
    let (same, parted) = model.pauses(pause_ns);
    pause_ns < SILENCE_NS
        && model.grammar.odds_of_same((last.label, visit.label)) * same / parted > 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;
    use crate::infer::delay::Delays;
    use crate::infer::grammar::Grammar;

    /// `1` is always followed by `2` on the same page; after `2` comes another page.
    fn model() -> Model {
        let mut grammar = Grammar::default();
        for _ in 0..100 {
            grammar.see_neighbours((1, 2), 0.99);
            grammar.see_neighbours((2, 1), 0.01);
        }
        Model { grammar, within: Delays::new(), between: Delays::new() }
    }

    fn statement(number: i64, label: u32) -> Visit {
        let start = number * 1_000_000;
        visit(number).on(7).lent().label(label).during(start, start + 500_000).build()
    }

    fn numbers(lease: Option<Lease>) -> Option<Vec<i64>> {
        lease.map(|lease| lease.children.iter().map(|child| child.visit).collect())
    }

    #[test]
    fn a_lease_ends_where_another_page_begins() {
        let (model, mut leases) = (model(), Leases::default());
        assert_eq!(numbers(leases.push(statement(1, 1), &model)), None);
        assert_eq!(numbers(leases.push(statement(2, 2), &model)), None);
        assert_eq!(numbers(leases.push(statement(3, 1), &model)), Some(vec![1, 2]));
        assert!(leases.silent(4_000_000).is_empty(), "the connection was used just now");
        let rest = leases.silent(i64::MAX);
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].children[0].visit, 3);
    }

    #[test]
    fn a_lease_knows_when_its_connection_was_used_again() {
        let (model, mut leases) = (model(), Leases::default());
        leases.push(statement(1, 1), &model);
        leases.push(statement(2, 2), &model);
        let ended = leases.push(statement(3, 1), &model).unwrap();
        assert_eq!(ended.next_ns, Some(3_000_000));
        assert_eq!(leases.silent(i64::MAX)[0].next_ns, None);
    }

    #[test]
    fn a_long_silence_ends_a_lease_whatever_was_said() {
        let (model, mut leases) = (model(), Leases::default());
        leases.push(statement(1, 1), &model);
        let late = statement(1 + 3 * SILENCE_NS / 1_000_000, 2);
        assert_eq!(numbers(leases.push(late, &model)), Some(vec![1]));
    }

    #[test]
    fn a_visit_on_a_connection_that_is_not_lent_stands_alone() {
        let page = visit(5).on(7).during(0, 10).build();
        assert_eq!(numbers(Leases::default().push(page, &model())), Some(vec![5]));
    }
}
