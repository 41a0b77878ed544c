//! Frames out of pcap and pcapng files, many at a time and where they lie.

mod interface;

use self::interface::{Interface, OldPacket, PACKET};
use crate::chunk::Chunk;
use anyhow::{Context, Result, anyhow, bail};
use pcap_parser::nom::{Err as Parse, IResult, Needed};
use pcap_parser::{
    Block, LegacyPcapBlock, PcapBlockOwned, PcapError, parse_block_be, parse_block_le,
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
    parse_sectionheaderblock,
};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use tierlab_dissect::{CapturedFrame, Clock, LinkType};

/// So much of a file is read at once: what a core's own cache holds while it is dissected. (Measured:
/// with 8 MiB a packet takes half as long again.)
const CHUNK_BYTES: usize = 1 << 20;
/// More is read at once only for a block that is longer, up to this.
const LONGEST_BLOCK: usize = 8 << 20;

/// Programs that capture keep no more of a frame than this (MAXIMUM_SNAPLEN of libpcap).
const MOST_CAPTURED: usize = 262_144;
/// What a record of pcapng has around its frame: headers and options.
const MOST_AROUND: usize = 4 << 10;
/// The longest header of a record of pcap.
const RECORD_HEADER: usize = 24;

/// An open capture file.
pub(crate) struct Frames {
    path: PathBuf,
    file: File,
    format: Format,
    interfaces: Vec<Interface>,
    /// One for the whole file, so that a wrong time is found out whoever takes its frame.
    clock: Clock,
    /// Read and not parsed yet: a chunk's end cuts a block.
    rest: Vec<u8>,
    ended: bool,
    /// How much is read at once.
    chunk_bytes: usize,
    /// No record is longer.
    longest_record: usize,
    end: FileEnd,
}

/// What was not read at a file's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileEnd {
    /// Bytes of a last record that is cut short, as a killed capture leaves it.
    pub cut_bytes: u64,
    /// Bytes from the first record with an impossible length to the end.
    pub damaged_bytes: u64,
}

type Parsed<'a, T> = IResult<&'a [u8], T, PcapError<&'a [u8]>>;

#[derive(Clone, Copy)]
enum Format {
    /// Not known before the file's first bytes.
    Unknown,
    Pcap(for<'a> fn(&'a [u8]) -> Parsed<'a, LegacyPcapBlock<'a>>),
    PcapNg {
        big_endian: bool,
    },
}

impl Frames {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let (format, interfaces, rest) = (Format::Unknown, Vec::new(), Vec::new());
        Ok(Self {
            path: path.to_owned(),
            file,
            format,
            interfaces,
            clock: Clock::default(),
            rest,
            ended: false,
            chunk_bytes: CHUNK_BYTES,
            longest_record: MOST_CAPTURED + MOST_AROUND,
            end: FileEnd::default(),
        })
    }

    /// What was not read, once the last part was.
    pub(crate) fn end(&self) -> FileEnd {
        self.end
    }

    /// Replaces what is in `chunk` by the next part. False at the file's end. A last frame that is
    /// cut short, as a killed capture leaves it, ends the file. A frame with an impossible length does,
    /// too: nobody knows where the next one begins.
    pub(crate) fn next(&mut self, chunk: &mut Chunk) -> Result<bool> {
        let done = self.read(chunk).and_then(|()| self.parse(chunk));
        done.with_context(|| self.path.display().to_string())?;
        Ok(!self.ended || chunk.frame_count() > 0)
    }

    fn read(&mut self, chunk: &mut Chunk) -> Result<()> {
        let mut filled = self.rest.len();
        chunk.bytes.resize(self.chunk_bytes, 0);
        chunk.bytes[..filled].copy_from_slice(&self.rest);
        while filled < self.chunk_bytes && !self.ended {
            match self.file.read(&mut chunk.bytes[filled..]) {
                Ok(0) => self.ended = true,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("cannot be read"),
            }
        }
        chunk.bytes.truncate(filled);
        Ok(())
    }

    fn parse(&mut self, chunk: &mut Chunk) -> Result<()> {
        let Chunk { bytes, places } = chunk;
        places.clear();
        let mut left = &bytes[..];
        while !left.is_empty() {
            match self.format.next(left) {
                Ok((behind, block)) => {
                    if let PcapBlockOwned::LegacyHeader(header) = &block {
                        self.longest_record = longest_record(header.snaplen);
                    }
                    if let Some((at_ns, frame)) = self.take(block)? {
                        let from = frame.bytes.as_ptr().addr() - bytes.as_ptr().addr();
                        places.add(at_ns, from, frame);
                    }
                    left = behind;
                }
                Err(Parse::Incomplete(_)) if matches!(self.format, Format::Unknown) => {
                    bail!("ends within its header")
                }
                Err(Parse::Incomplete(missing)) if self.ended => {
                    self.end = end(left.len(), missing, self.longest_record);
                    break;
                }
                Err(Parse::Incomplete(_)) if left.len() == bytes.len() => {
                    if self.chunk_bytes >= LONGEST_BLOCK {
                        bail!("has a frame larger than {} MiB", LONGEST_BLOCK >> 20);
                    }
                    self.chunk_bytes *= 2;
                    break;
                }
                Err(Parse::Incomplete(_)) => break,
                Err(Parse::Error(error) | Parse::Failure(error)) => bail!(explain(&error)),
            }
        }
        if bytes.is_empty() && matches!(self.format, Format::Unknown) {
            bail!("is empty");
        }
        self.rest.clear();
        self.rest.extend_from_slice(left);
        Ok(())
    }

    /// Takes a block; gives its frame and when it was captured, if it is one.
    fn take<'a>(&mut self, block: PcapBlockOwned<'a>) -> Result<Option<(i64, CapturedFrame<'a>)>> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.interfaces.push(Interface::of_pcap(&header)?);
            }
            PcapBlockOwned::Legacy(frame) => {
                let interface = self.interface(0)?;
                let at_ns = interface.legacy_time(&frame);
                let frame = interface.frame(frame.data, frame.origlen);
                return Ok(Some((self.clock.time(at_ns), frame)));
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(it)) => {
                self.interfaces.push(Interface::of_pcapng(&it)?);
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(frame)) => {
                let interface = self.interface(frame.if_id)?;
                let at_ns = interface.time(frame.ts_high, frame.ts_low);
                let captured = frame.data.len().min(frame.caplen as usize);
                let frame = interface.frame(&frame.data[..captured], frame.origlen);
                return Ok(Some((self.clock.time(at_ns), frame)));
            }
            PcapBlockOwned::NG(Block::Unknown(block)) if block.block_type == PACKET => {
                let is_big = matches!(self.format, Format::PcapNg { big_endian: true });
                let Some(packet) = OldPacket::read(block.data, is_big) else {
                    bail!("is damaged: a packet block is shorter than it says")
                };
                let interface = self.interface(packet.interface.into())?;
                let at_ns = interface.time(packet.high, packet.low);
                let frame = interface.frame(packet.captured, packet.wire_length);
                return Ok(Some((self.clock.time(at_ns), frame)));
            }
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                let wire_length = packet.origlen as usize;
                let frame =
                    CapturedFrame { link: LinkType::Untimed, wire_length, bytes: packet.data };
                // It is counted and not read: any time will do.
                return Ok(Some((0, frame)));
            }
            PcapBlockOwned::NG(_) => {}
        }
        Ok(None)
    }

    fn interface(&self, number: u32) -> Result<Interface> {
        self.interfaces
            .get(number as usize)
            .copied()
            .ok_or_else(|| anyhow!("a frame names interface {number}, which is not there"))
    }
}

impl Format {
    /// The next block and what is behind it.
    fn next<'a>(&mut self, bytes: &'a [u8]) -> Parsed<'a, PcapBlockOwned<'a>> {
        match self {
            Self::Unknown if parse_sectionheaderblock(bytes).is_ok() => {
                *self = Self::PcapNg { big_endian: false };
                self.next(bytes)
            }
            Self::Unknown => {
                let (behind, header) = parse_pcap_header(bytes)?;
                *self = Self::Pcap(match (header.is_modified_format(), header.is_bigendian()) {
                    (true, _) => parse_pcap_frame_modified,
                    (false, true) => parse_pcap_frame_be,
                    (false, false) => parse_pcap_frame,
                });
                Ok((behind, header.into()))
            }
            Self::Pcap(parse) => parse(bytes).map(|(behind, frame)| (behind, frame.into())),
            Self::PcapNg { big_endian } => {
                let parse = if *big_endian { parse_block_be } else { parse_block_le };
                let (behind, block) = parse(bytes)?;
                if let Block::SectionHeader(section) = &block {
                    *big_endian = section.big_endian();
                }
                Ok((behind, block.into()))
            }
        }
    }
}

/// The longest record that a file with this snap length may have; 0 is no limit.
fn longest_record(snap_length: u32) -> usize {
    let captured = if snap_length == 0 { MOST_CAPTURED } else { snap_length as usize };
    captured.min(MOST_CAPTURED) + RECORD_HEADER
}

/// What is not read of a file that ends with this many bytes of a record, when so many are missing.
fn end(left: usize, missing: Needed, longest_record: usize) -> FileEnd {
    let missing = if let Needed::Size(bytes) = missing { bytes.get() } else { 1 };
    if left.saturating_add(missing) <= longest_record {
        FileEnd { cut_bytes: left as u64, damaged_bytes: 0 }
    } else {
        FileEnd { cut_bytes: 0, damaged_bytes: left as u64 }
    }
}

fn explain(error: &PcapError<&[u8]>) -> String {
    match error {
        PcapError::HeaderNotRecognized => "is no pcap or pcapng file".into(),
        other => format!("is damaged: {other}"),
    }
}

#[cfg(test)]
mod tests;
