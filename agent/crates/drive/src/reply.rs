//! An HTTP/1.1 reply, assembled from the bytes as they come (RFC 9112). No socket here.

use crate::reply_head::{Framing, Head, Told};
use httparse::Status;

/// Replies larger than this are not believed.
const LARGEST_BODY: usize = 64 << 20;
/// Heads larger than this are not believed.
const LARGEST_HEAD: usize = 64 << 10;

/// Why a reply is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyError {
    /// The bytes are not HTTP.
    Malformed,
    /// The connection ended within the reply.
    Truncated,
    /// The connection ended before the reply began.
    Empty,
    /// The reply exceeds what is believed.
    TooLarge,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Head,
    /// So many bytes are to come.
    Length(usize),
    /// The reply ends with the connection.
    UntilEnd,
    ChunkSize,
    /// So many bytes of this chunk are to come, its line end included.
    Chunk(usize),
    Trailer,
    Done,
}

/// A reply on its way.
#[derive(Debug, Default)]
pub struct Reply {
    stage: Stage,
    /// What is not yet understood: a partial head, chunk size or trailer.
    pending: Vec<u8>,
    /// The decoded body, when it is kept.
    body: Vec<u8>,
    keep_body: bool,
    status: u16,
    persistent: bool,
    told: Told,
    /// Bytes on the wire, the head included.
    received: u64,
    body_length: usize,
}

impl Reply {
    /// A reply whose body is collected in `buffer`.
    pub fn kept_in(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        Self { body: buffer, keep_body: true, ..Self::default() }
    }

    /// A reply whose body is counted only.
    pub fn counted() -> Self {
        Self::default()
    }

    /// The status code; 0 before the head is there.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Bytes received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether the connection may carry another request after this reply.
    pub fn persistent(&self) -> bool {
        self.persistent
    }

    /// The body so far.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// What its head tells a browser to do.
    pub fn told(&self) -> &Told {
        &self.told
    }

    /// Whether its status says that what was asked for is elsewhere.
    pub fn redirects(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }

    /// How long the body is, as far as it is there.
    pub fn body_length(&self) -> usize {
        self.body_length
    }

    /// Gives the buffer back.
    pub fn into_buffer(self) -> Vec<u8> {
        self.body
    }

    /// Takes the next bytes. True when the reply is complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool, ReplyError> {
        self.received += bytes.len() as u64;
        let mut rest = bytes;
        loop {
            rest = match self.stage {
                Stage::Done => {
                    // Bytes after the reply: the connection is out of step.
                    self.persistent &= rest.is_empty();
                    return Ok(true);
                }
                _ if rest.is_empty() => return Ok(false),
                Stage::Head => self.head(rest)?,
                Stage::Length(left) => {
                    let (now, after) = rest.split_at(left.min(rest.len()));
                    self.keep(now)?;
                    let left = left - now.len();
                    self.stage = if left == 0 { Stage::Done } else { Stage::Length(left) };
                    after
                }
                Stage::UntilEnd => {
                    self.keep(rest)?;
                    &[]
                }
                Stage::ChunkSize => self.chunk_size(rest)?,
                Stage::Chunk(left) => self.chunk(left, rest)?,
                Stage::Trailer => self.trailer(rest)?,
            }
        }
    }

    /// The connection has ended. Ok when that completes the reply.
    pub fn end(&mut self) -> Result<(), ReplyError> {
        match self.stage {
            Stage::Done => Ok(()),
            Stage::UntilEnd => {
                self.stage = Stage::Done;
                Ok(())
            }
            Stage::Head if self.received == 0 => Err(ReplyError::Empty),
            _ => Err(ReplyError::Truncated),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), ReplyError> {
        self.body_length += bytes.len();
        if self.body_length > LARGEST_BODY {
            return Err(ReplyError::TooLarge);
        }
        if self.keep_body {
            self.body.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Reads the head, and returns what follows it.
    fn head<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], ReplyError> {
        if self.pending.is_empty() {
            // The usual case: the whole head in one piece, and nothing is copied.
            return match self.parse_head(bytes)? {
                Some(length) => Ok(&bytes[length..]),
                None => {
                    self.pending.extend_from_slice(bytes);
                    Ok(&[])
                }
            };
        }
        let before = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        match self.parse_head(&pending)? {
            Some(length) => Ok(&bytes[length.saturating_sub(before)..]),
            None if pending.len() > LARGEST_HEAD => Err(ReplyError::TooLarge),
            None => {
                self.pending = pending;
                Ok(&[])
            }
        }
    }

    /// The head's length, when it is complete.
    fn parse_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, ReplyError> {
        let Some((length, head)) = Head::parse(bytes)? else { return Ok(None) };
        if head.is_interim() {
            return Ok(Some(length));
        }
        (self.status, self.persistent) = (head.status, head.persistent);
        self.told = head.told;
        self.stage = match head.framing.ok_or(ReplyError::Malformed)? {
            Framing::Length(0) => Stage::Done,
            Framing::Length(length) if length > LARGEST_BODY => return Err(ReplyError::TooLarge),
            Framing::Length(length) => Stage::Length(length),
            Framing::Chunks => Stage::ChunkSize,
            Framing::UntilEnd => Stage::UntilEnd,
        };
        Ok(Some(length))
    }

    fn chunk_size<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], ReplyError> {
        let before = self.pending.len();
        self.pending.extend_from_slice(&bytes[..bytes.len().min(64)]);
        let (used, size) = match httparse::parse_chunk_size(&self.pending) {
            Ok(Status::Complete(found)) => found,
            Ok(Status::Partial) if self.pending.len() < 256 => {
                return Ok(&bytes[bytes.len().min(64)..]);
            }
            _ => return Err(ReplyError::Malformed),
        };
        self.pending.clear();
        self.stage = match usize::try_from(size) {
            Ok(0) => Stage::Trailer,
            Ok(size) if size <= LARGEST_BODY => Stage::Chunk(size + 2),
            _ => return Err(ReplyError::TooLarge),
        };
        Ok(&bytes[used.saturating_sub(before)..])
    }

    fn chunk<'a>(&mut self, left: usize, bytes: &'a [u8]) -> Result<&'a [u8], ReplyError> {
        let (now, after) = bytes.split_at(left.min(bytes.len()));
        let data = left.saturating_sub(2).min(now.len());
        self.keep(&now[..data])?;
        let left = left - now.len();
        self.stage = if left == 0 { Stage::ChunkSize } else { Stage::Chunk(left) };
        Ok(after)
    }

    /// Skips trailer fields up to the empty line.
    fn trailer<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], ReplyError> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let empty = self.pending.iter().chain(&rest[..end]).all(|byte| *byte == b'\r');
            self.pending.clear();
            rest = &rest[end + 1..];
            if empty {
                self.stage = Stage::Done;
                return Ok(rest);
            }
        }
        if self.pending.len() + rest.len() > LARGEST_HEAD {
            return Err(ReplyError::TooLarge);
        }
        self.pending.extend_from_slice(rest);
        Ok(&[])
    }
}
