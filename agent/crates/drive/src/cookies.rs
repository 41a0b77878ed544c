//! The cookies of one session (RFC 6265), as far as one site needs them: name, value, path, and
//! whether a cookie is taken back. All go to the one site that a user visits.

use crate::encode::decode_percent;

/// Cookies that are kept for one user at most.
const MOST: usize = 64;
/// A longer one is not kept.
const LONGEST: usize = 4096;

/// The cookies of one session.
#[derive(Clone, Default)]
pub struct Jar(Vec<Cookie>);

#[derive(Clone)]
struct Cookie {
    /// `name=value`, as it came.
    pair: Box<[u8]>,
    /// Where its value begins, after the equals sign.
    value_at: usize,
    path: Box<[u8]>,
}

impl Jar {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes what a `Set-Cookie` header says.
    pub fn take(&mut self, header: &[u8]) {
        let mut parts = header.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', pair) else { return };
        if equals == 0 || pair.len() > LONGEST {
            return;
        }
        let (mut path, mut gone) = (&b"/"[..], false);
        for part in parts {
            let at = memchr::memchr(b'=', part).unwrap_or(part.len());
            let (name, value) = (&part[..at], part.get(at + 1..).unwrap_or_default());
            if name.eq_ignore_ascii_case(b"path") && value.first() == Some(&b'/') {
                path = value;
            } else if name.eq_ignore_ascii_case(b"max-age") {
                gone = value.first().is_none_or(|first| !(b'1'..=b'9').contains(first));
            } else if name.eq_ignore_ascii_case(b"expires") {
                // What is taken back is given the epoch, or the second after, as its end.
                gone |= memchr::memmem::find(value, b"1970").is_some();
            }
        }
        let name = &pair[..=equals];
        self.0.retain(|kept| !(kept.pair.starts_with(name) && *kept.path == *path));
        if !gone && self.0.len() < MOST {
            self.0.push(Cookie { pair: pair.into(), value_at: equals + 1, path: path.into() });
        }
    }

    /// The value of the first cookie called `name`.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        let named = |cookie: &&Cookie| &cookie.pair[..cookie.value_at - 1] == name;
        self.0.iter().find(named).map(|cookie| &cookie.pair[cookie.value_at..])
    }

    /// The same, without its percent-encoding.
    pub fn decoded(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut plain = Vec::new();
        decode_percent(self.value(name)?, &mut plain);
        Some(plain)
    }

    /// Appends the `Cookie` header of a request for `target`, if any cookie is for it.
    pub fn write(&self, target: &[u8], text: &mut Vec<u8>) {
        let mut separator: &[u8] = b"Cookie: ";
        for cookie in self.0.iter().filter(|cookie| cookie.is_for(target)) {
            text.extend_from_slice(separator);
            text.extend_from_slice(&cookie.pair);
            separator = b"; ";
        }
        if separator == b"; " {
            text.extend_from_slice(b"\r\n");
        }
    }
}

impl Cookie {
    /// RFC 6265 section 5.1.4.
    fn is_for(&self, target: &[u8]) -> bool {
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        let Some(rest) = path.strip_prefix(&*self.path) else { return false };
        rest.is_empty() || rest[0] == b'/' || self.path.ends_with(b"/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(headers: &[&str], target: &str) -> String {
        let mut jar = Jar::default();
        for header in headers {
            jar.take(header.as_bytes());
        }
        let mut text = Vec::new();
        jar.write(target.as_bytes(), &mut text);
        String::from_utf8(text).expect("the cookies are ASCII")
    }

    #[test]
    fn cookies_are_sent_back_to_where_they_are_for() {
        let set = ["a=1; Path=/; HttpOnly", "b=2; path=/shop", "a=3"];
        assert_eq!(sent(&set, "/"), "Cookie: a=3\r\n");
        assert_eq!(sent(&set, "/shop/x?y=1"), "Cookie: b=2; a=3\r\n");
        assert_eq!(sent(&set, "/shopping"), "Cookie: a=3\r\n");
    }

    #[test]
    fn a_cookie_that_is_taken_back_is_gone() {
        assert_eq!(sent(&["a=1", "a=; Max-Age=0"], "/"), "");
        assert_eq!(sent(&["a=1", "a=x; expires=Thu, 01-Jan-1970 00:00:01 GMT"], "/"), "");
        assert_eq!(sent(&["a=1; Max-Age=60"], "/"), "Cookie: a=1\r\n");
    }

    #[test]
    fn what_is_no_cookie_is_not_kept_and_there_is_a_bound() {
        assert_eq!(sent(&["", "=", "x", ";;=;", "=1"], "/"), "");
        let many: Vec<String> = (0..1000).map(|n| format!("c{n}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(sent(&many, "/").matches("=1").count(), MOST);
        let long = format!("l={}", "x".repeat(LONGEST));
        assert_eq!(sent(&[&long], "/"), "");
    }
}
