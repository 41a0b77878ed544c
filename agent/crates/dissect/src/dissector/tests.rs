use super::*;
use crate::sink::{Event, Message, Visit};
use crate::{Protocol, Server};
use etherparse::PacketBuilder;

struct Nobody;

impl Sink for Nobody {
    fn visit(&mut self, _: &Visit<'_>) {}
    fn event(&mut self, _: &Event) {}
    fn message(&mut self, _: &Message) {}
}

fn dissector() -> Dissector {
    let address = [10, 0, 0, 1].into();
    let protocol = Protocol::Http1;
    let server = Server { name: "it.1".into(), address, port: 1, protocol, pass_through: false };
    Dissector::within(8 << 20, vec![server], Salt::new([0; 16]))
}

fn from_port(port: u16, syn: bool, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64);
    let tcp = builder.tcp(port, 1, if payload.is_empty() { 7 } else { 9_000 }, 1);
    let tcp = if syn { tcp.syn() } else { tcp };
    tcp.write(&mut frame, payload).expect("a vector takes all");
    frame
}

#[test]
fn a_flood_of_connection_requests_closes_nobody_who_has_spoken() {
    let mut dissector = dissector();
    dissector.frame(0, LinkType::Raw, &from_port(99, false, b"GET /"), &mut Nobody);
    for round in 0..3 {
        for port in 100..60_000 {
            let mut flood = from_port(port, true, b"");
            flood[15] = round;
            dissector.frame(0, LinkType::Raw, &flood, &mut Nobody);
        }
    }
    let peer = Peer { address: [10, 0, 0, 2].into(), port: 99 };
    assert!(dissector.flows.contains_key(&Flow { server: 0, client: peer }));
    assert!(dissector.crowded_out() > 100_000);
    assert!(!dissector.shared.memory.is_short(dissector.tables_bytes()));
}

#[test]
fn what_waits_behind_holes_is_counted_and_given_up_with_its_connection() {
    let mut dissector = dissector();
    for port in 100..110 {
        dissector.frame(0, LinkType::Raw, &from_port(port, true, b""), &mut Nobody);
        let early = from_port(port, false, &[b'x'; 1_000]);
        dissector.frame(0, LinkType::Raw, &early, &mut Nobody);
    }
    assert!(dissector.shared.memory.of_connections() > 10_000);
    dissector.finish(&mut Nobody);
    assert_eq!(dissector.shared.memory.of_connections(), 0);
}

#[test]
fn times_of_damaged_files_are_times() {
    let mut dissector = dissector();
    for at_ns in [i64::MAX, i64::MIN, 0, i64::MAX] {
        for port in 100..102 {
            dissector.frame(at_ns, LinkType::Raw, &from_port(port, true, b""), &mut Nobody);
            let early = from_port(port, false, b"early");
            dissector.frame(at_ns, LinkType::Raw, &early, &mut Nobody);
        }
    }
}
