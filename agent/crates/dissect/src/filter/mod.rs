//! The kernel's filter: lets through TCP segments from or to the servers' ports, for packets that
//! begin with the IP header, and cuts those that carry content in bulk.

mod bulk;
#[cfg(test)]
pub(crate) mod machine;
pub(crate) mod program;

use crate::{Protocol, Server};
pub(crate) use bulk::{Bulk, LENGTH, OWN, START, keep_of_payload};
use libc::sock_filter;
use program::*;
use std::collections::{BTreeMap, BTreeSet};

/// As many ports as the tests for them may jump over.
const MOST_PORTS: usize = 64;

const TCP: u32 = 6;
const IPV6_HEADER: u32 = 40;

/// The places that end the program: keep the whole packet, or nothing.
pub(crate) const KEEP: &str = "keep";
const DROP: &str = "drop";

/// More ports than a filter can have.
#[derive(Debug, thiserror::Error)]
#[error("servers: {0} different ports, at most {MOST_PORTS} can be captured")]
pub struct TooManyPorts(usize);

/// The program for these servers. Fragments after the first have no ports and are left out.
pub fn of(servers: &[Server]) -> Result<Vec<sock_filter>, TooManyPorts> {
    let ports = ports(servers);
    if ports.len() > MOST_PORTS {
        return Err(TooManyPorts(ports.len()));
    }
    let mut program = Program::default();
    tcp(&mut program);
    program.step(LOAD_HALF_AT, 0);
    for (port, protocol) in &ports {
        program.test(EQUAL, (*port).into(), place(*protocol), NEXT);
    }
    program.step(LOAD_HALF_AT, 2);
    for port in ports.keys() {
        program.test(EQUAL, (*port).into(), KEEP, NEXT);
    }
    program.place(DROP);
    program.step(RETURN, 0);
    keep(&mut program);
    let spoken: BTreeSet<Protocol> = ports.into_values().collect();
    let cut: Vec<_> = spoken.into_iter().filter_map(|it| Some((place(it), it.bulk()?))).collect();
    // Tests do not reach far; jumps do.
    for (place, _) in &cut {
        program.place(place);
        program.jump(place);
    }
    for (place, bulk) in &cut {
        program.place(place);
        bulk::measure(&mut program);
        (bulk.cut)(&mut program);
        keep(&mut program);
    }
    Ok(program.finish())
}

/// The program for everybody's connections: of each segment no more than so many bytes, its headers
/// among them.
pub fn of_all(bytes: u32) -> Vec<sock_filter> {
    let mut program = Program::default();
    tcp(&mut program);
    program.step(RETURN, bytes);
    program.place(DROP);
    program.step(RETURN, 0);
    program.finish()
}

/// Where packets from a server that speaks this protocol are looked at.
fn place(protocol: Protocol) -> &'static str {
    protocol.bulk().map_or(KEEP, |_| protocol.name())
}

fn keep(program: &mut Program) {
    program.place(KEEP);
    program.step(RETURN, u32::MAX);
}

/// Every port and what is spoken there; any protocol, if servers differ.
fn ports(servers: &[Server]) -> BTreeMap<u16, Protocol> {
    let mut ports = BTreeMap::new();
    for server in servers {
        let known = ports.entry(server.port).or_insert(server.protocol);
        if *known != server.protocol {
            *known = Protocol::Tcp;
        }
    }
    ports
}

/// Goes on for TCP over IPv4 or IPv6, with the TCP header's place in X.
fn tcp(program: &mut Program) {
    program.step(LOAD_BYTE, 0);
    program.step(AND, 0xf0);
    program.test(EQUAL, 0x40, NEXT, "not IPv4");
    program.step(LOAD_BYTE, 9);
    program.test(EQUAL, TCP, NEXT, DROP);
    program.step(LOAD_HALF, 6);
    program.test(ANY_BIT, 0x1fff, DROP, NEXT);
    program.step(INDEX_HEADER_LENGTH, 0);
    program.jump("ports");
    program.place("not IPv4");
    program.test(EQUAL, 0x60, NEXT, DROP);
    program.step(LOAD_BYTE, 6);
    program.test(EQUAL, TCP, NEXT, DROP);
    program.step(INDEX, IPV6_HEADER);
    program.place("ports");
}

#[cfg(test)]
mod tests {
    use super::machine::{ipv4, ipv6, kept, server};
    use super::*;

    #[test]
    fn only_the_servers_segments_pass() {
        for ports in [vec![8080], vec![80, 3306, 8009], (1..=MOST_PORTS as u16).collect()] {
            let last = ports[ports.len() - 1];
            let servers: Vec<_> = ports.iter().map(|&it| server(it, Protocol::Mysql)).collect();
            let program = of(&servers).expect("few enough");
            for (packet, expected) in [
                (ipv4(5, 6, 0, [40_000, last]), true),
                (ipv4(5, 6, 0x4000, [last, 40_000]), true),
                (ipv4(15, 6, 0, [40_000, last]), true),
                (ipv4(5, 6, 0, [40_000, 40_001]), false),
                (ipv4(5, 17, 0, [40_000, last]), false),
                (ipv4(5, 6, 0x2001, [40_000, last]), false),
                (ipv6(6, [last, 40_000]), true),
                (ipv6(6, [40_000, last]), true),
                (ipv6(6, [40_000, 40_001]), false),
                (ipv6(17, [40_000, last]), false),
                (vec![0; 60], false),
            ] {
                assert_eq!(kept(&program, &packet) > 0, expected);
            }
        }
    }

    #[test]
    fn every_protocol_on_as_many_ports_as_there_may_be_is_within_reach() {
        let all = Protocol::ALL.iter().cycle();
        let servers: Vec<_> =
            (1..=MOST_PORTS as u16).zip(all).map(|(port, &it)| server(port, it)).collect();
        let program = of(&servers).expect("few enough");
        for server in &servers {
            assert_eq!(kept(&program, &ipv4(5, 6, 0, [server.port, 40_000])), u32::MAX);
        }
    }

    #[test]
    fn everybody_s_segments_pass() {
        let program = of_all(2_000);
        for (packet, expected) in [
            (ipv4(5, 6, 0, [40_000, 1]), 2_000),
            (ipv6(6, [1, 40_000]), 2_000),
            (ipv4(5, 17, 0, [40_000, 1]), 0),
            (ipv4(5, 6, 0x2001, [40_000, 1]), 0),
        ] {
            assert_eq!(kept(&program, &packet), expected);
        }
    }

    #[test]
    fn too_many_ports_are_refused() {
        let servers: Vec<_> =
            (0..=MOST_PORTS as u16).map(|it| server(it + 1, Protocol::Tcp)).collect();
        assert!(of(&servers).is_err());
    }
}
