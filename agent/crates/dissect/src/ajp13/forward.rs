//! FORWARD_REQUEST: the request as the web server passes it on.

use super::{FORWARD_REQUEST, Frame};
use crate::context::Context;
use crate::decimal::decimal;
use crate::exchange::Exchange;
use crate::trace_context::request_id;
use crate::{path, query};

/// Method codes, from 1.
const METHODS: [&str; 27] = [
    "OPTIONS",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "TRACE",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "ACL",
    "REPORT",
    "VERSION-CONTROL",
    "CHECKIN",
    "CHECKOUT",
    "UNCHECKOUT",
    "SEARCH",
    "MKWORKSPACE",
    "UPDATE",
    "LABEL",
    "MERGE",
    "BASELINE-CONTROL",
    "MKACTIVITY",
];
/// The method's name is in an attribute.
const STORED_METHOD: u8 = 0xff;

const CODED_NAME: u8 = 0xa0;
const CONTENT_TYPE: u8 = 0x07;
const CONTENT_LENGTH: u8 = 0x08;

const QUERY_STRING: u8 = 0x05;
const REQUEST_ATTRIBUTE: u8 = 0x0a;
const SSL_KEY_SIZE: u8 = 0x0b;
const METHOD_ATTRIBUTE: u8 = 0x0d;
const END: u8 = 0xff;

/// What matters of the request.
#[derive(Default)]
struct Forward<'a> {
    method: &'a [u8],
    uri: &'a [u8],
    query: &'a [u8],
    request_id: &'a [u8],
    traceparent: &'a [u8],
    is_form: bool,
    content: u64,
}

/// What a packet begins.
pub(super) struct Begun {
    pub exchange: Exchange<()>,
    /// Its content is a form.
    pub is_form: bool,
    /// How much content follows; as much as there is, where that is not stated.
    pub content: u64,
}

/// What this packet begins; `prefix` is what is read of its payload.
pub(super) fn begun(packet: &Frame<'_>, prefix: &[u8], cx: &mut Context<'_>) -> Begun {
    let mut forward = Forward::default();
    if forward.read(&mut Fields(prefix.get(1..).unwrap_or(&[]))).is_none() {
        // A packet that ends early leaves the rest unknown.
        forward.content = u64::MAX;
    }
    let shared = &mut *cx.shared;
    shared.text.clear();
    let method = str::from_utf8(forward.method).unwrap_or("?");
    if forward.uri.is_empty() {
        shared.text.push_str("(incomplete)");
    } else {
        path::template(method, forward.uri, &mut shared.text);
    }
    let label = shared.labels.number(&shared.text);
    let mut exchange = Exchange::new(packet.start_ns, packet.end_ns, packet.size(), label, ());
    path::values(forward.uri, &shared.salt, &mut exchange.literals);
    query::values(forward.query, &shared.salt, &mut shared.scratch, &mut exchange.literals);
    exchange.id_hash = cx.id_hash(request_id(forward.traceparent, forward.request_id));
    Begun { exchange, is_form: forward.is_form, content: forward.content }
}

/// True if the packet is a FORWARD_REQUEST from its type to its terminator. (The first two bytes of
/// a body's packet can look like its type and method.)
pub(super) fn is_complete(packet: &Frame<'_>) -> bool {
    let mut fields = Fields(packet.prefix.get(1..).unwrap_or(&[]));
    begins(packet) && Forward::default().read(&mut fields).is_some() && fields.0.is_empty()
}

/// True if the packet begins as a FORWARD_REQUEST of a known method does.
pub(super) fn begins(packet: &Frame<'_>) -> bool {
    matches!(packet.prefix, [FORWARD_REQUEST, method, ..]
        if (1..=METHODS.len()).contains(&usize::from(*method)) || *method == STORED_METHOD)
}

impl<'a> Forward<'a> {
    fn read(&mut self, fields: &mut Fields<'a>) -> Option<()> {
        let method = fields.byte()?;
        self.method = match usize::from(method).checked_sub(1).and_then(|at| METHODS.get(at)) {
            Some(name) => name.as_bytes(),
            None => b"?",
        };
        fields.string()?; // protocol
        self.uri = fields.string()?;
        for _ in ["remote address", "remote host", "server name"] {
            fields.string()?;
        }
        fields.number()?; // server port
        fields.byte()?; // is TLS
        for _ in 0..fields.number()? {
            self.header(fields)?;
        }
        self.attributes(fields, method)
    }

    fn header(&mut self, fields: &mut Fields<'a>) -> Option<()> {
        if fields.0.first() == Some(&CODED_NAME) {
            let code = fields.number()? as u8;
            let value = fields.string()?;
            self.is_form |= code == CONTENT_TYPE && is_form(value);
            if code == CONTENT_LENGTH {
                self.content = decimal(value).unwrap_or(u64::MAX);
            }
            return Some(());
        }
        let name = fields.string()?;
        let value = fields.string()?;
        if name.eq_ignore_ascii_case(b"x-request-id") {
            self.request_id = value;
        } else if name.eq_ignore_ascii_case(b"traceparent") {
            self.traceparent = value;
        }
        self.is_form |= name.eq_ignore_ascii_case(b"content-type") && is_form(value);
        if name.eq_ignore_ascii_case(b"content-length") {
            self.content = decimal(value).unwrap_or(u64::MAX);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.content = u64::MAX;
        }
        Some(())
    }

    fn attributes(&mut self, fields: &mut Fields<'a>, method: u8) -> Option<()> {
        loop {
            match fields.byte()? {
                END => return Some(()),
                REQUEST_ATTRIBUTE => {
                    fields.string()?;
                    fields.string()?;
                }
                SSL_KEY_SIZE => {
                    fields.number()?;
                }
                QUERY_STRING => self.query = fields.string()?,
                METHOD_ATTRIBUTE if method == STORED_METHOD => self.method = fields.string()?,
                _ => {
                    fields.string()?;
                }
            }
        }
    }
}

fn is_form(value: &[u8]) -> bool {
    value.starts_with(b"application/x-www-form-urlencoded")
}

/// The packet's fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u16> {
        let (&number, rest) = self.0.split_first_chunk::<2>()?;
        self.0 = rest;
        Some(u16::from_be_bytes(number))
    }

    /// A length, that many bytes and a zero; FFFF for none at all.
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        if length == u16::MAX {
            return Some(&[]);
        }
        let length = usize::from(length);
        let text = self.0.get(..length)?;
        self.0 = self.0.get(length + 1..)?;
        Some(text)
    }
}
