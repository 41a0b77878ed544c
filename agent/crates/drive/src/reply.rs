//! An HTTP/1.1 reply, assembled from the bytes as they come (RFC 9112). No socket here.

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
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut headers);
        let length = match head.parse(bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(_) => return Err(ReplyError::Malformed),
        };
        let status = head.code.unwrap_or(0);
        if (100..200).contains(&status) {
            return Ok(Some(length));
        }
        self.status = status;
        self.persistent = head.version == Some(1);
        let mut content_length = None;
        let mut chunked = false;
        for header in head.headers {
            let says = |token: &str| {
                header
                    .value
                    .split(|byte| *byte == b',')
                    .any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
            };
            if header.name.eq_ignore_ascii_case("content-length") {
                let number =
                    std::str::from_utf8(header.value).ok().and_then(|it| it.trim().parse().ok());
                content_length = Some(number.ok_or(ReplyError::Malformed)?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = says("chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                if says("close") {
                    self.persistent = false;
                } else if says("keep-alive") {
                    self.persistent = true;
                }
            }
        }
        self.stage = match content_length {
            _ if matches!(status, 204 | 304) => Stage::Done,
            _ if chunked => Stage::ChunkSize,
            Some(0) => Stage::Done,
            Some(length) if length > LARGEST_BODY => return Err(ReplyError::TooLarge),
            Some(length) => Stage::Length(length),
            None => {
                self.persistent = false;
                Stage::UntilEnd
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `wire` in pieces of every size and expects the same reply each time.
    fn read(wire: &[u8], ends: bool) -> Result<(u16, Vec<u8>, bool), ReplyError> {
        let outcome = |size: usize| {
            let mut reply = Reply::kept_in(Vec::new());
            let mut done = false;
            for piece in wire.chunks(size) {
                done = reply.feed(piece)?;
            }
            if !done && ends {
                reply.end()?;
                done = true;
            }
            assert!(done, "incomplete");
            Ok((reply.status(), reply.body().to_vec(), reply.persistent()))
        };
        let whole = outcome(wire.len().max(1));
        for size in 1..wire.len() {
            assert_eq!(outcome(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn by_length() {
        let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(read(wire, false), Ok((200, b"hello".to_vec(), true)));
    }

    #[test]
    fn chunked_with_extension_and_trailer() {
        let wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n";
        assert_eq!(read(wire, false), Ok((200, b"hello world".to_vec(), true)));
    }

    #[test]
    fn until_the_end_of_the_connection() {
        let wire = b"HTTP/1.0 500 No\r\n\r\nsorry";
        assert_eq!(read(wire, true), Ok((500, b"sorry".to_vec(), false)));
    }

    #[test]
    fn interim_replies_are_skipped() {
        let wire =
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
        assert_eq!(read(wire, false), Ok((204, vec![], false)));
    }

    #[test]
    fn what_is_cut_or_no_http_is_named() {
        assert_eq!(read(b"", true), Err(ReplyError::Empty));
        assert_eq!(read(b"HTTP/1.1 200 OK\r\nContent-Le", true), Err(ReplyError::Truncated));
        assert_eq!(
            read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true),
            Err(ReplyError::Truncated)
        );
        assert_eq!(read(b"SSH-2.0-x\r\n", true), Err(ReplyError::Malformed));
        let bad_length = b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n";
        assert_eq!(read(bad_length, true), Err(ReplyError::Malformed));
        let bad_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
        assert_eq!(read(bad_chunk, true), Err(ReplyError::Malformed));
        let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
        assert_eq!(read(huge, true), Err(ReplyError::TooLarge));
    }

    #[test]
    fn whatever_comes_is_a_reply_or_an_error() {
        let wires: [&[u8]; 3] = [
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 No\r\n\r\npage",
        ];
        let mut random = crate::random::Stream::new(1, 0);
        for round in 0..60_000 {
            let mut wire = wires[round % wires.len()].to_vec();
            for _ in 0..=random.below(3) {
                let at = random.below(wire.len() as u32) as usize;
                match random.below(3) {
                    0 => wire[at] = random.below(256) as u8,
                    1 => drop(wire.remove(at)),
                    _ => wire.insert(at, b"0f\r\n: ;9"[random.below(8) as usize]),
                }
            }
            let mut reply = Reply::kept_in(Vec::new());
            let fed = wire
                .chunks(1 + random.below(40) as usize)
                .try_for_each(|piece| reply.feed(piece).map(drop));
            let _ = fed.and_then(|()| reply.end());
            assert!(reply.body().len() <= wire.len());
        }
    }

    #[test]
    fn bytes_after_a_reply_end_the_connection() {
        let mut reply = Reply::counted();
        let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1";
        assert_eq!(reply.feed(wire), Ok(true));
        assert!(!reply.persistent());
    }
}
