//! The head of an HTTP/1.1 reply: its status, and how its body ends (RFC 9112, section 6.3).

use crate::reply::ReplyError;
use httparse::{Header, Status};

/// What a head says.
pub struct Head {
    /// The status code.
    pub status: u16,
    /// Whether the connection may carry another request after this reply.
    pub persistent: bool,
    /// How the body ends; None where what the head says of it makes no sense.
    pub framing: Option<Framing>,
    /// What is for a browser.
    pub told: Told,
}

/// What a head tells a browser to do.
#[derive(Debug, Default)]
pub struct Told {
    /// `Location`.
    pub location: Option<Box<[u8]>>,
    /// Each `Set-Cookie`.
    pub cookies: Vec<Box<[u8]>>,
    /// Whether its `Content-Type` is another than HTML's.
    pub no_html: bool,
}

/// How a body ends.
pub enum Framing {
    /// After so many bytes.
    Length(usize),
    /// With an empty chunk.
    Chunks,
    /// With the connection.
    UntilEnd,
}

impl Head {
    /// The head at the front of `bytes` and its length, when it is complete.
    pub fn parse(bytes: &[u8]) -> Result<Option<(usize, Self)>, ReplyError> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut reply = httparse::Response::new(&mut headers);
        let length = match reply.parse(bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) => return Ok(None),
            Err(_) => return Err(ReplyError::Malformed),
        };
        let status = reply.code.unwrap_or(0);
        let persistent = reply.version == Some(1);
        let mut head = Self { status, persistent, framing: None, told: Told::default() };
        if !head.is_interim() {
            head.framing = head.understand(reply.headers);
        }
        Ok(Some((length, head)))
    }

    /// Whether another head follows.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }

    fn understand(&mut self, headers: &[Header<'_>]) -> Option<Framing> {
        let (mut content_length, mut chunked) = (None, false);
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                content_length = Some(std::str::from_utf8(header.value).ok()?.trim().parse().ok()?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = says(header, "chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                if says(header, "close") {
                    self.persistent = false;
                } else if says(header, "keep-alive") {
                    self.persistent = true;
                }
            } else if header.name.eq_ignore_ascii_case("location") {
                self.told.location = Some(header.value.into());
            } else if header.name.eq_ignore_ascii_case("set-cookie") {
                self.told.cookies.push(header.value.into());
            } else if header.name.eq_ignore_ascii_case("content-type") {
                self.told.no_html = !is_html(header.value);
            }
        }
        Some(match content_length {
            _ if matches!(self.status, 204 | 304) => Framing::Length(0),
            _ if chunked => Framing::Chunks,
            Some(length) => Framing::Length(length),
            None => {
                self.persistent = false;
                Framing::UntilEnd
            }
        })
    }
}

/// Whether a content type is HTML's, or none at all.
fn is_html(content_type: &[u8]) -> bool {
    let kind = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    ["", "text/html", "application/xhtml+xml"]
        .iter()
        .any(|html| kind.eq_ignore_ascii_case(html.as_bytes()))
}

/// Whether a token is in a header's list.
fn says(header: &Header<'_>, token: &str) -> bool {
    let mut parts = header.value.split(|byte| *byte == b',');
    parts.any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}
