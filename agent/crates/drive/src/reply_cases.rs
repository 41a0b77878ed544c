//! Replies as the wire has them, good and bad, in pieces of every size.

use crate::reply::{Reply, ReplyError};

/// Feeds `wire` in pieces of every size and expects the same reply each time.
fn read(wire: &[u8], ends: bool) -> Result<(u16, Vec<u8>, bool), ReplyError> {
    let outcome = |size: usize| {
        let mut reply = Reply::kept_in(Vec::new());
        let mut done = false;
        for piece in wire.chunks(size) {
            done = reply.feed(piece)?;
        }
        if !done && ends {
            reply.end()?;
            done = true;
        }
        assert!(done, "incomplete");
        Ok((reply.status(), reply.body().to_vec(), reply.persistent()))
    };
    let whole = outcome(wire.len().max(1));
    for size in 1..wire.len() {
        assert_eq!(outcome(size), whole, "in pieces of {size}");
    }
    whole
}

#[test]
fn by_length() {
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(read(wire, false), Ok((200, b"hello".to_vec(), true)));
}

#[test]
fn chunked_with_extension_and_trailer() {
    let wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n";
    assert_eq!(read(wire, false), Ok((200, b"hello world".to_vec(), true)));
}

#[test]
fn until_the_end_of_the_connection() {
    let wire = b"HTTP/1.0 500 No\r\n\r\nsorry";
    assert_eq!(read(wire, true), Ok((500, b"sorry".to_vec(), false)));
}

#[test]
fn interim_replies_are_skipped() {
    let wire = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    assert_eq!(read(wire, false), Ok((204, vec![], false)));
}

#[test]
fn what_is_cut_or_no_http_is_named() {
    assert_eq!(read(b"", true), Err(ReplyError::Empty));
    assert_eq!(read(b"HTTP/1.1 200 OK\r\nContent-Le", true), Err(ReplyError::Truncated));
    assert_eq!(
        read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true),
        Err(ReplyError::Truncated)
    );
    assert_eq!(read(b"SSH-2.0-x\r\n", true), Err(ReplyError::Malformed));
    let bad_length = b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n";
    assert_eq!(read(bad_length, true), Err(ReplyError::Malformed));
    let bad_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
    assert_eq!(read(bad_chunk, true), Err(ReplyError::Malformed));
    let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    assert_eq!(read(huge, true), Err(ReplyError::TooLarge));
}

#[test]
fn what_is_said_to_be_no_html_is_none() {
    for (header, html) in [
        ("", true),
        ("Content-Type: \r\n", true),
        ("content-type: Text/HTML;charset=utf-8\r\n", true),
        ("Content-Type: application/xhtml+xml\r\n", true),
        ("Content-Type: application/json\r\n", false),
        ("Content-Type: text/javascript; x=text/html\r\n", false),
    ] {
        let wire = format!("HTTP/1.1 200 OK\r\n{header}Content-Length: 0\r\n\r\n");
        let mut reply = Reply::counted();
        assert_eq!(reply.feed(wire.as_bytes()), Ok(true));
        assert_eq!(!reply.told().no_html, html, "{header}");
    }
}

#[test]
fn whatever_comes_is_a_reply_or_an_error() {
    let wires: [&[u8]; 3] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 No\r\n\r\npage",
    ];
    let mut random = crate::random::Stream::new(1, 0);
    for round in 0..60_000 {
        let mut wire = wires[round % wires.len()].to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(wire.len() as u32) as usize;
            match random.below(3) {
                0 => wire[at] = random.below(256) as u8,
                1 => drop(wire.remove(at)),
                _ => wire.insert(at, b"0f\r\n: ;9"[random.below(8) as usize]),
            }
        }
        let mut reply = Reply::kept_in(Vec::new());
        let fed = wire
            .chunks(1 + random.below(40) as usize)
            .try_for_each(|piece| reply.feed(piece).map(drop));
        let _ = fed.and_then(|()| reply.end());
        assert!(reply.body().len() <= wire.len());
    }
}

#[test]
fn bytes_after_a_reply_end_the_connection() {
    let mut reply = Reply::counted();
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1";
    assert_eq!(reply.feed(wire), Ok(true));
    assert!(!reply.persistent());
}
