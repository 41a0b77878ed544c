//! The addresses that users come from.

use anyhow::{Context, Result, ensure};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of addresses, used in order and round.
pub struct Sources {
    ranges: Vec<Range>,
    total: u128,
}

struct Range {
    first: IpAddr,
    count: u128,
}

impl Sources {
    /// Reads ranges such as `127.128.0.0/12`, all of the target's family. The first and the last
    /// address of an IPv4 range of more than two are left out: network and broadcast.
    pub fn parse(ranges: &[String], target: IpAddr) -> Result<Self> {
        let ranges = ranges
            .iter()
            .map(|range| {
                let parsed = Range::parse(range).with_context(|| {
                    format!("`sources` has {range:?}, which is not a range such as 127.128.0.0/12")
                })?;
                ensure!(
                    parsed.first.is_ipv4() == target.is_ipv4(),
                    "`sources` has {range:?}, which cannot reach the target {target}"
                );
                Ok(parsed)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { total: ranges.iter().map(|range| range.count).sum(), ranges })
    }

    /// The address of the user `number`; `None` leaves it to the system.
    pub fn of(&self, number: u32) -> Option<IpAddr> {
        let mut place = u128::from(number).checked_rem(self.total)?;
        for range in &self.ranges {
            if place < range.count {
                return Some(range.nth(place));
            }
            place -= range.count;
        }
        None
    }
}

impl Range {
    fn parse(text: &str) -> Result<Self> {
        let (address, prefix) = text.split_once('/').unwrap_or((text, ""));
        let address: IpAddr = address.parse()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix: u32 = if prefix.is_empty() { bits } else { prefix.parse()? };
        ensure!(prefix <= bits && (prefix > 0 || bits == 32), "the prefix is out of range");
        let host_bits = bits - prefix;
        let count = if host_bits >= 127 { 1 << 126 } else { 1u128 << host_bits };
        let value = match address {
            IpAddr::V4(it) => u128::from(u32::from(it)),
            IpAddr::V6(it) => u128::from(it),
        };
        let base = value & !(count - 1);
        let inner = address.is_ipv4() && count > 2;
        let range = Self { first: address, count: if inner { count - 2 } else { count } };
        Ok(Self { first: range.at(base + u128::from(inner)), ..range })
    }

    fn nth(&self, place: u128) -> IpAddr {
        match self.first {
            IpAddr::V4(first) => self.at(u128::from(u32::from(first)) + place),
            IpAddr::V6(first) => self.at(u128::from(first) + place),
        }
    }

    fn at(&self, value: u128) -> IpAddr {
        match self.first {
            IpAddr::V4(_) => Ipv4Addr::from(value as u32).into(),
            IpAddr::V6(_) => Ipv6Addr::from(value).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(ranges: &[&str]) -> Result<Sources> {
        let ranges: Vec<String> = ranges.iter().map(|it| (*it).to_owned()).collect();
        Sources::parse(&ranges, IpAddr::from([127, 0, 0, 1]))
    }

    #[test]
    fn addresses_go_through_the_ranges_and_round() {
        let sources = sources(&["127.1.0.77/30", "127.2.0.5"]).expect("both are ranges");
        let given: Vec<String> =
            (0..4).filter_map(|n| sources.of(n)).map(|it| it.to_string()).collect();
        assert_eq!(given, ["127.1.0.77", "127.1.0.78", "127.2.0.5", "127.1.0.77"]);
    }

    #[test]
    fn none_leaves_it_to_the_system() {
        assert_eq!(sources(&[]).expect("none is fine").of(3), None);
    }

    #[test]
    fn what_is_no_range_is_named() {
        for text in ["127.0.0.0/33", "localhost", "::1", "127.0.0.1/x", ""] {
            let error = sources(&[text]).err().expect("refused").to_string();
            assert!(error.contains("`sources`"), "{error}");
        }
    }
}
