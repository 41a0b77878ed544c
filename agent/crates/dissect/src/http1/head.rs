//! A message's head: start line and header fields.

use super::body::{Body, Chunk};
use super::fields::{Fields, RequestLine, first_line, status};
use crate::trace_context::request_id;

/// What matters of a request's head.
pub(super) struct RequestHead<'a> {
    /// None if it is none of those that are known.
    pub method: Option<&'a str>,
    /// None if it has no form that a target has.
    pub target: Option<&'a [u8]>,
    pub id: &'a [u8],
    pub is_form: bool,
    /// The client may wait before it sends the content (RFC 9110 section 10.1.1).
    pub expects: bool,
    pub stated: Stated,
}

/// What matters of a reply's head.
pub(super) struct ReplyHead {
    pub status: u16,
    /// The length that the fields state; what applies depends on the request too.
    pub stated: Stated,
}

/// What a head states of its content's length (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    Nothing,
    Length(Body),
    /// A coding that is not chunked: a reply's content ends with the connection.
    Coded,
    /// Lengths that differ, or are none.
    Unclear,
}

/// The methods that labels tell, and by which a request is known in the middle of a stream: those of
/// IANA's registry that are in use, and those of caches, of UPnP and of `Upgrade`'s preface.
const METHODS: &[&str] = &[
    "GET",
    "POST",
    "HEAD",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "QUERY",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "ACL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "LABEL",
    "LINK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "ORDERPATCH",
    "REBIND",
    "REPORT",
    "SEARCH",
    "UNBIND",
    "UNCHECKOUT",
    "UNLINK",
    "UPDATE",
    "UPDATEREDIRECTREF",
    "VERSION-CONTROL",
    "BASELINE-CONTROL",
    "PURGE",
    "BAN",
    "REFRESH",
    "M-SEARCH",
    "NOTIFY",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "SOURCE",
];

/// True if a request may begin here. Of its first line some may not be there.
pub(super) fn may_be_request(bytes: &[u8]) -> bool {
    METHODS
        .iter()
        .any(|it| bytes.strip_prefix(it.as_bytes()).is_some_and(|it| it.starts_with(b" ")))
}

/// True if a request's first line is here, of a known method and with a target as it should be.
pub(super) fn begins_request(bytes: &[u8]) -> bool {
    let line = first_line(bytes).and_then(|(line, _)| RequestLine::read(line));
    line.is_some_and(|it| known(it.method).is_some() && proper(&it).is_some())
}

/// True if a reply may begin here.
pub(super) fn looks_like_reply(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.")
}

/// Reads a request's head, which `head` holds from its first byte to the empty line. None if its
/// first line is no request's.
pub(super) fn request(head: &[u8]) -> Option<RequestHead<'_>> {
    let (line, rest) = first_line(head)?;
    let line = RequestLine::read(line)?;
    let fields = Fields::new(rest);
    let is_form = fields
        .first("content-type")
        .is_some_and(|it| it.starts_with(b"application/x-www-form-urlencoded"));
    let brought = |name| fields.first(name).unwrap_or_default();
    Some(RequestHead {
        method: known(line.method),
        target: proper(&line),
        id: request_id(brought("traceparent"), brought("x-request-id")),
        is_form,
        expects: fields.list("expect").any(|it| it.eq_ignore_ascii_case(b"100-continue")),
        stated: stated(fields),
    })
}

/// Reads a reply's head.
pub(super) fn reply(head: &[u8]) -> Option<ReplyHead> {
    let (line, rest) = first_line(head)?;
    Some(ReplyHead { status: status(line)?, stated: stated(Fields::new(rest)) })
}

fn known(method: &str) -> Option<&str> {
    METHODS.contains(&method).then_some(method)
}

/// RFC 9112 section 3.2: a path, an address, a host and port, or `*`.
fn proper<'a>(line: &RequestLine<'a>) -> Option<&'a [u8]> {
    let target = line.target;
    let has_scheme = || {
        let end = memchr::memmem::find(target, b"://");
        end.is_some_and(|end| end > 0 && target[..end].iter().all(u8::is_ascii_alphanumeric))
    };
    let is_proper = target[0] == b'/' || target == b"*" || line.method == "CONNECT" || has_scheme();
    is_proper.then_some(target)
}

/// The transfer coding overrides the length. `identity` is no coding (RFC 2616 section 3.6). A length
/// may be stated several times, if it is the same.
fn stated(fields: Fields<'_>) -> Stated {
    let codings = fields.list("transfer-encoding");
    let coding = codings.filter(|it| !it.eq_ignore_ascii_case(b"identity")).last();
    if let Some(coding) = coding {
        let is_chunked = coding.eq_ignore_ascii_case(b"chunked");
        let chunked = Stated::Length(Body::Chunked(Chunk::Size(0)));
        return if is_chunked { chunked } else { Stated::Coded };
    }
    let mut lengths = fields.list("content-length").map(length);
    match lengths.next() {
        None => Stated::Nothing,
        Some(Some(first)) if lengths.all(|it| it == Some(first)) => {
            Stated::Length(Body::Length(first))
        }
        Some(_) => Stated::Unclear,
    }
}

/// Digits alone: `+5` and `0x5` are no lengths.
fn length(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    if is_number { str::from_utf8(value).ok()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &str) -> Stated {
        reply(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n").as_bytes()).expect("a head").stated
    }

    #[test]
    fn a_length_said_twice_is_one_and_two_lengths_are_none() {
        let five = Stated::Length(Body::Length(5));
        assert_eq!(of("Content-Length: 5"), five);
        assert_eq!(of("Content-Length: 5, 5"), five);
        assert_eq!(of("Content-Length: 5\r\nContent-Length: 5"), five);
        for unclear in ["5, 6", "+5", "0x5", "5 6", "-1", "99999999999999999999"] {
            assert_eq!(of(&format!("Content-Length: {unclear}")), Stated::Unclear, "{unclear}");
        }
        assert_eq!(of("Content-Length:"), Stated::Nothing);
    }

    #[test]
    fn the_last_coding_counts_and_identity_is_none() {
        let chunked = Stated::Length(Body::Chunked(Chunk::Size(0)));
        assert_eq!(of("Transfer-Encoding: gzip, chunked"), chunked);
        assert_eq!(of("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"), chunked);
        assert_eq!(of("Transfer-Encoding: chunked, identity"), chunked);
        assert_eq!(of("Transfer-Encoding: chunked\r\nContent-Length: 5"), chunked);
        assert_eq!(of("Transfer-Encoding: gzip"), Stated::Coded);
        let five = Stated::Length(Body::Length(5));
        assert_eq!(of("Transfer-Encoding: identity\r\nContent-Length: 5"), five);
    }

    #[test]
    fn a_head_may_have_any_number_of_fields() {
        let many = "X: y\r\n".repeat(1_000) + "Content-Length: 5";
        assert_eq!(of(&many), Stated::Length(Body::Length(5)));
    }

    #[test]
    fn methods_and_targets_that_are_none_are_not_told() {
        let read = |line: &str| {
            let head = format!("{line} HTTP/1.1\r\n\r\n");
            let head = request(head.as_bytes()).expect("a head");
            (head.method.map(str::to_owned), head.target.map(<[u8]>::to_vec))
        };
        assert_eq!(read("GET /a"), (Some("GET".into()), Some(b"/a".to_vec())));
        assert_eq!(read("secretGET /a").0, None);
        assert_eq!(read("GET secret /a").1, None);
        assert_eq!(read("CONNECT a:443").1, Some(b"a:443".to_vec()));
        assert_eq!(read("GET http://h/a").1, Some(b"http://h/a".to_vec()));
    }

    #[test]
    fn a_request_begins_where_its_first_line_is_whole() {
        assert!(begins_request(b"GET /a HTTP/1.1\r\nHost"));
        for other in [&b"GET /a HTTP/1."[..], b"GET a HTTP/1.1\r\n", b"got /a HTTP/1.1\r\n", b""] {
            assert!(!begins_request(other));
        }
        assert!(may_be_request(b"GET /a"));
        assert!(!may_be_request(b"GETTING"));
    }
}
