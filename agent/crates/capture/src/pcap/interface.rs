//! Interfaces of capture files: what their frames begin with, and in which units their times are.

use anyhow::{Context, Result, bail};
use pcap_parser::{InterfaceDescriptionBlock, LegacyPcapBlock, PcapHeader};
use tierlab_dissect::{CapturedFrame, LinkType};

/// Timestamps are microseconds where a file does not say otherwise.
const DEFAULT_UNITS_PER_SECOND: u64 = 1_000_000;

/// How an interface's frames are to be read.
#[derive(Clone, Copy)]
pub(super) struct Interface {
    link: LinkType,
    units_per_second: u64,
    offset_s: i64,
}

impl Interface {
    /// The only one of a pcap file.
    pub(super) fn of_pcap(header: &PcapHeader) -> Result<Self> {
        let units_per_second =
            if header.is_nanosecond_precision() { 1_000_000_000 } else { DEFAULT_UNITS_PER_SECOND };
        // The upper bits may tell how long the frame check sequence is.
        let link = LinkType::from_number(header.network.0 & 0x0fff_ffff);
        if let LinkType::Unsupported(number) = link {
            bail!(
                "its link type {number} is not supported; capture Ethernet, Linux cooked or raw IP"
            );
        }
        // Nobody writes a time zone (pcap-savefile(5)); times are UTC.
        Ok(Self { link, units_per_second, offset_s: 0 })
    }

    /// One of a pcapng file.
    pub(super) fn of_pcapng(block: &InterfaceDescriptionBlock<'_>) -> Result<Self> {
        Ok(Self {
            link: LinkType::from_number(block.linktype.0),
            units_per_second: units_per_second(block.if_tsresol)?,
            offset_s: block.if_tsoffset,
        })
    }

    /// When a frame of a pcap file was captured, in nanoseconds.
    pub(super) fn legacy_time(&self, frame: &LegacyPcapBlock<'_>) -> i64 {
        let (second, part) = (i64::from(frame.ts_sec), u64::from(frame.ts_usec));
        nanoseconds(second, part, self.units_per_second)
    }

    /// A frame that was captured on it.
    pub(super) fn frame<'a>(&self, bytes: &'a [u8], wire_length: u32) -> CapturedFrame<'a> {
        // Writers that know only what they captured say less, or 0.
        let wire_length = bytes.len().max(wire_length as usize);
        CapturedFrame { link: self.link, wire_length, bytes }
    }

    /// A time in its units, in nanoseconds.
    pub(super) fn time(&self, high: u32, low: u32) -> i64 {
        let units = u64::from(high) << 32 | u64::from(low);
        let second = (units / self.units_per_second) as i64;
        let part = units % self.units_per_second;
        nanoseconds(second.saturating_add(self.offset_s), part, self.units_per_second)
    }
}

/// The obsolete Packet Block's number.
pub(super) const PACKET: u32 = 2;

/// Its content (draft-ietf-opsawg-pcapng appendix A).
pub(super) struct OldPacket<'a> {
    pub interface: u16,
    pub high: u32,
    pub low: u32,
    pub wire_length: u32,
    pub captured: &'a [u8],
}

impl<'a> OldPacket<'a> {
    pub(super) fn read(block: &'a [u8], is_big: bool) -> Option<Self> {
        let (header, data) = block.split_first_chunk::<20>()?;
        let word = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let interface = [header[0], header[1]];
        let interface =
            if is_big { u16::from_be_bytes(interface) } else { u16::from_le_bytes(interface) };
        let captured = data.get(..word(12) as usize)?;
        Some(Self { interface, high: word(4), low: word(8), wire_length: word(16), captured })
    }
}

/// The option if_tsresol: a power of 10, or of 2 if its highest bit is set
/// (draft-ietf-opsawg-pcapng section 4.2).
pub(super) fn units_per_second(resolution: u8) -> Result<u64> {
    let exponent = u32::from(resolution & 0x7f);
    let units = if resolution & 0x80 == 0 {
        10u64.checked_pow(exponent)
    } else {
        1u64.checked_shl(exponent)
    };
    units.with_context(|| format!("its times have a resolution that cannot be: {resolution:#04x}"))
}

pub(super) fn nanoseconds(seconds: i64, part: u64, units_per_second: u64) -> i64 {
    let units_per_second = units_per_second.max(1);
    let part_ns = match part.checked_mul(1_000_000_000) {
        Some(product) => product / units_per_second,
        // Division by 128 bits takes long.
        None => (u128::from(part) * 1_000_000_000 / u128::from(units_per_second)) as u64,
    };
    seconds.saturating_mul(1_000_000_000).saturating_add(part_ns as i64)
}
