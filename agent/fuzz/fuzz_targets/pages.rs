#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_drive::cookies::Jar;
use tierlab_drive::extract::extract;
use tierlab_drive::links::{followed, target};
use tierlab_drive::page::Page;
use tierlab_drive::random::Stream;
use tierlab_drive::reply::Reply;
use tierlab_drive::state::{Extract, Follow, Shape, Which};

const AT: &[u8] = b"/shop/item?id=1";
/// Cookies of a jar, each with its separator, and the header's name and end.
const LONGEST_HEADER: usize = 64 * (4096 + 2) + 10;

// What a site replies, in pieces of any size, and what a user makes of it.
fuzz_target!(|reply: (u8, Vec<u8>)| {
    let (size, bytes) = reply;
    let (whole, pieces) =
        (read(&bytes, bytes.len().max(1)), read(&bytes, usize::from(size).max(1)));
    assert_eq!(whole.status(), pieces.status(), "the pieces in which bytes come change nothing");
    assert_eq!(whole.body(), pieces.body());
    assert_eq!(whole.told().cookies, pieces.told().cookies);
    assert_eq!(whole.told().location, pieces.told().location);

    let mut jar = Jar::default();
    whole.told().cookies.iter().for_each(|cookie| jar.take(cookie));
    // Of the reply's bytes as well, most of which are no reply.
    bytes.split(|byte| *byte == b'\n').for_each(|line| jar.take(line));
    let mut sent = Vec::new();
    jar.write(AT, &mut sent);
    assert!(sent.len() <= LONGEST_HEADER);
    assert!(sent.is_empty() || sent.starts_with(b"Cookie: ") && sent.ends_with(b"\r\n"));

    let mut random = Stream::new(1, 1);
    for body in [whole.body(), &bytes] {
        read_page(Page { body, is_html: true }, &mut random);
    }
    let hosts = ["h".to_owned()];
    let location = whole.told().location.as_deref();
    for reference in location.into_iter().chain([&bytes[..]]) {
        target(reference, AT, &hosts).as_deref().map(check_target);
    }
});

fn read(bytes: &[u8], size: usize) -> Reply {
    let mut reply = Reply::kept_in(Vec::new());
    for piece in bytes.chunks(size) {
        if !matches!(reply.feed(piece), Ok(false)) {
            return reply;
        }
    }
    let _ = reply.end();
    reply
}

fn read_page(page: Page<'_>, random: &mut Stream) {
    let follow = Follow { except: vec!["logout".into()], states: vec![] };
    followed(&follow, page, AT, &["h".to_owned()], random).as_deref().map(check_target);
    let between = |field: Option<&str>, which, shape| Extract {
        name: "x".into(),
        field: field.map(Into::into),
        after: "=".into(),
        until: "&\"".into(),
        which,
        shape,
    };
    for wanted in [
        between(Some("t"), Which::First, Shape::Any),
        between(None, Which::First, Shape::Digits),
        between(None, Which::Any, Shape::Any),
        between(None, Which::Any, Shape::Token),
    ] {
        if let Some(value) = extract(&wanted, page, random) {
            assert!(value.len() <= page.body.len());
        }
    }
}

/// It stands in a request's first line.
fn check_target(target: &[u8]) {
    assert!(target.starts_with(b"/") && target.iter().all(u8::is_ascii_graphic), "{target:?}");
}
