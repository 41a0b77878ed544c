//! Path templates: what a request asked for, without what it asked for in particular.

use crate::Salt;
use crate::literal::Literals;

/// Writes `<method> <path>` to `label`: no authority, query string or path parameters, and `{id}`
/// for segments that are numbers, UUIDs or hexadecimal ids.
pub(crate) fn template(method: &str, target: &[u8], label: &mut String) {
    label.push_str(method);
    label.push(' ');
    let path = path_of(target);
    if path.is_empty() {
        label.push('/');
    }
    for (position, segment) in path.split(|&byte| byte == b'/').enumerate() {
        if position > 0 {
            label.push('/');
        }
        let name = name_of(segment);
        if is_id(name) {
            label.push_str("{id}");
        } else {
            label.extend(name.iter().map(|&byte| printable(byte)));
        }
    }
}

/// Adds the path's ids, which its template leaves out, to `literals`.
pub(crate) fn ids(target: &[u8], salt: &Salt, literals: &mut Literals) {
    let names = path_of(target).split(|&byte| byte == b'/').map(name_of);
    names.filter(|name| is_id(name)).for_each(|name| literals.add(salt, name));
}

/// The bytes after `?` and before `#`.
pub(crate) fn query_of(target: &[u8]) -> &[u8] {
    let whole = target.split(|&byte| byte == b'#').next().unwrap_or(target);
    match memchr::memchr(b'?', whole) {
        Some(mark) => &whole[mark + 1..],
        None => &[],
    }
}

fn path_of(target: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'?', b'#', target).unwrap_or(target.len());
    let target = &target[..end];
    if target.first() == Some(&b'/') {
        return target;
    }
    match memchr::memmem::find(target, b"://") {
        Some(scheme) => {
            let rest = &target[scheme + 3..];
            memchr::memchr(b'/', rest).map_or(&[], |slash| &rest[slash..])
        }
        None => target,
    }
}

/// A segment without its parameters.
fn name_of(segment: &[u8]) -> &[u8] {
    segment.split(|&byte| byte == b';').next().unwrap_or(segment)
}

fn is_id(segment: &[u8]) -> bool {
    let digits = segment.iter().filter(|byte| byte.is_ascii_digit()).count();
    let hexadecimal = segment.iter().all(|&byte| byte.is_ascii_hexdigit() || byte == b'-');
    digits > 0 && (digits == segment.len() || (hexadecimal && segment.len() >= 8))
}

fn printable(byte: u8) -> char {
    if byte.is_ascii_graphic() { byte as char } else { '?' }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: &str) -> String {
        let mut label = String::new();
        template("GET", target.as_bytes(), &mut label);
        label
    }

    #[test]
    fn what_varies_is_taken_out() {
        assert_eq!(of("/rubbos/servlet/ViewStory?storyId=7"), "GET /rubbos/servlet/ViewStory");
        assert_eq!(of("/users/42/mail"), "GET /users/{id}/mail");
        assert_eq!(of("/o/9f86d081-884c-4d63-a1f4-0c6e6f0d6c1e"), "GET /o/{id}");
        assert_eq!(of("/shop;jsessionid=A1B2/cart"), "GET /shop/cart");
        assert_eq!(of("http://example.org/a/b?c#d"), "GET /a/b");
        assert_eq!(of("http://example.org"), "GET /");
        assert_eq!(of("*"), "GET *");
    }

    #[test]
    fn names_stay() {
        assert_eq!(of("/images/logo2.gif"), "GET /images/logo2.gif");
        assert_eq!(of("/facade/feedface"), "GET /facade/feedface");
        assert_eq!(of("/a\u{7f}b"), "GET /a?b");
    }

    #[test]
    fn what_was_taken_out_is_a_literal() {
        let salt = Salt::new([3; 16]);
        let mut literals = Literals::default();
        ids(b"http://example.org/users/42;v=1/mail/9f86d081-884c?page=7", &salt, &mut literals);
        assert_eq!(literals.hashes(), [salt.hash(b"42"), salt.hash(b"9f86d081-884c")]);
    }

    #[test]
    fn the_query_is_found() {
        assert_eq!(query_of(b"/a?b=1&c=2#x"), b"b=1&c=2");
        assert_eq!(query_of(b"/a"), b"");
    }
}
