//! A head's lines, as browsers, servers and proxies take them: more than RFC 9112 allows.
//!
//! Lines may end with a bare line feed (section 2.2). A field may go on in the next line, if that
//! begins with a blank (5.2, "obs-fold"); blanks may stand before the colon (5.1, for replies); what
//! has no colon is no field, and is passed over.

/// A start line may be so long a method.
const LONGEST_METHOD: usize = 32;

/// The parts of a request's first line; none if it is no request's.
pub(super) struct RequestLine<'a> {
    pub method: &'a str,
    pub target: &'a [u8],
}

impl<'a> RequestLine<'a> {
    /// Reads a line without its end. A target may have blanks and any bytes but control characters.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let blank = memchr::memchr(b' ', line)?;
        let method = str::from_utf8(&line[..blank]).ok()?;
        let is_named = (1..=LONGEST_METHOD).contains(&method.len())
            && method.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
        let rest = line[blank..].trim_ascii();
        let version = rest.len().checked_sub(b" HTTP/1.1".len())?;
        let (target, version) = rest.split_at(version);
        let target = target.trim_ascii();
        let is_http = version.starts_with(b" HTTP/1.") && version[8].is_ascii_digit();
        let is_text = !target.is_empty() && !target.iter().any(u8::is_ascii_control);
        (is_named && is_http && is_text).then_some(Self { method, target })
    }
}

/// The status in a reply's first line; none if it is no reply's. The reason may be missing.
pub(super) fn status(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let (version, rest) = rest.split_first()?;
    let digits = rest.strip_prefix(b" ")?.trim_ascii_start();
    let is_ended = digits.get(3).is_none_or(|it| matches!(it, b' ' | b'\t'));
    let number = str::from_utf8(digits.get(..3)?).ok()?;
    let is_status = version.is_ascii_digit() && is_ended;
    number.parse().ok().filter(|it| is_status && (100..1000).contains(it))
}

/// The first line of some bytes without its end, and what comes behind it; none where it has none.
pub(super) fn first_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &bytes[end + 1..]))
}

/// The fields of a head, behind its first line.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(lines: &'a [u8]) -> Self {
        Self(lines)
    }

    /// The value of the first field of a name, which is given in lower case.
    pub(super) fn first(self, name: &str) -> Option<&'a [u8]> {
        self.named(name).next()
    }

    /// The elements of a list in all fields of a name (RFC 9110 section 5.6.1), without empty ones.
    pub(super) fn list(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let elements = self.named(name).flat_map(|it| it.split(|&byte| byte == b','));
        elements.map(<[u8]>::trim_ascii).filter(|it| !it.is_empty())
    }

    fn named(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.filter(move |(it, _)| it.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.0.is_empty() {
            let field = self.field();
            if let Some(colon) = memchr::memchr(b':', field) {
                return Some((field[..colon].trim_ascii(), field[colon + 1..].trim_ascii()));
            }
        }
        None
    }
}

impl<'a> Fields<'a> {
    /// Takes a line, and those with which it goes on.
    fn field(&mut self) -> &'a [u8] {
        let mut end = 0;
        while let Some(feed) = memchr::memchr(b'\n', &self.0[end..]) {
            end += feed + 1;
            if !matches!(self.0.get(end), Some(b' ' | b'\t')) {
                break;
            }
        }
        let (field, rest) = self.0.split_at(if end == 0 { self.0.len() } else { end });
        self.0 = rest;
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Option<(&str, &str)> {
        let read = RequestLine::read(line.as_bytes())?;
        Some((read.method, str::from_utf8(read.target).ok()?))
    }

    #[test]
    fn a_request_line_is_read_as_servers_do() {
        assert_eq!(request("GET / HTTP/1.1"), Some(("GET", "/")));
        assert_eq!(request("M-SEARCH * HTTP/1.1"), Some(("M-SEARCH", "*")));
        assert_eq!(request("GET  /a b   HTTP/1.0 "), Some(("GET", "/a b")));
        assert_eq!(request("GET /käse HTTP/1.1"), Some(("GET", "/käse")));
        for other in
            ["GET /", "GET / HTTP/2.0", "GET  HTTP/1.1", "a\"b / HTTP/1.1", "GET /\0 HTTP/1.1", ""]
        {
            assert_eq!(request(other), None, "{other}");
        }
    }

    #[test]
    fn a_status_needs_no_reason() {
        for line in ["HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/1.1  200 "] {
            assert_eq!(status(line.as_bytes()), Some(200), "{line}");
        }
        for line in ["HTTP/1.1 2000 OK", "HTTP/1.1 abc", "HTTP/2 200", "HTTP/1.1 99 x", "200 OK"] {
            assert_eq!(status(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn fields_may_go_on_have_blanks_before_the_colon_and_be_none() {
        let lines =
            b"A: one\r\n two\r\nB : 2\nno field\r\nTransfer-Encoding: gzip,\r\n\tchunked\r\n\r\n";
        let fields = Fields::new(lines);
        assert_eq!(fields.first("a"), Some(&b"one\r\n two"[..]));
        assert_eq!(fields.first("b"), Some(&b"2"[..]));
        assert_eq!(fields.first("c"), None);
        let codings: Vec<_> = fields.list("transfer-encoding").collect();
        assert_eq!(codings, [&b"gzip"[..], b"chunked"]);
        assert_eq!(Fields::new(b"").count(), 0);
    }
}
