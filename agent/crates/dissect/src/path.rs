//! Path templates: what a request asked for, without what it asked for in particular.

use crate::Salt;
use crate::literal::Literals;
use crate::path_value::varying;
use crate::percent::decoded;

/// Writes `<method> <path>` to `label`: no authority, query string or path parameters, `{id}` for
/// numbers, UUIDs and hexadecimal ids, and `{token}` for mail addresses and what looks made by chance.
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
        let plain = decoded(name);
        let shown = varying(&plain).map_or(name, |found| {
            label.push_str(found.placeholder);
            found.suffix
        });
        label.extend(shown.iter().map(|&byte| printable(byte)));
    }
}

/// Adds the path's values, which its template leaves out, to `literals`.
pub(crate) fn values(target: &[u8], salt: &Salt, literals: &mut Literals) {
    for segment in path_of(target).split(|&byte| byte == b'/') {
        if let Some(found) = varying(&decoded(name_of(segment))) {
            literals.add(salt, found.value);
        }
    }
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
    fn values_are_told_from_names_as_the_drivers_users_do() {
        for line in include_str!("../tests/paths.txt").lines() {
            let (path, shown) = line.split_once(' ').unwrap();
            assert_eq!(of(path), format!("GET {}", shown.trim_start()), "{path}");
        }
    }

    #[test]
    fn what_was_taken_out_is_a_literal() {
        let salt = Salt::new([3; 16]);
        let mut literals = Literals::default();
        let target = b"http://example.org/users/42;v=1/mail/9f86d081-884c?page=7";
        values(target, &salt, &mut literals);
        values(b"/img/17.jpg/jane%40example.org", &salt, &mut literals);
        let expected = ["42", "9f86d081-884c", "17", "jane@example.org"];
        assert_eq!(literals.hashes(), expected.map(|value| salt.hash(value.as_bytes())));
    }

    #[test]
    fn the_query_is_found() {
        assert_eq!(query_of(b"/a?b=1&c=2#x"), b"b=1&c=2");
        assert_eq!(query_of(b"/a"), b"");
    }
}
