//! The kernel's filter: lets through TCP segments from or to the servers' ports, for packets that
//! begin with the IP header, and cuts those that carry content in bulk.

mod bulk;
#[cfg(test)]
mod machine;
mod program;

use libc::sock_filter;
use program::*;
use std::collections::BTreeMap;
use tierlab_dissect::{Protocol, Server};

/// As many ports as the tests for them may jump over.
const MOST_PORTS: usize = 64;

const TCP: u32 = 6;
const IPV6_HEADER: u32 = 40;

/// The places that end the program: keep the whole packet, or nothing.
const KEEP: &str = "keep";
const DROP: &str = "drop";

/// More ports than a filter can have.
#[derive(Debug, thiserror::Error)]
#[error("servers: {0} different ports, at most {MOST_PORTS} can be captured")]
pub(crate) struct TooManyPorts(usize);

/// The program for these servers. Fragments after the first have no ports and are left out.
pub(crate) fn of(servers: &[Server]) -> Result<Vec<sock_filter>, TooManyPorts> {
    let ports = ports(servers);
    if ports.len() > MOST_PORTS {
        return Err(TooManyPorts(ports.len()));
    }
    let mut program = Program::default();
    tcp(&mut program);
    program.step(LOAD_HALF_AT, 0);
    for (port, protocol) in &ports {
        program.test(EQUAL, (*port).into(), bulk::place(*protocol), NEXT);
    }
    program.step(LOAD_HALF_AT, 2);
    for port in ports.keys() {
        program.test(EQUAL, (*port).into(), KEEP, NEXT);
    }
    program.jump(DROP);
    bulk::add(&mut program);
    program.place(KEEP);
    program.step(RETURN, u32::MAX);
    program.place(DROP);
    program.step(RETURN, 0);
    Ok(program.finish())
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
    use super::machine::kept;
    use super::*;

    fn server(port: u16, protocol: Protocol) -> Server {
        let name = format!("{}.{port}", protocol.name());
        Server { name, address: [127, 0, 0, 1].into(), port, protocol, pass_through: false }
    }

    fn ipv4(header_words: u8, protocol: u8, fragment: u16, ports: [u16; 2]) -> Vec<u8> {
        let mut packet = vec![0; usize::from(header_words) * 4 + 20];
        packet[0] = 0x40 | header_words;
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        packet[9] = protocol;
        let at = usize::from(header_words) * 4;
        packet[at..at + 2].copy_from_slice(&ports[0].to_be_bytes());
        packet[at + 2..at + 4].copy_from_slice(&ports[1].to_be_bytes());
        packet[at + 12] = 0x50;
        packet
    }

    fn ipv6(next: u8, ports: [u16; 2]) -> Vec<u8> {
        let mut packet = vec![0; 60];
        packet[0] = 0x60;
        packet[6] = next;
        packet[40..42].copy_from_slice(&ports[0].to_be_bytes());
        packet[42..44].copy_from_slice(&ports[1].to_be_bytes());
        packet[52] = 0x50;
        packet
    }

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
    fn too_many_ports_are_refused() {
        let servers: Vec<_> =
            (0..=MOST_PORTS as u16).map(|it| server(it + 1, Protocol::Tcp)).collect();
        assert!(of(&servers).is_err());
    }

    /// How many bytes of this payload are kept, if the server sends it over IPv4 and over IPv6.
    fn kept_of(protocol: Protocol, payload: &[u8]) -> usize {
        let program = of(&[server(7, protocol), server(8, Protocol::Tcp)]).expect("few enough");
        let one = [ipv4(6, 6, 0, [7, 9]), payload.to_vec()].concat();
        let other = [ipv6(6, [7, 9]), payload.to_vec()].concat();
        let counts = [(one, 44), (other, 60)].map(|(packet, headers)| {
            (kept(&program, &packet) as usize).min(packet.len()) - headers
        });
        assert_eq!(counts[0], counts[1]);
        let back = [ipv4(5, 6, 0, [9, 7]), payload.to_vec()].concat();
        assert_eq!(kept(&program, &back), u32::MAX, "what clients send is kept");
        let plain = [ipv4(5, 6, 0, [8, 9]), payload.to_vec()].concat();
        assert_eq!(kept(&program, &plain), u32::MAX, "unknown protocols are kept");
        counts[0]
    }

    #[test]
    fn only_whole_chunks_of_http_are_cut() {
        let chunk = |size: &str, data: usize| {
            [size.as_bytes(), b"\r\n", &vec![b'x'; data], b"\r\n"].concat()
        };
        for size in ["1ff8", "1FF8"] {
            assert_eq!(kept_of(Protocol::Http1, &chunk(size, 0x1ff8)), 16);
        }
        assert_eq!(kept_of(Protocol::Http1, &chunk("beef", 0xbeef)), 16);
        for whole in [
            chunk("1ff8", 0x1ff7),
            chunk("1ff8", 0x1ff9),
            [chunk("1ff8", 0x1ff8), chunk("0", 0)].concat(),
            [chunk("1ff8", 0x1ff6), b"xx".to_vec()].concat(),
            chunk("0100", 0x100),
            [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 5000]].concat(),
        ] {
            assert_eq!(kept_of(Protocol::Http1, &whole), whole.len());
        }
    }

    #[test]
    fn only_whole_body_chunks_of_ajp_are_cut() {
        let packet = |kind: u8, length: u16, more: usize| {
            let mut packet = [&b"AB"[..], &length.to_be_bytes(), &[kind]].concat();
            packet.resize(4 + usize::from(length) + more, b'x');
            packet
        };
        assert_eq!(kept_of(Protocol::Ajp13, &packet(3, 8188, 0)), 8);
        for whole in [packet(4, 8188, 0), packet(3, 8188, 6), packet(3, 100, 0)] {
            assert_eq!(kept_of(Protocol::Ajp13, &whole), whole.len());
        }
    }

    #[test]
    fn rows_are_cut_and_their_end_is_told() {
        let rows = |end: &[u8]| [&[b'r'; 3000][..], end].concat();
        for (payload, kept) in [
            (rows(b""), 64),
            (rows(b"\x05\0\0\x09\xfe\0\0\x22\0"), 65),
            (rows(b"\x07\0\0\x09\xfe\0\0\x02\0\0\0"), 65),
            (rows(b"\x05\0\0\x09\xfe\0\0\x0a\0"), 64),
            (rows(b"\x05\0\0\x09\xfe\0\0\x22\0r"), 64),
        ] {
            assert_eq!(kept_of(Protocol::Mysql, &payload), kept);
        }
        let prepared = [&b"\x0c\0\0\x01\0"[..], &[1; 3000]].concat();
        assert_eq!(kept_of(Protocol::Mysql, &prepared), prepared.len());
        assert_eq!(kept_of(Protocol::Mysql, &[b'r'; 1023]), 1023);
        assert_eq!(kept_of(Protocol::Mysql, &[b'r'; 65_001]), 65_001);
    }
}
