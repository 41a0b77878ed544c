//! Who calls whom.

use std::collections::BTreeMap;

/// A server's number in its [`Topology`].
pub type Server = u16;

/// The stated servers are not tiers above tiers.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum TopologyError {
    /// A server calls itself through others.
    #[error("in `servers` {0} calls itself, directly or through others: state each call downwards")]
    Cycle(String),
    /// More servers than can be numbered.
    #[error("`servers` names more than 65,000 servers: link them in parts")]
    TooMany,
}

/// The servers, by number, and the calls between them.
///
/// The servers of one name but for their numbers are a tier. A tier that is called, with those that
/// call it, is a pair: what tells its visits their parents is the same for all of them.
#[derive(Clone, Debug)]
pub struct Topology {
    names: Vec<String>,
    callers: Vec<Vec<Server>>,
    /// By server, in order: all that call it, directly or through others.
    uppers: Vec<Vec<Server>>,
    /// The pairs' names, those above first.
    pairs: Vec<String>,
    /// By server: the pair in which it is called, and those in which it calls.
    above: Vec<Option<usize>>,
    below: Vec<Vec<usize>>,
    event_loops: Vec<bool>,
}

impl Topology {
    /// Builds the topology from every server's list of those that it calls.
    ///
    /// # Errors
    /// When the calls go in a circle.
    pub fn new(calls: &BTreeMap<String, Vec<String>>) -> Result<Self, TopologyError> {
        let mut names: Vec<String> = calls.keys().cloned().collect();
        names.extend(calls.values().flatten().cloned());
        names.sort();
        names.dedup();
        if names.len() > 65_000 {
            return Err(TopologyError::TooMany);
        }
        let mut callers = vec![Vec::new(); names.len()];
        for (caller, called) in calls {
            for name in called {
                callers[position(&names, name)].push(position(&names, caller) as Server);
            }
        }
        let depths = depths(&names, &callers)?;
        let mut called: Vec<(usize, &str)> = (0..names.len())
            .filter(|&server| !callers[server].is_empty())
            .map(|server| (depths[server], tier_of(&names[server])))
            .collect();
        called.sort_unstable();
        called.reverse();
        // Of a tier with servers at several depths the deepest counts.
        let mut tiers: Vec<&str> = Vec::new();
        for (_, tier) in called {
            if !tiers.contains(&tier) {
                tiers.push(tier);
            }
        }
        tiers.reverse();
        let above = (0..names.len())
            .map(|server| {
                let pair = tiers.iter().position(|&tier| tier == tier_of(&names[server]));
                pair.filter(|_| !callers[server].is_empty())
            })
            .collect();
        let (event_loops, uppers) = (vec![false; names.len()], uppers(&depths, &callers));
        let (pairs, below) = (Vec::new(), Vec::new());
        let mut it = Self { pairs, above, below, names: vec![], callers, uppers, event_loops };
        it.below = (0..names.len()).map(|server| it.called_by(server as Server)).collect();
        it.pairs = (tiers.iter().enumerate())
            .map(|(pair, tier)| format!("{}-{tier}", callers_of(pair, &it.below, &names)))
            .collect();
        it.names = names;
        Ok(it)
    }

    /// The same, where the servers of these names are event loops: one thread works on all requests
    /// in turns.
    #[must_use]
    pub fn with_event_loops(mut self, event_loops: &[String]) -> Self {
        self.event_loops = self.names.iter().map(|name| event_loops.contains(name)).collect();
        self
    }

    /// The pairs all of whose callers are event loops, in groups that have callers in common.
    pub fn event_loops(&self) -> Vec<Vec<usize>> {
        let is_loops = |&pair: &usize| self.callers_in(pair).all(|server| self.event_loops[server]);
        let pairs: Vec<usize> = (0..self.pairs.len()).filter(is_loops).collect();
        self.with_common_callers(&pairs)
    }

    /// The servers that call in a pair.
    fn callers_in(&self, pair: usize) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(move |&server| self.below[server].contains(&pair))
    }

    /// These pairs, in groups that have callers in common.
    pub fn with_common_callers(&self, pairs: &[usize]) -> Vec<Vec<usize>> {
        let callers = |pair: usize| self.callers_in(pair);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &pair in pairs {
            let related = |group: &Vec<usize>| {
                group.iter().any(|&it| callers(it).any(|one| self.below[one].contains(&pair)))
            };
            let mut joined = vec![pair];
            groups.extract_if(.., |group| related(group)).for_each(|group| joined.extend(group));
            joined.sort_unstable();
            groups.push(joined);
        }
        groups
    }

    /// The pairs in which a server calls.
    fn called_by(&self, upper: Server) -> Vec<usize> {
        let mut pairs: Vec<usize> = (self.callers.iter().zip(&self.above))
            .filter(|(callers, _)| callers.contains(&upper))
            .filter_map(|(_, &pair)| pair)
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The servers' names, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// False for a server beyond the topology.
    pub fn knows(&self, server: Server) -> bool {
        usize::from(server) < self.names.len()
    }

    /// The pairs' names, as in `app-lb`, those above first.
    pub fn pairs(&self) -> &[String] {
        &self.pairs
    }

    /// The pair in which a server is called.
    pub fn pair_above(&self, server: Server) -> Option<usize> {
        self.above.get(usize::from(server)).copied().flatten()
    }

    /// The pairs in which a server calls others.
    pub fn pairs_below(&self, server: Server) -> &[usize] {
        self.below.get(usize::from(server)).map_or(&[], Vec::as_slice)
    }

    /// True when `upper` calls `lower`.
    pub fn calls(&self, upper: Server, lower: Server) -> bool {
        self.callers[lower as usize].contains(&upper)
    }

    /// True when `upper` calls `lower`, directly or through others.
    pub fn is_above(&self, upper: Server, lower: Server) -> bool {
        self.uppers[lower as usize].binary_search(&upper).is_ok()
    }
}

/// A server's name without its number.
fn tier_of(server: &str) -> &str {
    server.rsplit_once('.').map_or(server, |(tier, _)| tier)
}

/// The tiers that call in a pair.
fn callers_of(pair: usize, below: &[Vec<usize>], names: &[String]) -> String {
    let calls = |&(called, _): &(&Vec<usize>, &String)| called.contains(&pair);
    let mut tiers: Vec<&str> =
        below.iter().zip(names).filter(calls).map(|(_, name)| tier_of(name)).collect();
    tiers.dedup();
    tiers.join("+")
}

fn position(names: &[String], name: &str) -> usize {
    names.partition_point(|known| known.as_str() < name)
}

/// The longest way from a server that nobody calls, by relaxation: after as many rounds as there
/// are servers, only a circle still grows.
fn depths(names: &[String], callers: &[Vec<Server>]) -> Result<Vec<usize>, TopologyError> {
    let mut depths = vec![0; names.len()];
    let mut grown = None;
    for _round in 0..=names.len() {
        grown = None;
        for (lower, uppers) in callers.iter().enumerate() {
            let deeper = uppers.iter().map(|&upper| depths[upper as usize] + 1).max().unwrap_or(0);
            if deeper > depths[lower] {
                depths[lower] = deeper;
                grown = Some(lower);
            }
        }
        if grown.is_none() {
            break;
        }
    }
    grown.map_or(Ok(depths), |lower| Err(TopologyError::Cycle(names[lower].clone())))
}

/// Who is above each server: its callers and who is above these, which have less depth.
fn uppers(depths: &[usize], callers: &[Vec<Server>]) -> Vec<Vec<Server>> {
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by_key(|&server| depths[server]);
    let mut uppers: Vec<Vec<Server>> = vec![Vec::new(); depths.len()];
    for server in order {
        let mut all = callers[server].clone();
        all.extend(callers[server].iter().flat_map(|&it| &uppers[it as usize]));
        all.sort_unstable();
        all.dedup();
        uppers[server] = all;
    }
    uppers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(calls: &[(&str, &[&str])]) -> Result<Topology, TopologyError> {
        let calls = calls
            .iter()
            .map(|(upper, lower)| ((*upper).to_owned(), lower.iter().map(|&l| l.into()).collect()))
            .collect();
        Topology::new(&calls)
    }

    #[test]
    fn tiers_follow_the_calls() {
        let it = topology(&[
            ("web.1", &["app.1", "app.2"]),
            ("app.1", &["lb.1"]),
            ("app.2", &["lb.1"]),
            ("lb.1", &["db.1", "db.2"]),
        ])
        .unwrap();
        let number = |name| it.names().iter().position(|known| known == name).unwrap() as Server;
        assert_eq!(it.pairs(), ["web-app", "app-lb", "lb-db"]);
        assert_eq!(it.pair_above(number("db.2")), Some(2));
        assert_eq!(it.pairs_below(number("app.2")), [1]);
        assert!(it.calls(number("app.2"), number("lb.1")));
        assert!(!it.calls(number("app.2"), number("db.1")));
        assert!(it.is_above(number("web.1"), number("db.1")));
        assert!(!it.is_above(number("db.1"), number("web.1")));
        assert!(!it.is_above(number("app.1"), number("app.2")));
        assert!(it.knows(number("web.1")) && it.pair_above(number("web.1")).is_none());
        assert!(!it.knows(99) && it.pair_above(99).is_none() && it.pairs_below(99).is_empty());
    }

    #[test]
    fn each_tier_that_is_called_is_a_pair() {
        let it = topology(&[
            ("web.1", &["app.1", "files.1"]),
            ("app.1", &["cache.1", "lb.1", "files.1"]),
            ("lb.1", &["db.1"]),
        ])
        .unwrap();
        let number = |name| it.names().iter().position(|known| known == name).unwrap() as Server;
        assert_eq!(it.pairs(), ["web-app", "app-cache", "app+web-files", "app-lb", "lb-db"]);
        assert_eq!(it.pairs_below(number("app.1")), [1, 2, 3]);
        assert_eq!(it.pairs_below(number("web.1")), [0, 2]);
        assert_eq!(it.pair_above(number("cache.1")), Some(1));
    }

    #[test]
    fn a_circle_is_refused_by_name() {
        let error = topology(&[("a", &["b"]), ("b", &["a"])]).unwrap_err();
        assert!(matches!(error, TopologyError::Cycle(_)));
        assert!(topology(&[("a", &["a"])]).is_err());
    }
}
