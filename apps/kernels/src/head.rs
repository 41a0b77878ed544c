//! The head of an HTTP/1.1 request (RFC 9112), from its bytes. No socket here.

/// Longer heads are refused; nothing longer is kept.
pub const LONGEST_HEAD: usize = 16 << 10;
const MOST_FIELDS: usize = 100;

/// What of a request matters here.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// Its bytes, with the empty line.
    pub length: usize,
    /// Such as GET.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The id that it carries, if it is one: 1 to 32 hexadecimal digits.
    pub request_id: Option<String>,
    /// Whether the connection may carry another request.
    pub persistent: bool,
    /// Whether a body follows.
    pub has_body: bool,
}

/// The bytes are no request.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

impl Head {
    /// Reads the head that the bytes begin with; None while it is not whole.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => return Ok(None),
            _ => return Err(Malformed),
        };
        let field = |name: &str| {
            let found = request.headers.iter().find(|it| it.name.eq_ignore_ascii_case(name));
            found.map(|it| String::from_utf8_lossy(it.value).trim().to_ascii_lowercase())
        };
        let connection = field("connection").unwrap_or_default();
        let says = |word: &str| connection.split(',').any(|part| part.trim() == word);
        let is_old = request.version == Some(0);
        Ok(Some(Self {
            length,
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            request_id: field("x-request-id").filter(|id| is_id(id)),
            persistent: if is_old { says("keep-alive") } else { !says("close") },
            has_body: field("content-length").is_some_and(|length| length != "0")
                || field("transfer-encoding").is_some(),
        }))
    }
}

fn is_id(text: &str) -> bool {
    (1..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] =
        b"GET /barriers?size=9 HTTP/1.1\r\nHost: h\r\nX-Request-Id: 00aF\r\nConnection: Close\r\n\r\n";

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        for end in 0..REQUEST.len() {
            assert_eq!(Head::parse(&REQUEST[..end]), Ok(None));
        }
        let more = [REQUEST, b"GET /"].concat();
        let head = Head::parse(&more).unwrap().unwrap();
        assert_eq!(head.length, REQUEST.len());
        assert_eq!((head.method.as_str(), head.target.as_str()), ("GET", "/barriers?size=9"));
        assert_eq!(head.request_id.as_deref(), Some("00af"));
        assert!(!head.persistent && !head.has_body);
    }

    #[test]
    fn connections_are_kept_as_their_version_says() {
        let kept = |text: &str| Head::parse(text.as_bytes()).unwrap().unwrap().persistent;
        assert!(kept("GET / HTTP/1.1\r\n\r\n"));
        assert!(!kept("GET / HTTP/1.0\r\n\r\n"));
        assert!(kept("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    }

    #[test]
    fn what_is_no_head_is_refused_and_a_long_one_too() {
        for bytes in
            [&b"\x00\x01\x02"[..], b"GET / HTTP/9.9\r\n\r\n", b"GET /\r\n\r\n", b"\xff\xff"]
        {
            assert_eq!(Head::parse(bytes), Err(Malformed), "{bytes:?}");
        }
        let long = [b"GET /".as_slice(), &vec![b'a'; LONGEST_HEAD]].concat();
        assert_eq!(Head::parse(&long), Err(Malformed));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(Head::parse(many.as_bytes()), Err(Malformed));
    }

    #[test]
    fn any_bytes_are_a_head_or_none() {
        // Each byte of a request in turn is replaced by each other.
        for at in 0..REQUEST.len() {
            for byte in 0..=255 {
                let mut bytes = REQUEST.to_vec();
                bytes[at] = byte;
                if let Ok(Some(head)) = Head::parse(&bytes) {
                    assert!(head.length <= bytes.len());
                    assert!(head.request_id.is_none_or(|id| is_id(&id)));
                }
            }
        }
    }
}
