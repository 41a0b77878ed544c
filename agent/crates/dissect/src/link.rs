//! From a captured frame to its IP packet: link layers, VLAN tags (IEEE 802.1Q, 802.1ad), MPLS
//! (RFC 3032) and PPPoE (RFC 2516).

/// What a captured frame begins with, by its number in the pcap formats
/// (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// A BSD loopback header of 4 bytes (0, 108).
    Null,
    /// Ethernet (1).
    Ethernet,
    /// The IP header itself (12, 14, 101, 228, 229).
    Raw,
    /// Linux "cooked" capture, version 1 (113).
    LinuxSll,
    /// Linux "cooked" capture, version 2 (276).
    LinuxSll2,
    /// Another number: its frames are counted and not read.
    Unsupported(u16),
    /// Any, of frames that say no time: they are counted and not read.
    Untimed,
}

impl LinkType {
    /// The link type of a pcap number.
    pub fn from_number(number: i32) -> Self {
        match number {
            0 | 108 => Self::Null,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::LinuxSll,
            276 => Self::LinuxSll2,
            other => Self::Unsupported(other as u16),
        }
    }

    /// What the frame carries.
    pub(crate) fn inside(self, frame: &[u8]) -> Inside<'_> {
        match self {
            Self::Raw => Inside::Ip(frame),
            Self::Null => frame.get(4..).map_or(CUT, Inside::Ip),
            Self::Ethernet => ethernet(frame),
            Self::LinuxSll => behind(field(frame, 14), frame.get(16..)),
            Self::LinuxSll2 => behind(field(frame, 0), frame.get(20..)),
            Self::Untimed => Inside::Unread(Unread::Time),
            Self::Unsupported(number) => Inside::Unread(Unread::LinkType(number)),
        }
    }
}

/// What a header leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside<'a> {
    /// An IP packet.
    Ip(&'a [u8]),
    /// What is known to carry no IP packet, such as ARP.
    Other,
    /// What may carry one that cannot be reached.
    Unread(Unread),
}

/// Why a frame is not read, though it may carry a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unread {
    /// The interface has a link type that is not supported.
    LinkType(u16),
    /// A network protocol that is not known, by its EtherType.
    EtherType(u16),
    /// IPsec (RFC 4303) or MACsec (IEEE 802.1AE).
    Encrypted,
    /// A part of an IP packet that was sent in several.
    Fragment,
    /// The frame was cut within its headers, or these are damaged.
    Headers,
    /// More headers in each other than any network has.
    TooDeep,
    /// The file does not say when it was captured.
    Time,
}

pub(crate) const CUT: Inside<'_> = Inside::Unread(Unread::Headers);

/// So many tags and labels may stand before one packet.
const MOST_TAGS: usize = 16;

/// The big-endian number of two bytes there.
pub(crate) fn field(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|it| u16::from_be_bytes([it[0], it[1]]))
}

pub(crate) fn ethernet(frame: &[u8]) -> Inside<'_> {
    behind(field(frame, 12), frame.get(14..))
}

/// What follows an EtherType.
pub(crate) fn behind<'a>(ether_type: Option<u16>, rest: Option<&'a [u8]>) -> Inside<'a> {
    let (Some(mut ether_type), Some(mut rest)) = (ether_type, rest) else { return CUT };
    for _ in 0..MOST_TAGS {
        let (next, skipped) = match ether_type {
            0x0800 | 0x86dd => return Inside::Ip(rest),
            0x8100 | 0x88a8 | 0x9100 => (field(rest, 2), 4),
            // A length instead, and then the type in a SNAP header (IEEE 802).
            0..=1500 if rest.starts_with(&[0xaa, 0xaa, 3, 0, 0, 0]) => (field(rest, 6), 8),
            0x8847 | 0x8848 => return behind_labels(rest),
            0x8864 => return behind_ppp(field(rest, 6), rest.get(8..)),
            0x6558 => (field(rest, 12), 14),
            0x88e5 => return Inside::Unread(Unread::Encrypted),
            // LLC; ARP and RARP; PPPoE's discovery; slow protocols; EAPOL; LLDP; PTP; loopback tests.
            0..=1500 | 0x0806 | 0x8035 | 0x8863 | 0x8809 | 0x888e | 0x88cc | 0x88f7 | 0x9000 => {
                return Inside::Other;
            }
            unknown => return Inside::Unread(Unread::EtherType(unknown)),
        };
        let (Some(next), Some(behind)) = (next, rest.get(skipped..)) else { return CUT };
        (ether_type, rest) = (next, behind);
    }
    Inside::Unread(Unread::TooDeep)
}

/// What follows MPLS labels. Their last does not say what it is: IP tells its version, and a pseudowire
/// has a control word of zeros before its Ethernet frame (RFC 4928, RFC 4448).
fn behind_labels(mut rest: &[u8]) -> Inside<'_> {
    for _ in 0..MOST_TAGS {
        let Some((label, behind)) = rest.split_first_chunk::<4>() else { return CUT };
        rest = behind;
        if label[2] & 1 == 0 {
            continue;
        }
        return match rest.first().map(|it| it >> 4) {
            None => CUT,
            Some(4 | 6) => Inside::Ip(rest),
            Some(0) => rest.get(4..).map_or(CUT, ethernet),
            Some(_) => Inside::Unread(Unread::EtherType(0x8847)),
        };
    }
    Inside::Unread(Unread::TooDeep)
}

/// What follows a PPP protocol's number (RFC 1661). What is no IP are its negotiations.
fn behind_ppp<'a>(protocol: Option<u16>, rest: Option<&'a [u8]>) -> Inside<'a> {
    match (protocol, rest) {
        (Some(0x0021 | 0x0057), Some(rest)) => Inside::Ip(rest),
        (Some(_), Some(_)) => Inside::Other,
        _ => CUT,
    }
}
