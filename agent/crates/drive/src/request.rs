//! A user's request, kept until it is sent.

use crate::script::SITE;
use crate::state::Method;

/// A request, kept while its user thinks.
#[derive(Default)]
pub struct Request {
    /// Its state.
    pub state: u8,
    /// How the parameters travel.
    pub method: Method,
    /// The server that is asked, as [`Script`](crate::script::Script) counts them.
    pub server: u8,
    /// Path and query, then the headers of its own, then the body; or a statement.
    text: Box<[u8]>,
    /// Where the headers begin.
    headers_at: u32,
    /// Where the body begins.
    body_at: u32,
}

impl Request {
    /// One whose `text` is its target, then from `headers_at` on its headers, each with its line
    /// end, then from `body_at` on its body.
    pub fn new(
        state: u8,
        method: Method,
        text: Vec<u8>,
        headers_at: usize,
        body_at: usize,
    ) -> Self {
        let (headers_at, body_at) = (headers_at as u32, body_at as u32);
        Self { state, method, server: SITE, text: text.into(), headers_at, body_at }
    }

    /// The same to another server.
    pub fn at(self, server: u8) -> Self {
        Self { server, ..self }
    }

    /// A page of `state`, without anything but its target.
    pub fn to(state: u8, target: &[u8]) -> Self {
        Self::new(state, Method::Get, target.into(), target.len(), target.len())
    }

    /// A statement. It may change something, as what is posted may.
    pub fn statement(state: u8, text: &str) -> Self {
        Self::new(state, Method::Post, text.into(), text.len(), text.len())
    }

    /// What a reply of this status, which says that it is at `target`, makes of it (RFC 9110 section
    /// 15.4): what was posted is asked for there, unless the status forbids that. Its headers go
    /// along but for those that tell of a body which does not (Fetch standard, section 4.4).
    pub fn sent_on(&self, status: u16, target: &[u8]) -> Self {
        let asks = match status {
            303 => true,
            301 | 302 => self.method == Method::Post,
            _ => false,
        };
        let mut text = target.to_vec();
        for line in self.headers().split_inclusive(|byte| *byte == b'\n') {
            if !(asks && begins(line, b"content-")) {
                text.extend_from_slice(line);
            }
        }
        let body_at = text.len();
        if !asks {
            text.extend_from_slice(self.body());
        }
        let method = if asks { Method::Get } else { self.method };
        Self::new(self.state, method, text, target.len(), body_at).at(self.server)
    }

    /// Path and query, or a statement.
    pub fn target(&self) -> &[u8] {
        &self.text[..self.headers_at as usize]
    }

    /// Its own headers, each with its line end.
    pub fn headers(&self) -> &[u8] {
        &self.text[self.headers_at as usize..self.body_at as usize]
    }

    /// Whether its headers say what it accepts.
    pub fn accepts(&self) -> bool {
        self.headers().split(|byte| *byte == b'\n').any(|line| begins(line, b"accept:"))
    }

    /// Whether sending it twice does what sending it once does (RFC 9110 section 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method, Method::Get | Method::Put | Method::Delete)
    }

    /// Whether it says how long its body is.
    pub fn has_body(&self) -> bool {
        !matches!(self.method, Method::Get | Method::Delete) || !self.body().is_empty()
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.text[self.body_at as usize..]
    }
}

/// Whether a header's line begins so, in whatever case.
fn begins(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_go_where_a_reply_sends_the_user_but_for_those_of_a_body_that_does_not() {
        let headers = "Content-Type: text/plain\r\nAccept: text/html\r\nHX-Request: true\r\n";
        let text = ["/here", headers, "body"].concat().into_bytes();
        let request = Request::new(3, Method::Post, text, 5, 5 + headers.len());
        let asked = request.sent_on(302, b"/there");
        assert_eq!((asked.target(), asked.method, asked.state), (&b"/there"[..], Method::Get, 3));
        assert_eq!(asked.headers(), b"Accept: text/html\r\nHX-Request: true\r\n");
        assert!(asked.accepts() && asked.body().is_empty());
        let again = request.sent_on(307, b"/there");
        assert_eq!((again.target(), again.method), (&b"/there"[..], Method::Post));
        assert_eq!((again.headers(), again.body()), (headers.as_bytes(), &b"body"[..]));
    }
}
