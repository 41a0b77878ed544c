//! Which flow a frame belongs to: for those who share frames out among several dissectors.

use crate::LinkType;
use crate::frame::Segment;
use crate::link::Inside;
use crate::sink::Peer;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Any will do: who can choose its ports can at worst burden one dissector more than the others.
const HASHER: FixedState = FixedState::with_seed(0);
const TCP: u8 = 6;
/// Of IPv4's flags and fragment offset, those of a packet that is a later part of another.
const LATER_PART: [u8; 2] = [0x1f, 0xff];

/// A hash of the two ends between which a frame went, the same in both directions. 0 if it carries
/// no TCP segment.
pub fn flow_hash(link: LinkType, frame: &[u8]) -> u64 {
    let Inside::Ip(packet) = link.inside(frame) else { return 0 };
    let (one, other) = match ipv4_ends(packet) {
        Some(ends) => ends,
        None => match Segment::parse(link, frame) {
            Some(segment) => (of(segment.source), of(segment.destination)),
            None => return 0,
        },
    };
    HASHER.hash_one((one.min(other), one.max(other)))
}

/// A hash of a connection's two ends, the same for whoever sees it: packets and the sockets at either
/// end. An IPv4 address is the same as where IPv6 maps it (RFC 4291, 2.5.5.2).
pub fn connection_hash(client: Peer, server: Peer) -> u64 {
    let canonical = |peer: Peer| (peer.address.to_canonical(), peer.port);
    HASHER.hash_one((canonical(client), canonical(server)))
}

/// The two ends of a TCP segment in an IPv4 packet: addresses and ports. None if it is anything else.
fn ipv4_ends(packet: &[u8]) -> Option<(u64, u64)> {
    let (header, _) = packet.split_first_chunk::<20>()?;
    let is_tcp = header[0] >> 4 == 4 && header[9] == TCP;
    let is_first = header[6] & LATER_PART[0] == 0 && header[7] & LATER_PART[1] == 0;
    let ports = packet.get(usize::from(header[0] & 15) * 4..)?.first_chunk::<4>()?;
    let end = |address: usize, port: usize| {
        let address = u32::from_be_bytes([
            header[address],
            header[address + 1],
            header[address + 2],
            header[address + 3],
        ]);
        u64::from(address) << 16 | u64::from(u16::from_be_bytes([ports[port], ports[port + 1]]))
    };
    (is_tcp && is_first).then(|| (end(12, 0), end(16, 2)))
}

fn of(peer: Peer) -> u64 {
    HASHER.hash_one(peer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn ipv4(from: (u8, u16), to: (u8, u16)) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([127, 0, 0, from.0], [127, 0, 0, to.0], 64)
            .tcp(from.1, to.1, 7, 512)
            .write(&mut packet, b"hello")
            .expect("a vector takes all");
        packet
    }

    fn ipv6(from: (u8, u16), to: (u8, u16)) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([from.0; 16], [to.0; 16], 64)
            .tcp(from.1, to.1, 7, 512)
            .write(&mut packet, b"hello")
            .expect("a vector takes all");
        packet
    }

    #[test]
    fn both_directions_of_a_flow_have_one_hash_and_others_have_others() {
        for build in [ipv4, ipv6] {
            let hash = |from, to| flow_hash(LinkType::Raw, &build(from, to));
            let known = hash((1, 40_000), (2, 80));
            assert_eq!(hash((2, 80), (1, 40_000)), known);
            for (from, to) in
                [((1, 40_001), (2, 80)), ((3, 40_000), (2, 80)), ((1, 80), (2, 40_000))]
            {
                assert_ne!(hash(from, to), known);
            }
        }
    }

    #[test]
    fn a_connection_has_one_hash_however_its_addresses_are_written() {
        let peer = |address: &str, port| Peer { address: address.parse().expect("valid"), port };
        let (client, server) = (peer("10.0.0.1", 40_000), peer("10.0.0.2", 80));
        let mapped = (peer("::ffff:10.0.0.1", 40_000), peer("::ffff:10.0.0.2", 80));
        assert_eq!(connection_hash(client, server), connection_hash(mapped.0, mapped.1));
        assert_ne!(connection_hash(client, server), connection_hash(server, client));
    }

    #[test]
    fn what_is_no_segment_has_none() {
        let mut udp = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 64).udp(1, 2).write(&mut udp, b"abc").expect("room");
        for frame in [&udp[..], &[], &ipv4((1, 2), (3, 4))[..21], &[0x4f; 24]] {
            assert_eq!(flow_hash(LinkType::Raw, frame), 0);
        }
    }
}
