//! The head of an HTTP/1.1 reply: its status, and how its body ends (RFC 9112, section 6.3).

use crate::reply::ReplyError;
use httparse::{Header, ParserConfig, Status};

/// Fields that a head may have at most. Browsers have no limit, servers of 100 and more.
const MOST_FIELDS: usize = 512;

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
    /// The head at the front of `bytes` and its length, when it is complete. It is read as browsers
    /// read it: fields may go on in the next line, may have blanks before the colon, and are passed
    /// over where they are none (RFC 9112, sections 5.1 and 5.2).
    pub fn parse(bytes: &[u8]) -> Result<Option<(usize, Self)>, ReplyError> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut reply = httparse::Response::new(&mut headers);
        let mut config = ParserConfig::default();
        config.allow_obsolete_multiline_headers_in_responses(true);
        config.allow_spaces_after_header_name_in_responses(true);
        config.ignore_invalid_headers_in_responses(true);
        let length = match config.parse_response(&mut reply, bytes) {
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
                for element in elements(header) {
                    let length = std::str::from_utf8(element).ok()?.parse().ok()?;
                    // Said several times it is one; two that differ make no sense.
                    if content_length.is_some_and(|other| other != length) {
                        return None;
                    }
                    content_length = Some(length);
                }
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked |= says(header, "chunked");
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
    elements(header).any(|element| element.eq_ignore_ascii_case(token.as_bytes()))
}

/// The elements of a header's list, without empty ones.
fn elements<'a>(header: &Header<'a>) -> impl Iterator<Item = &'a [u8]> {
    let parts = header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    parts.filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(fields: &str) -> Option<Framing> {
        let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
        let (length, head_read) = Head::parse(head.as_bytes()).expect("a head").expect("all of it");
        assert_eq!(length, head.len());
        head_read.framing
    }

    #[test]
    fn heads_are_read_as_browsers_read_them() {
        let many = "X-Field: y\r\n".repeat(150);
        for fields in ["A: b\r\n c\r\n\td", "A : b", "no colon", "A: b\r\nContent-Length: 5", &many]
        {
            let fields = format!("{}\r\nContent-Length: 5, 5", fields.trim_end());
            assert!(matches!(framing(&fields), Some(Framing::Length(5))), "{fields}");
        }
        let coded = framing("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked");
        assert!(matches!(coded, Some(Framing::Chunks)));
        let coded = framing("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity");
        assert!(matches!(coded, Some(Framing::Chunks)));
    }

    #[test]
    fn lengths_that_differ_make_no_sense() {
        for fields in ["Content-Length: 5, 6", "Content-Length: 5\r\nContent-Length: 6"] {
            assert!(framing(fields).is_none(), "{fields}");
        }
    }
}
