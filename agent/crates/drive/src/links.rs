//! The links of a site's own on a page, as targets of requests.

use crate::extract::unescape;
use crate::page::Page;
use crate::random::Stream;
use crate::state::Follow;
use std::borrow::Cow;

/// More links of one page are not counted.
const MOST: usize = 1024;

/// The target of a link that is followed from the page at `from`; `None` where there is none.
/// `hosts`: what the site is called.
pub fn followed(
    follow: &Follow,
    page: Page<'_>,
    from: &[u8],
    hosts: &[String],
    random: &mut Stream,
) -> Option<Box<[u8]>> {
    let site = Site::of(page, from, hosts);
    let targets: Vec<Box<[u8]>> = page
        .hrefs()
        .filter_map(|href| site.target(&unescape(href)))
        .filter(|target| !follow.except.iter().any(|text| has(target, text)))
        .take(MOST)
        .collect();
    if targets.is_empty() {
        return None;
    }
    let drawn = random.below(targets.len() as u32) as usize;
    targets.into_iter().nth(drawn)
}

fn has(target: &[u8], text: &str) -> bool {
    memchr::memmem::find(target, text.as_bytes()).is_some()
}

/// The site as a page refers to it.
pub struct Site<'a> {
    /// What references without a host are relative to; `None` where that is another site.
    base: Option<Cow<'a, [u8]>>,
    hosts: &'a [String],
}

impl<'a> Site<'a> {
    /// As the page at `from` does.
    pub fn of(page: Page<'_>, from: &'a [u8], hosts: &'a [String]) -> Self {
        let said = page.base().map(unescape);
        let said = said.as_deref().map(without_fragment).filter(|base| !base.is_empty());
        let base = match said {
            Some(base) => target(base, from, hosts).map(|base| Cow::Owned(base.into())),
            None => Some(Cow::Borrowed(from)),
        };
        Self { base, hosts }
    }

    /// Where a reference leads, if that is on the site and not the page itself.
    pub fn target(&self, reference: &[u8]) -> Option<Box<[u8]>> {
        match &self.base {
            Some(base) => target(reference, base, self.hosts),
            None => {
                from_host(reference.trim_ascii()).and_then(|_| target(reference, b"/", self.hosts))
            }
        }
    }
}

/// Where a reference leads (RFC 3986 section 5.2), as the target of a request; `None` when that is
/// not on this site, or is the page itself.
pub fn target(reference: &[u8], from: &[u8], hosts: &[String]) -> Option<Box<[u8]>> {
    let reference = local(without_fragment(reference), hosts)?;
    let path = from.split(|byte| *byte == b'?').next().unwrap_or_default();
    let mut whole = Vec::with_capacity(path.len() + reference.len());
    match reference {
        [] => return None,
        [b'/', ..] => {}
        [b'?', ..] => whole.extend_from_slice(path),
        _ => {
            let folder = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
            whole.extend_from_slice(&path[..folder]);
        }
    }
    crate::encode::carry(reference, &mut whole);
    Some(without_dots(&whole).into())
}

fn without_fragment(reference: &[u8]) -> &[u8] {
    reference.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii()
}

/// A reference from its host on, where it has one that is asked by HTTP.
fn from_host(reference: &[u8]) -> Option<&[u8]> {
    let scheme: &[u8] = b"http://";
    match reference.split_at_checked(scheme.len()) {
        Some((front, rest)) if front.eq_ignore_ascii_case(scheme) => Some(rest),
        _ => reference.strip_prefix(b"//"),
    }
}

/// Whether a reference leads off this site.
pub fn leaves(reference: &[u8], hosts: &[String]) -> bool {
    local(without_fragment(reference), hosts).is_none()
}

/// The scheme and the host of a reference: what follows may have secrets in it.
pub fn origin(reference: &[u8]) -> String {
    let reference = reference.trim_ascii();
    let ends = |from: usize, at: &[u8]| reference[from..].iter().position(|byte| at.contains(byte));
    let scheme = ends(0, b":/?#").filter(|at| reference[*at] == b':').map_or(0, |at| at + 1);
    let host = scheme + if reference[scheme..].starts_with(b"//") { 2 } else { 0 };
    let end = ends(host, b"/?#").map_or(reference.len(), |length| host + length);
    String::from_utf8_lossy(&reference[..end]).into_owned()
}

/// The reference without this site's own scheme and host; `None` where it has others.
fn local<'a>(reference: &'a [u8], hosts: &[String]) -> Option<&'a [u8]> {
    let Some(rest) = from_host(reference) else {
        let head = reference.split(|byte| b"/?".contains(byte)).next().unwrap_or_default();
        return (!head.contains(&b':')).then_some(reference);
    };
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    let named = without_usual_port(&rest[..end]);
    let own =
        hosts.iter().any(|host| without_usual_port(host.as_bytes()).eq_ignore_ascii_case(named));
    let after = &rest[end..];
    own.then_some(if after.is_empty() { b"/" } else { after })
}

/// A host's name without the port that HTTP has where none is said.
fn without_usual_port(host: &[u8]) -> &[u8] {
    host.strip_suffix(b":80").unwrap_or(host)
}

/// RFC 3986 section 5.2.4, of the path.
fn without_dots(target: &[u8]) -> Vec<u8> {
    let query_at = memchr::memchr(b'?', target).unwrap_or(target.len());
    let (path, query) = target.split_at(query_at);
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if segment == b".." {
                    kept.pop();
                }
                if last {
                    kept.push(b"");
                }
            }
            _ => kept.push(segment),
        }
    }
    let mut plain = Vec::with_capacity(target.len());
    for segment in kept {
        plain.push(b'/');
        plain.extend_from_slice(segment);
    }
    if plain.is_empty() {
        plain.push(b'/');
    }
    plain.extend_from_slice(query);
    plain
}

/// Whether a path matches a pattern, in which `*` is any text.
pub fn matches(pattern: &str, path: &[u8]) -> bool {
    let mut parts = pattern.split('*').map(str::as_bytes);
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match memchr::memmem::find(rest, part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_against_the_page() {
        let hosts = ["shop.example:8080".to_owned()];
        let to = |reference: &str| {
            target(reference.as_bytes(), b"/a/b/c?x=/1", &hosts)
                .map(|target| String::from_utf8_lossy(&target).into_owned())
        };
        for (reference, wanted) in [
            ("/x", "/x"),
            ("d", "/a/b/d"),
            ("../d?y=1#z", "/a/d?y=1"),
            ("./", "/a/b/"),
            ("../../../..", "/"),
            ("?y=2", "/a/b/c?y=2"),
            ("http://shop.example:8080", "/"),
            ("HTTP://SHOP.example:8080/x?y", "/x?y"),
            ("//shop.example:8080/x", "/x"),
            ("x?u=http://y", "/a/b/x?u=http://y"),
            ("a b", "/a/b/a%20b"),
        ] {
            assert_eq!(to(reference).as_deref(), Some(wanted), "{reference}");
        }
        let none = ["", "#top", "mailto:a@b", "javascript:x()", "http://elsewhere/", "//other/"];
        for reference in none.into_iter().chain(["https://shop.example:8080/"]) {
            assert_eq!(to(reference), None, "{reference}");
        }
    }

    #[test]
    fn references_are_relative_to_what_the_page_says() {
        let hosts = ["h:81".to_owned()];
        let to = |head: &str, reference: &str| {
            let site = Site::of(Page::html(head.as_bytes()), b"/a/b?c", &hosts);
            let target = site.target(reference.as_bytes());
            target.map(|target| String::from_utf8_lossy(&target).into_owned())
        };
        for (head, d, rooted) in [
            ("<base href='/'>", Some("/d"), Some("/e")),
            ("<BASE target=_top><base href='/x&#47;y#z'><base href=/w/>", Some("/x/d"), Some("/e")),
            ("<base href=../v/>", Some("/v/d"), Some("/e")),
            ("<base href=http://h:81/u/t>", Some("/u/d"), Some("/e")),
            ("<base href=//h:81>", Some("/d"), Some("/e")),
            ("<base href=http://elsewhere/u/>", None, None),
            ("<base href=' # '>", Some("/a/d"), Some("/e")),
            ("<!-- <base href=/u/> --><based href=/u/><base>", Some("/a/d"), Some("/e")),
            ("<body><base href=/u/>", Some("/a/d"), Some("/e")),
        ] {
            assert_eq!(to(head, "d").as_deref(), d, "{head}");
            assert_eq!(to(head, "/e").as_deref(), rooted, "{head}");
            assert_eq!(to(head, " http://h:81/f").as_deref(), Some("/f"), "{head}");
            assert_eq!(to(head, "//elsewhere/f"), None, "{head}");
        }
    }

    #[test]
    fn links_of_the_site_s_own_host_are_followed() {
        let follow = Follow { except: vec!["logout".into()], states: Vec::new() };
        let page =
            Page::html(b"<a href='http://h:81/x?a=1&#38;b=2'> <a href=/logout> <a href=//other/>");
        let to = |hosts: &[String]| followed(&follow, page, b"/p", hosts, &mut Stream::new(1, 1));
        assert_eq!(to(&["h:81".to_owned()]).as_deref(), Some(b"/x?a=1&b=2".as_slice()));
        assert_eq!(to(&["h".to_owned()]), None);
        let page = Page::html(b"<base href=/q/><a href=x>");
        let to = followed(&follow, page, b"/p", &[], &mut Stream::new(1, 1));
        assert_eq!(to.as_deref(), Some(b"/q/x".as_slice()));
    }

    #[test]
    fn where_a_reference_leads_off_the_site_is_told_without_what_may_be_secret() {
        let hosts = ["shop.example:8080".to_owned()];
        for (reference, wanted) in [
            ("https://shop.example:8080/a?token=1", Some("https://shop.example:8080")),
            ("http://login.example?next=/", Some("http://login.example")),
            ("//other/x", Some("//other")),
            ("app:in?u=http://x/", Some("app:in")),
            ("http://shop.example:8080/x", None),
            ("/x?u=https://other/", None),
            ("#top", None),
            ("", None),
        ] {
            let left = leaves(reference.as_bytes(), &hosts);
            assert_eq!(left.then(|| origin(reference.as_bytes())).as_deref(), wanted);
        }
    }

    #[test]
    fn port_80_is_the_site_s_said_or_not() {
        for host in ["shop.example", "shop.example:80"] {
            let to = |reference: &[u8]| target(reference, b"/a", &[host.to_owned()]);
            assert_eq!(to(b"http://shop.example/x").as_deref(), Some(b"/x".as_slice()));
            assert_eq!(to(b"http://shop.example:80/x").as_deref(), Some(b"/x".as_slice()));
            assert_eq!(to(b"http://shop.example:8080/x"), None);
        }
    }

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, path, wanted) in [
            ("/", "/", true),
            ("/", "/x", false),
            ("/item/*", "/item/7", true),
            ("/item/*", "/items", false),
            ("*/edit", "/a/b/edit", true),
            ("/a*c*e", "/abcde", true),
            ("/a*c*e", "/abde", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, path.as_bytes()), wanted, "{pattern} {path}");
        }
    }

    #[test]
    fn whatever_a_page_refers_to_is_resolved_without_a_fault() {
        const PIECES: [&[u8]; 12] =
            [b"/", b"..", b".", b"?", b"#", b":", b"http://", b"h", b"//", b" ", b"\xff", b"%2f"];
        let mut random = Stream::new(3, 3);
        for _ in 0..20_000 {
            let reference: Vec<u8> = (0..random.below(8))
                .flat_map(|_| PIECES[random.below(PIECES.len() as u32) as usize])
                .copied()
                .collect();
            if let Some(target) = target(&reference, b"/p/q", &["h".to_owned()]) {
                assert!(target.starts_with(b"/") && target.iter().all(u8::is_ascii_graphic));
            }
        }
    }
}
