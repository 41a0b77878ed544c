//! From a captured frame to a TCP segment: link layer, IPv4 or IPv6 (RFC 791, RFC 8200), TCP
//! (RFC 9293). Checksums are not looked at: the kernel leaves them unfilled on local packets.

use crate::sink::Peer;
use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::IpAddr;

/// What a captured frame begins with, by its number in the pcap formats
/// (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// A BSD loopback header of 4 bytes (0, 108).
    Null,
    /// Ethernet, with or without VLAN tags (1).
    Ethernet,
    /// The IP header itself (12, 14, 101, 228, 229).
    Raw,
    /// Linux "cooked" capture, version 1 (113).
    LinuxSll,
    /// Linux "cooked" capture, version 2 (276).
    LinuxSll2,
}

impl LinkType {
    /// The link type of a pcap number, if it is one of those above.
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            0 | 108 => Some(Self::Null),
            1 => Some(Self::Ethernet),
            12 | 14 | 101 | 228 | 229 => Some(Self::Raw),
            113 => Some(Self::LinuxSll),
            276 => Some(Self::LinuxSll2),
            _ => None,
        }
    }

    /// What follows the link layer's header.
    pub(crate) fn inside(self, frame: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Raw => Some(frame),
            Self::Null => frame.get(4..),
            Self::LinuxSll => frame.get(16..),
            Self::LinuxSll2 => frame.get(20..),
            Self::Ethernet => {
                let mut header = 14;
                while let [0x81, 0x00] | [0x88, 0xa8] = frame.get(header - 2..header)? {
                    header += 4;
                }
                frame.get(header..)
            }
        }
    }
}

/// A TCP segment as captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Who sent it.
    pub source: Peer,
    /// Who is to get it.
    pub destination: Peer,
    /// The first byte's number.
    pub sequence: u32,
    /// The number of the byte that its sender expects next.
    pub acknowledgment: Option<u32>,
    /// It opens a direction.
    pub syn: bool,
    /// It ends one.
    pub fin: bool,
    /// It breaks off the connection, or refuses it.
    pub rst: bool,
    /// What was captured of the payload.
    pub payload: &'a [u8],
    /// How long the payload was on the wire; more than was captured if frames were cut short.
    pub length: u32,
    /// The capture's filter cut the payload and tells that a reply ends with it (see
    /// [`crate::filter`]).
    pub tells_end: bool,
}

impl<'a> Segment<'a> {
    /// The segment in a frame; none if the frame is anything else, a fragment or cut in its headers.
    pub fn parse(link: LinkType, frame: &'a [u8]) -> Option<Self> {
        let packet = link.inside(frame)?;
        let sliced = LaxSlicedPacket::from_ip(packet).ok()?;
        let TransportSlice::Tcp(tcp) = sliced.transport? else { return None };
        let (source, destination, stated) = match sliced.net? {
            LaxNetSlice::Ipv4(ip) => (
                IpAddr::V4(ip.header().source_addr()),
                IpAddr::V4(ip.header().destination_addr()),
                usize::from(ip.header().total_len()),
            ),
            LaxNetSlice::Ipv6(ip) => {
                let inside = usize::from(ip.header().payload_length());
                (
                    IpAddr::V6(ip.header().source_addr()),
                    IpAddr::V6(ip.header().destination_addr()),
                    if inside == 0 { 0 } else { 40 + inside },
                )
            }
            LaxNetSlice::Arp(_) => return None,
        };
        // A stated length of 0 is an offloaded packet of more than 64 KiB: it is as long as it is.
        let stated = if stated == 0 { packet.len() } else { stated };
        let payload = tcp.payload();
        let headers = stated.min(packet.len()).checked_sub(payload.len())?;
        Some(Self {
            source: Peer { address: source, port: tcp.source_port() },
            destination: Peer { address: destination, port: tcp.destination_port() },
            sequence: tcp.sequence_number(),
            acknowledgment: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            payload,
            length: (stated - headers) as u32,
            tells_end: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn ip_packet(payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4([127, 0, 0, 1], [127, 0, 1, 1], 64)
            .tcp(40_000, 8080, 7, 512)
            .ack(9)
            .write(&mut packet, payload)
            .expect("a vector takes all");
        packet
    }

    #[test]
    fn every_link_type_leads_to_the_same_segment() {
        let ip = ip_packet(b"hello");
        let expected = Segment::parse(LinkType::Raw, &ip).expect("a segment");
        assert_eq!((expected.payload, expected.length), (&b"hello"[..], 5));
        assert_eq!((expected.sequence, expected.acknowledgment), (7, Some(9)));
        assert_eq!((expected.source.port, expected.destination.port), (40_000, 8080));
        for (link, header) in [
            (LinkType::Null, vec![2, 0, 0, 0]),
            (LinkType::Ethernet, [&[0; 12][..], &[8, 0]].concat()),
            (LinkType::Ethernet, [&[0; 12][..], &[0x81, 0, 0, 5, 8, 0]].concat()),
            (LinkType::LinuxSll, vec![0; 16]),
            (LinkType::LinuxSll2, vec![0; 20]),
        ] {
            let frame = [header, ip.clone()].concat();
            assert_eq!(Segment::parse(link, &frame), Some(expected), "{link:?}");
        }
    }

    #[test]
    fn ethernet_padding_is_not_payload() {
        let frame = [&[0; 12][..], &[8, 0], &ip_packet(b""), &[0; 6]].concat();
        let segment = Segment::parse(LinkType::Ethernet, &frame).expect("a segment");
        assert_eq!((segment.payload.len(), segment.length), (0, 0));
    }

    #[test]
    fn a_cut_frame_knows_its_length() {
        let ip = ip_packet(&[b'x'; 1000]);
        let segment = Segment::parse(LinkType::Raw, &ip[..140]).expect("a segment");
        assert_eq!((segment.payload.len(), segment.length), (100, 1000));
    }

    #[test]
    fn ipv6_is_read() {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64)
            .tcp(1, 2, 3, 4)
            .write(&mut packet, b"abc")
            .expect("a vector takes all");
        let segment = Segment::parse(LinkType::Raw, &packet).expect("a segment");
        assert_eq!((segment.payload, segment.length), (&b"abc"[..], 3));
        assert_eq!(segment.destination.address, IpAddr::from([2; 16]));
    }

    #[test]
    fn what_is_not_tcp_is_nothing() {
        let mut udp = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 64).udp(1, 2).write(&mut udp, b"abc").expect("room");
        assert_eq!(Segment::parse(LinkType::Raw, &udp), None);
        assert_eq!(Segment::parse(LinkType::Raw, &[]), None);
        assert_eq!(Segment::parse(LinkType::Ethernet, &[0; 10]), None);
    }
}
