//! A message's head: start line and header fields.

use super::body::{Body, Chunk};
use crate::trace_context::request_id;
use httparse::{EMPTY_HEADER, Header, ParserConfig, Request, Response, Status};
use std::mem::MaybeUninit;

/// As many header fields as a head may have. httpd allows 100, Tomcat 100.
const MOST_FIELDS: usize = 128;

/// What matters of a request's head.
pub(super) struct RequestHead<'a> {
    pub method: &'a str,
    pub target: &'a [u8],
    pub id: &'a [u8],
    pub is_form: bool,
    pub body: Body,
}

/// What matters of a reply's head.
pub(super) struct ReplyHead {
    pub status: u16,
    /// The length that the fields state; what applies depends on the request too.
    pub stated: Option<Body>,
}

/// The method names by which a request is recognised in the middle of a stream: those of RFC 9110,
/// RFC 5789 and RFC 4918.
const METHODS: [&[u8]; 16] = [
    b"GET ",
    b"POST ",
    b"HEAD ",
    b"PUT ",
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"TRACE ",
    b"CONNECT ",
    b"PROPFIND ",
    b"PROPPATCH ",
    b"MKCOL ",
    b"COPY ",
    b"MOVE ",
    b"LOCK ",
    b"UNLOCK ",
];

/// True if a request may begin here.
pub(super) fn looks_like_request(bytes: &[u8]) -> bool {
    METHODS.iter().any(|method| bytes.starts_with(method))
}

/// True if a reply may begin here.
pub(super) fn looks_like_reply(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.")
}

/// Reads a request's head, which `head` holds from its first byte to the empty line.
pub(super) fn request(head: &[u8]) -> Option<RequestHead<'_>> {
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut request = Request::new(&mut []);
    let parsed = ParserConfig::default()
        .parse_request_with_uninit_headers(&mut request, head, &mut fields)
        .ok()?;
    let Status::Complete(_) = parsed else { return None };
    let is_form = field(request.headers, "content-type")
        .is_some_and(|it| it.starts_with(b"application/x-www-form-urlencoded"));
    let brought = |name| field(request.headers, name).unwrap_or_default();
    Some(RequestHead {
        method: request.method?,
        target: request.path?.as_bytes(),
        id: request_id(brought("traceparent"), brought("x-request-id")),
        is_form,
        body: stated_body(request.headers).unwrap_or(Body::Length(0)),
    })
}

/// Reads a reply's head.
pub(super) fn reply(head: &[u8]) -> Option<ReplyHead> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut response = Response::new(&mut fields);
    let parsed = ParserConfig::default().parse_response(&mut response, head).ok()?;
    let Status::Complete(_) = parsed else { return None };
    Some(ReplyHead { status: response.code?, stated: stated_body(response.headers) })
}

fn field<'a>(fields: &[Header<'a>], name: &str) -> Option<&'a [u8]> {
    fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
}

/// RFC 9112 section 6.3: the transfer coding overrides the length.
fn stated_body(fields: &[Header<'_>]) -> Option<Body> {
    if let Some(coding) = field(fields, "transfer-encoding") {
        let last = coding.rsplit(|&byte| byte == b',').next().unwrap_or(coding).trim_ascii();
        if last.eq_ignore_ascii_case(b"chunked") {
            return Some(Body::Chunked(Chunk::Size(0)));
        }
        return Some(Body::UntilClose);
    }
    let length = str::from_utf8(field(fields, "content-length")?).ok()?;
    length.trim().parse().ok().map(Body::Length)
}
