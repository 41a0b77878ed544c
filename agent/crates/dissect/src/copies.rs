//! Packets that were captured more than once: on every interface of a host (`-i any`), on both sides
//! of a bridge, inside a tunnel and outside.
//!
//! A sender that sends bytes again writes another IPv4 identification (RFC 6864) and another
//! timestamp (RFC 7323); a copy has those of the first. Where a packet has neither, only what comes
//! at once is a copy.

use crate::frame::Segment;
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hash, Hasher};

/// So many of the latest segments are remembered, in 64 KiB.
const SLOTS: usize = 4096;
/// A copy takes no longer through a host's interfaces.
const LONGEST_NS: i64 = 1_000_000_000;
/// Timestamps count milliseconds at best: bytes may be sent again with the same one.
const TIMESTAMPED_NS: i64 = 100_000_000;
/// No host sends a SYN again sooner (RFC 6298 section 5.7: after a second; Linux allows a fifth).
const SYN_NS: i64 = 100_000_000;
/// Without identification or timestamp.
const PLAIN_NS: i64 = 1_000_000;

const HASHER: FixedState = FixedState::with_seed(1);
/// Where the checksum lies in a TCP header. Copies may differ in it: the kernel fills it in late.
const CHECKSUM: std::ops::Range<usize> = 16..18;
/// As nearly all senders write the option: two bytes of padding, its kind and length.
const TIMESTAMP: [u8; 4] = [1, 1, 8, 10];

/// The latest segments that brought something.
pub(crate) struct Copies(Box<[Slot]>);

#[derive(Clone, Copy)]
struct Slot {
    fingerprint: u64,
    at_ns: i64,
}

impl Copies {
    pub(crate) fn new() -> Self {
        let empty = Slot { fingerprint: 0, at_ns: i64::MIN };
        Self(vec![empty; SLOTS].into())
    }

    /// Takes the next segment; true if it is a copy of one before it. What brings nothing may come as
    /// often as it likes.
    pub(crate) fn is_copy(&mut self, at_ns: i64, segment: &Segment<'_>) -> bool {
        let brings = segment.length > 0 || segment.syn || segment.fin || segment.rst;
        let Some(header) = segment.header.split_at_checked(CHECKSUM.start).filter(|_| brings)
        else {
            return false;
        };
        let mut hasher = HASHER.build_hasher();
        (segment.source, segment.destination, segment.identification).hash(&mut hasher);
        segment.length.hash(&mut hasher);
        hasher.write(header.0);
        hasher.write(&header.1[CHECKSUM.len()..]);
        let fingerprint = hasher.finish();
        let slot = &mut self.0[fingerprint as usize % SLOTS];
        let age_ns = at_ns.saturating_sub(slot.at_ns);
        let is_copy =
            slot.fingerprint == fingerprint && (0..=longest_ns(segment)).contains(&age_ns);
        if !is_copy {
            *slot = Slot { fingerprint, at_ns };
        }
        is_copy
    }
}

/// How much later than the first a copy may come.
fn longest_ns(segment: &Segment<'_>) -> i64 {
    if segment.identification != 0 {
        LONGEST_NS
    } else if segment.syn {
        SYN_NS
    } else if segment.header.get(20..24) == Some(&TIMESTAMP[..]) {
        TIMESTAMPED_NS
    } else {
        PLAIN_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkType;
    use etherparse::{PacketBuilder, TcpOptionElement};

    const MS_NS: i64 = 1_000_000;

    /// A packet with this identification and these options.
    fn packet(identification: u16, timestamp: Option<u32>, syn: bool) -> Vec<u8> {
        let (from, to) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let mut header =
            etherparse::Ipv4Header::new(0, 64, etherparse::IpNumber::TCP, from, to).expect("short");
        header.identification = identification;
        let builder = PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, Default::default()))
            .tcp(40_000, 80, 7, 512);
        let builder = if syn { builder.syn() } else { builder.ack(9) };
        let options: Vec<TcpOptionElement> = timestamp
            .map(|it| {
                vec![
                    TcpOptionElement::Noop,
                    TcpOptionElement::Noop,
                    TcpOptionElement::Timestamp(it, 3),
                ]
            })
            .unwrap_or_default();
        let mut packet = Vec::new();
        let payload: &[u8] = if syn { b"" } else { b"hello" };
        builder.options(&options).expect("short").write(&mut packet, payload).expect("room");
        packet
    }

    /// Whether the second of two packets is taken for a copy that comes so much later.
    fn second_is_copy(first: &[u8], second: &[u8], later_ns: i64) -> bool {
        let mut copies = Copies::new();
        let mut take = |packet: &[u8], at_ns| {
            let segment = Segment::parse(LinkType::Raw, packet).expect("a segment");
            copies.is_copy(at_ns, &segment)
        };
        assert!(!take(first, 1_000));
        take(second, 1_000 + later_ns)
    }

    #[test]
    fn the_same_packet_again_is_a_copy_and_bytes_sent_again_are_not() {
        for (first, second, later_ns, is_copy) in [
            (packet(5, None, false), packet(5, None, false), 300 * MS_NS, true),
            (packet(5, None, false), packet(6, None, false), 0, false),
            (packet(5, None, false), packet(5, None, false), 2_000 * MS_NS, false),
            (packet(0, Some(8), false), packet(0, Some(8), false), 50 * MS_NS, true),
            (packet(0, Some(8), false), packet(0, Some(9), false), 2 * MS_NS, false),
            (packet(0, None, false), packet(0, None, false), MS_NS / 2, true),
            (packet(0, None, false), packet(0, None, false), 5 * MS_NS, false),
            (packet(0, None, true), packet(0, None, true), 50 * MS_NS, true),
            (packet(0, None, true), packet(0, None, true), 1_000 * MS_NS, false),
        ] {
            assert_eq!(second_is_copy(&first, &second, later_ns), is_copy, "{later_ns}");
        }
    }

    #[test]
    fn a_checksum_that_was_filled_in_later_makes_no_other_packet() {
        let first = packet(5, None, false);
        let mut second = first.clone();
        second[20 + CHECKSUM.start] ^= 0xff;
        assert!(second_is_copy(&first, &second, MS_NS));
    }
}
