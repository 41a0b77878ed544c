//! Frames out of a pcap or pcapng file, through the same path as those of a ring.

use crate::plan::FilePlan;
use crate::salt;
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Context, Result, anyhow, bail};
use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapHeader, create_reader};
use std::fs::File;
use std::path::Path;
use tierlab_dissect::{Dissector, LinkType};

/// Room for the largest frame, a segment of 64 KiB, and for reading many at once.
const BUFFER_BYTES: usize = 1 << 20;

/// Timestamps are microseconds where a file does not say otherwise.
const DEFAULT_UNITS_PER_SECOND: u64 = 1_000_000;

/// Reads, dissects and writes.
pub(crate) fn run(plan: FilePlan, mut tables: Tables) -> Result<()> {
    let mut dissector = Dissector::new(plan.servers, salt::draw()?);
    let mut summary = Summary::default();
    frames(&plan.file, |at_ns, link, bytes| {
        summary.packets += 1;
        summary.bytes += bytes.len() as u64;
        dissector.frame(at_ns, link, bytes, &mut tables);
    })?;
    summary.connections = dissector.open_connections() as u64;
    summary.crowded_out = dissector.crowded_out();
    dissector.finish(&mut tables);
    summary.visits = tables.visit_count();
    tables.finish()?;
    summary.last();
    Ok(())
}

/// How an interface's frames are to be read.
#[derive(Clone, Copy)]
struct Interface {
    link: LinkType,
    units_per_second: u64,
    offset_s: i64,
}

/// Hands every frame of a file to `on`, in the file's order. A last frame that is cut short, as a
/// killed capture leaves it, ends the file.
fn frames(path: &Path, mut on: impl FnMut(i64, LinkType, &[u8])) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let named = |error: PcapError<&[u8]>| anyhow!("{}: {}", path.display(), explain(&error));
    let mut reader = create_reader(BUFFER_BYTES, file).map_err(named)?;
    let mut interfaces: Vec<Interface> = Vec::new();
    loop {
        let failed = match reader.next() {
            Ok((used, block)) => {
                take(block, &mut interfaces, &mut on)
                    .with_context(|| path.display().to_string())?;
                reader.consume(used);
                continue;
            }
            Err(error) => error.to_owned_vec(),
        };
        match failed {
            PcapError::Eof | PcapError::UnexpectedEof => return Ok(()),
            PcapError::Incomplete(_) if reader.reader_exhausted() => return Ok(()),
            PcapError::Incomplete(_) => {
                reader.refill().map_err(|error| named(error.to_owned_vec()))?;
            }
            other => return Err(named(other)),
        }
    }
}

fn take(
    block: PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
    on: &mut impl FnMut(i64, LinkType, &[u8]),
) -> Result<()> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => interfaces.push(legacy_interface(&header)?),
        PcapBlockOwned::Legacy(frame) => {
            let interface = interface(interfaces, 0)?;
            let at = u64::from(frame.ts_usec);
            let second = i64::from(frame.ts_sec);
            on(nanoseconds(second, at, interface.units_per_second), interface.link, frame.data);
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
        PcapBlockOwned::NG(Block::InterfaceDescription(it)) => interfaces.push(Interface {
            link: link(it.linktype.0)?,
            units_per_second: units_per_second(it.if_tsresol)?,
            offset_s: it.if_tsoffset,
        }),
        PcapBlockOwned::NG(Block::EnhancedPacket(frame)) => {
            let interface = interface(interfaces, frame.if_id)?;
            let units = u64::from(frame.ts_high) << 32 | u64::from(frame.ts_low);
            let second = (units / interface.units_per_second) as i64;
            let second = second.saturating_add(interface.offset_s);
            let part = units % interface.units_per_second;
            let at_ns = nanoseconds(second, part, interface.units_per_second);
            let captured = frame.data.len().min(frame.caplen as usize);
            on(at_ns, interface.link, &frame.data[..captured]);
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => {
            bail!("its frames have no times; save it with enhanced packet blocks")
        }
        PcapBlockOwned::NG(_) => {}
    }
    Ok(())
}

fn legacy_interface(header: &PcapHeader) -> Result<Interface> {
    let units_per_second =
        if header.is_nanosecond_precision() { 1_000_000_000 } else { DEFAULT_UNITS_PER_SECOND };
    // The upper bits may tell how long the frame check sequence is.
    let link = link(header.network.0 & 0x0fff_ffff)?;
    // Nobody writes a time zone (pcap-savefile(5)); times are UTC.
    Ok(Interface { link, units_per_second, offset_s: 0 })
}

/// The option if_tsresol: a power of 10, or of 2 if its highest bit is set
/// (draft-ietf-opsawg-pcapng section 4.2).
fn units_per_second(resolution: u8) -> Result<u64> {
    let exponent = u32::from(resolution & 0x7f);
    let units = if resolution & 0x80 == 0 {
        10u64.checked_pow(exponent)
    } else {
        1u64.checked_shl(exponent)
    };
    units.with_context(|| format!("its times have a resolution that cannot be: {resolution:#04x}"))
}

fn interface(interfaces: &[Interface], number: u32) -> Result<Interface> {
    let known = interfaces.get(number as usize);
    known.copied().with_context(|| format!("a frame names interface {number}, which is not there"))
}

fn link(number: i32) -> Result<LinkType> {
    LinkType::from_number(number).with_context(|| {
        format!("its link type {number} is not supported; capture Ethernet, Linux cooked or raw IP")
    })
}

fn nanoseconds(seconds: i64, part: u64, units_per_second: u64) -> i64 {
    let part_ns = u128::from(part) * 1_000_000_000 / u128::from(units_per_second.max(1));
    seconds.saturating_mul(1_000_000_000).saturating_add(part_ns as i64)
}

fn explain(error: &PcapError<&[u8]>) -> String {
    match error {
        PcapError::HeaderNotRecognized => "is no pcap or pcapng file".into(),
        PcapError::Eof => "is empty".into(),
        PcapError::Incomplete(_) => "ends within its header".into(),
        PcapError::BufferTooSmall => "has a frame larger than 1 MiB".into(),
        PcapError::ReadError => "cannot be read".into(),
        other => format!("is damaged: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_second_become_nanoseconds() {
        assert_eq!(nanoseconds(1, 500_000, 1_000_000), 1_500_000_000);
        assert_eq!(nanoseconds(1, 5, 1_000_000_000), 1_000_000_005);
        assert_eq!(nanoseconds(0, 1, 1 << 20), 953);
    }

    #[test]
    fn resolutions_are_powers_of_ten_or_two() {
        assert_eq!(units_per_second(6).expect("valid"), 1_000_000);
        assert_eq!(units_per_second(0x80 | 20).expect("valid"), 1 << 20);
        assert_eq!(units_per_second(0x80).expect("valid"), 1);
        assert!(units_per_second(20).is_err() && units_per_second(0x80 | 64).is_err());
    }

    fn pcap(magic: u32, link: u32, part: u32, frame: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        for word in [magic, 0x0004_0002, 0, 0, 65_535, link, 10, part] {
            file.extend(word.to_le_bytes());
        }
        for _ in 0..2 {
            file.extend((frame.len() as u32).to_le_bytes());
        }
        file.extend(frame);
        file
    }

    fn read(content: &[u8]) -> Result<Vec<(i64, Vec<u8>)>> {
        let name = format!("tierlab-test-{}-{:p}.pcap", std::process::id(), content);
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content)?;
        let mut seen = Vec::new();
        let done = frames(&path, |at_ns, _, bytes| seen.push((at_ns, bytes.to_vec())));
        std::fs::remove_file(&path)?;
        done.map(|()| seen)
    }

    #[test]
    fn micro_and_nanosecond_files_are_read() {
        let micro = read(&pcap(0xa1b2_c3d4, 1, 7, b"frame")).expect("valid");
        assert_eq!(micro, [(10_000_007_000, b"frame".to_vec())]);
        let nano = read(&pcap(0xa1b2_3c4d, 101, 7, b"frame")).expect("valid");
        assert_eq!(nano, [(10_000_000_007, b"frame".to_vec())]);
    }

    #[test]
    fn a_file_cut_short_ends_there() {
        let mut content = pcap(0xa1b2_c3d4, 1, 7, b"frame");
        content.extend([0; 9]);
        assert_eq!(read(&content).expect("valid").len(), 1);
    }

    #[test]
    fn other_files_are_refused_in_words() {
        for (content, words) in [
            (b"#!/bin/sh is a script, not a capture".to_vec(), "no pcap"),
            (Vec::new(), "empty"),
            (pcap(0xa1b2_c3d4, 105, 7, b"frame"), "link type 105"),
        ] {
            let error = format!("{:#}", read(&content).expect_err("refused"));
            assert!(error.contains(words), "{error}");
        }
    }
}
