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
#[derive(Clone, Debug)]
pub struct Topology {
    names: Vec<String>,
    depths: Vec<usize>,
    callers: Vec<Vec<Server>>,
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
        Ok(Self { names, depths, callers })
    }

    /// The servers' names, in the order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many servers a request passes before this one, at most; none for a server beyond the
    /// topology.
    pub fn depth(&self, server: Server) -> Option<usize> {
        self.depths.get(server as usize).copied()
    }

    /// How many tiers there are.
    pub fn tiers(&self) -> usize {
        self.depths.iter().max().map_or(0, |deepest| deepest + 1)
    }

    /// True when `upper` calls `lower`.
    pub fn calls(&self, upper: Server, lower: Server) -> bool {
        self.callers[lower as usize].contains(&upper)
    }

    /// The name of a tier: its servers' names without their numbers.
    pub fn tier(&self, depth: usize) -> String {
        let mut names: Vec<&str> = (self.names.iter().zip(&self.depths))
            .filter(|&(_, &at)| at == depth)
            .map(|(name, _)| name.rsplit_once('.').map_or(name.as_str(), |(tier, _)| tier))
            .collect();
        names.dedup();
        names.join("+")
    }
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
        assert_eq!(it.tiers(), 4);
        assert_eq!(it.depth(number("db.2")), Some(3));
        assert_eq!(it.tier(1), "app");
        assert!(it.calls(number("app.2"), number("lb.1")));
        assert!(!it.calls(number("app.2"), number("db.1")));
        assert_eq!(it.depth(99), None);
    }

    #[test]
    fn a_circle_is_refused_by_name() {
        let error = topology(&[("a", &["b"]), ("b", &["a"])]).unwrap_err();
        assert!(matches!(error, TopologyError::Cycle(_)));
        assert!(topology(&[("a", &["a"])]).is_err());
    }
}
