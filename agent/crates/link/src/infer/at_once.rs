//! Whether requests have several leases each, as those of an event loop do that ask for several things
//! at once.
//!
//! The matching gives a parent one lease: a thread works on one request, and asks one thing after the
//! other on the connection that it holds. Where a request has more, what fits it may be another's all
//! the same, and beliefs are surer than they are right.

use crate::names::Name;
use crate::visit::Visit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// What is asked at once begins within this time.
const TOGETHER_NS: i64 = 200_000;
/// So many of a kind, so large a share of it, and so many times what chance would bring about, begin
/// together with another kind.
const LEAST: usize = 20;
const SHARE: f64 = 0.4;
const BEYOND_CHANCE: f64 = 10.0;

/// On connections that are not lent each child is a lease: more of them than this for each parent are
/// several of some,
const FOR_EACH: f64 = 1.02;
/// and so are they where so large a share begins while the connection has another under way.
const SHARED: f64 = 0.02;

/// True if requests have several leases each, as far as the children tell.
pub fn at_once(parents: usize, children: &[&Visit]) -> bool {
    let mut children: Vec<&Visit> = children.to_vec();
    children.sort_by_key(|child| child.span.arrival_ns);
    let (lent, single): (Vec<&Visit>, Vec<&Visit>) = children.into_iter().partition(|it| it.lent);
    is_shared(parents, &single) || begin_together(&lent)
}

/// Whether there are more children than parents, or connections have several under way.
fn is_shared(parents: usize, children: &[&Visit]) -> bool {
    let is_more = children.len() as f64 > FOR_EACH * parents as f64;
    (children.len() >= LEAST && is_more) || overlap(children)
}

/// True if connections that are not lent have several children under way: whoever calls on them waits
/// for none of them, and works on several requests at a time.
fn overlap(children: &[&Visit]) -> bool {
    let mut single: Vec<&Visit> = children.iter().copied().filter(|it| !it.lent).collect();
    single.sort_by_key(|child| child.span.arrival_ns);
    let mut until: FxHashMap<_, i64> = FxHashMap::default();
    let mut overlapping = 0;
    for child in &single {
        let until_ns = until.entry((child.server, child.connection)).or_insert(i64::MIN);
        overlapping += usize::from(child.span.arrival_ns < *until_ns);
        *until_ns = child.ended_ns.max(*until_ns);
    }
    single.len() >= LEAST && overlapping as f64 > SHARED * single.len() as f64
}

/// Looks for kinds of children, by their labels, that as a rule begin while one of another kind has
/// just begun on another connection, or have such a one begin behind them.
fn begin_together(children: &[&Visit]) -> bool {
    let (Some(first), Some(last)) = (children.first(), children.last()) else { return false };
    let lasted_ns = (last.span.arrival_ns - first.span.arrival_ns).max(1) as f64;
    let mut all: FxHashMap<Name, usize> = FxHashMap::default();
    for child in children {
        *all.entry(child.label).or_default() += 1;
    }
    let count = |kind| all.get(&kind).copied().unwrap_or(0) as f64;
    let chance = |kind| 1.0 - (-count(kind) * TOGETHER_NS as f64 / lasted_ns).exp();
    let is_rule = |seen: usize, of: Name, with: Name| {
        let share = seen as f64 / count(of).max(1.0);
        seen >= LEAST && share >= SHARE && share >= BEYOND_CHANCE * chance(with)
    };
    let together = Together::of(children);
    together.followed.iter().any(|(&(before, kind), &seen)| is_rule(seen, before, kind))
        || together.preceded.iter().any(|(&(before, kind), &seen)| is_rule(seen, kind, before))
}

/// By two kinds: how many of the first had one of the second begin behind them, and how many of the
/// second had one of the first before them.
#[derive(Default)]
struct Together {
    followed: FxHashMap<(Name, Name), usize>,
    preceded: FxHashMap<(Name, Name), usize>,
}

impl Together {
    /// Of children in the order of arrival.
    fn of(children: &[&Visit]) -> Self {
        let mut it = Self::default();
        let mut recent: VecDeque<(&Visit, FxHashSet<Name>)> = VecDeque::new();
        for &child in children {
            let now_ns = child.span.arrival_ns;
            recent.retain(|(one, _)| {
                one.span.arrival_ns + TOGETHER_NS >= now_ns && one.ended_ns > now_ns
            });
            let mut before = FxHashSet::default();
            for (one, behind) in &mut recent {
                let is_same = (one.server, one.connection) == (child.server, child.connection);
                if one.label == child.label || is_same {
                    continue;
                }
                if behind.insert(child.label) {
                    *it.followed.entry((one.label, child.label)).or_default() += 1;
                }
                if before.insert(one.label) {
                    *it.preceded.entry((one.label, child.label)).or_default() += 1;
                }
            }
            recent.push_back((child, FxHashSet::default()));
        }
        it
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::visit;

    /// A hundred requests with two statements each, the second so long after the first on another
    /// connection.
    fn found(apart_ns: i64) -> bool {
        let statements: Vec<Visit> = (0..200)
            .map(|n| {
                let start = n / 2 * 10_000_000 + n % 2 * apart_ns;
                let label = (n % 2) as u32;
                let it = visit(n).on(n % 2).lent().label(label).during(start, start + 150_000);
                it.build()
            })
            .collect();
        at_once(100, &statements.iter().collect::<Vec<_>>())
    }

    #[test]
    fn statements_under_way_together_are_told_from_those_that_follow_each_other() {
        assert!(found(50_000));
        assert!(!found(151_000));
        assert!(!at_once(0, &[]));
    }

    #[test]
    fn many_that_overlap_by_chance_are_not_at_once() {
        use rand::{Rng, SeedableRng};
        let mut random = rand::rngs::StdRng::seed_from_u64(3);
        let statements: Vec<Visit> = (0..20_000)
            .map(|n| {
                let start = random.random_range(0..4_000_000_000);
                let label = random.random_range(0..4);
                visit(n).on(n).lent().label(label).during(start, start + 5_000_000).build()
            })
            .collect();
        assert!(!at_once(1_000, &statements.iter().collect::<Vec<_>>()));
    }

    /// As many commands for each of a hundred requests, so long after each other on one connection.
    fn commands(each: i64, apart_ns: i64) -> bool {
        let begin = |n: i64| n / each * 10_000_000 + n % each * apart_ns;
        let commands: Vec<Visit> = (0..100 * each)
            .map(|n| visit(n).on(7).during(begin(n), begin(n) + 150_000).build())
            .collect();
        at_once(100, &commands.iter().collect::<Vec<_>>())
    }

    #[test]
    fn where_no_connection_is_lent_several_commands_are_several_leases() {
        assert!(!commands(1, 0));
        assert!(commands(2, 200_000), "more than one for each");
        let shared: Vec<Visit> =
            (0..90).map(|n| visit(n).on(7).during(n * 100, n * 100 + 150).build()).collect();
        assert!(at_once(100, &shared.iter().collect::<Vec<_>>()), "several under way");
    }
}
