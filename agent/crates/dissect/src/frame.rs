//! From a captured frame to a TCP segment: link layer and tunnels, IPv4 or IPv6 (RFC 791, RFC 8200),
//! TCP (RFC 9293). Checksums are not looked at: the kernel leaves them unfilled on local packets.

use crate::link::{Inside, LinkType, Unread};
use crate::sink::Peer;
use crate::tunnel::{behind_ip, behind_udp};
use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice};
use std::net::IpAddr;

/// Tunnels may be in tunnels; no network has so many.
const MOST_TUNNELS: usize = 4;

/// A captured frame.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFrame<'a> {
    /// What it begins with.
    pub link: LinkType,
    /// How many bytes it had on the wire; at least as many as were captured.
    pub wire_length: usize,
    /// What was captured of it.
    pub bytes: &'a [u8],
}

impl<'a> CapturedFrame<'a> {
    /// A frame that was captured whole.
    pub fn whole(link: LinkType, bytes: &'a [u8]) -> Self {
        Self { link, wire_length: bytes.len(), bytes }
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
    /// The identification of the IPv4 packet; 0 where it has none.
    pub identification: u16,
    /// The TCP header; empty of a source that has no packets.
    pub header: &'a [u8],
}

impl<'a> Segment<'a> {
    /// An empty segment that says nothing.
    pub fn empty(source: Peer, destination: Peer) -> Self {
        Self {
            source,
            destination,
            sequence: 0,
            acknowledgment: None,
            syn: false,
            fin: false,
            rst: false,
            payload: &[],
            length: 0,
            tells_end: false,
            identification: 0,
            header: &[],
        }
    }

    /// The segment in a frame that was captured whole; none if the frame is anything else.
    pub fn parse(link: LinkType, bytes: &'a [u8]) -> Option<Self> {
        match CapturedFrame::whole(link, bytes).parse() {
            Parsed::Segment(segment) => Some(segment),
            Parsed::Other | Parsed::Unread(_) => None,
        }
    }
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<'a> {
    /// It carries a TCP segment.
    Segment(Segment<'a>),
    /// It is known to carry none.
    Other,
    /// It may carry one.
    Unread(Unread),
}

impl<'a> CapturedFrame<'a> {
    /// Reads the frame down to its TCP segment, in as many tunnels as it is.
    pub fn parse(&self) -> Parsed<'a> {
        let mut inside = self.link.inside(self.bytes);
        for _ in 0..=MOST_TUNNELS {
            let packet = match inside {
                Inside::Ip(packet) => packet,
                Inside::Other => return Parsed::Other,
                Inside::Unread(why) => return Parsed::Unread(why),
            };
            let headers = self.bytes.len() - packet.len();
            inside = match read(packet, self.wire_length.saturating_sub(headers)) {
                Read::Segment(segment) => return Parsed::Segment(segment),
                Read::Inside(inside) => inside,
            };
        }
        Parsed::Unread(Unread::TooDeep)
    }
}

enum Read<'a> {
    Segment(Segment<'a>),
    Inside(Inside<'a>),
}

/// Reads an IP packet that had so many bytes on the wire.
fn read(packet: &[u8], wire_length: usize) -> Read<'_> {
    const DAMAGED: Read<'_> = Read::Inside(Inside::Unread(Unread::Headers));
    let Ok(sliced) = LaxSlicedPacket::from_ip(packet) else { return DAMAGED };
    let Some(net) = sliced.net else { return DAMAGED };
    match sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            segment(packet, wire_length, &net, &tcp).map_or(DAMAGED, Read::Segment)
        }
        Some(TransportSlice::Udp(udp)) => {
            // The lengths of what is in it are its own: a cut datagram's are read as they are.
            let payload = udp.payload();
            Read::Inside(behind_udp(udp.destination_port(), payload))
        }
        Some(_) => Read::Inside(Inside::Other),
        None => Read::Inside(match net.ip_payload_ref() {
            Some(payload) if payload.fragmented && matches!(payload.ip_number.0, 6 | 17) => {
                Inside::Unread(Unread::Fragment)
            }
            // It would have been read if its header were there.
            Some(payload) if payload.ip_number.0 == 6 => Inside::Unread(Unread::Headers),
            Some(payload) => behind_ip(payload.ip_number.0, payload.payload),
            None => Inside::Other,
        }),
    }
}

fn segment<'a>(
    packet: &'a [u8],
    wire_length: usize,
    net: &LaxNetSlice<'a>,
    tcp: &TcpSlice<'a>,
) -> Option<Segment<'a>> {
    let (source, destination, stated, identification) = match net {
        LaxNetSlice::Ipv4(ip) => (
            IpAddr::V4(ip.header().source_addr()),
            IpAddr::V4(ip.header().destination_addr()),
            usize::from(ip.header().total_len()),
            ip.header().identification(),
        ),
        LaxNetSlice::Ipv6(ip) => {
            let inside = usize::from(ip.header().payload_length());
            (
                IpAddr::V6(ip.header().source_addr()),
                IpAddr::V6(ip.header().destination_addr()),
                if inside == 0 { 0 } else { 40 + inside },
                0,
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // A stated length of 0 is an offloaded packet of more than 64 KiB: it is as long as it was.
    let stated = if stated == 0 { wire_length.max(packet.len()) } else { stated };
    let payload = tcp.payload();
    let headers = stated.min(packet.len()).checked_sub(payload.len())?;
    Some(Segment {
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
        identification,
        header: tcp.header_slice(),
    })
}

#[cfg(test)]
mod tests;
