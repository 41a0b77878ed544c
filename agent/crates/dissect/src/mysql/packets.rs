//! Packets: three bytes of length, one of sequence number. A payload of 16 MiB or more takes several,
//! all but the last of them full.

use crate::framed::Frames;
use crate::memory::of_vec;

/// The header's size.
const HEADER: usize = 4;

/// The longest payload of one packet.
pub(super) const FULL: usize = 0xff_ffff;

/// A payload, joined.
pub(super) struct Packet<'a> {
    pub start_ns: i64,
    pub end_ns: i64,
    /// Of the first packet.
    pub sequence: u8,
    /// Of the last packet.
    pub last_sequence: u8,
    /// Of the whole payload.
    pub length: usize,
    /// Bytes on the wire.
    pub size: u64,
    /// The payload's first bytes.
    pub prefix: &'a [u8],
    /// More of the payload follows; this is not it yet.
    pub goes_on: bool,
    /// No byte was lost.
    pub whole: bool,
}

impl Packet<'_> {
    /// The payload's first byte, or 0.
    pub(super) fn first(&self) -> u8 {
        self.prefix.first().copied().unwrap_or(0)
    }
}

/// One direction, cut into payloads.
pub(super) struct Packets {
    pub frames: Frames<HEADER>,
    /// In the middle of a payload of several packets.
    joining: bool,
    joined: Joined,
}

#[derive(Default)]
struct Joined {
    start_ns: i64,
    sequence: u8,
    length: usize,
    size: u64,
    prefix: Vec<u8>,
}

fn measure(header: [u8; HEADER]) -> Option<usize> {
    Some(u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize)
}

impl Packets {
    pub(super) fn new(keep: usize, from_start: bool) -> Self {
        let frames = Frames::new(measure, keep, from_start);
        Self { frames, joining: false, joined: Joined::default() }
    }

    /// The next byte begins a payload.
    pub(super) fn resume(&mut self) {
        self.joining = false;
        self.frames.resume();
    }

    /// How much of the payload in progress went by.
    pub(super) fn in_progress(&self) -> u64 {
        self.frames.in_progress() + if self.joining { self.joined.size } else { 0 }
    }

    /// What is carried over from packet to packet.
    pub(super) fn held_bytes(&self) -> usize {
        self.frames.held_bytes() + of_vec(&self.joined.prefix)
    }

    /// Takes the next packet off `bytes`; none if they do not complete one.
    pub(super) fn next<'p, 'b: 'p>(
        &'p mut self,
        at_ns: i64,
        bytes: &mut &'b [u8],
    ) -> Option<Packet<'p>> {
        let frame = self.frames.next(at_ns, bytes)?;
        let goes_on = frame.length == FULL;
        let mut packet = Packet {
            start_ns: frame.start_ns,
            end_ns: frame.end_ns,
            sequence: frame.header[3],
            last_sequence: frame.header[3],
            length: frame.length,
            size: frame.size(),
            prefix: frame.prefix,
            goes_on,
            whole: frame.whole,
        };
        if goes_on || self.joining {
            self.joined.add(&packet, self.joining);
            self.joining = goes_on;
            packet.start_ns = self.joined.start_ns;
            packet.sequence = self.joined.sequence;
            packet.length = self.joined.length;
            packet.size = self.joined.size;
            packet.prefix = &self.joined.prefix;
        }
        Some(packet)
    }
}

impl Joined {
    fn add(&mut self, packet: &Packet<'_>, joining: bool) {
        if !joining {
            self.prefix.clear();
            self.prefix.extend_from_slice(packet.prefix);
            (self.start_ns, self.sequence) = (packet.start_ns, packet.sequence);
            (self.length, self.size) = (0, 0);
        }
        self.length += packet.length;
        self.size += packet.size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_packets_are_joined() {
        let mut packets = Packets::new(8, true);
        let mut full = vec![0xff, 0xff, 0xff, 3];
        full.extend(vec![b'x'; FULL]);
        let mut bytes = &full[..];
        assert!(packets.next(1, &mut bytes).is_some_and(|it| it.goes_on));
        let last = packets.next(2, &mut &b"\x02\0\0\x04ab"[..]).expect("the end");
        assert!(!last.goes_on);
        assert_eq!((last.start_ns, last.end_ns), (1, 2));
        assert_eq!((last.sequence, last.last_sequence), (3, 4));
        assert_eq!((last.length, last.prefix), (FULL + 2, &b"xxxxxxxx"[..]));
        assert_eq!(last.size, (FULL + 2 + 8) as u64);
        let next = packets.next(3, &mut &b"\x01\0\0\0z"[..]).expect("another");
        assert_eq!((next.start_ns, next.length, next.sequence), (3, 1, 0));
    }
}
