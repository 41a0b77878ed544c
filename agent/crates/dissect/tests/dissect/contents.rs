//! Nothing of a body is kept: whatever is in it, and whatever is seen of it, no label has a word of
//! it. What looks like another request is in it, too.
//!
//! One case is left out, because nothing tells it from a request. Nothing of the real request is seen
//! before a packet of its own begins with the look-alike; the content ends with that; and the server's
//! reply fits it. Of HTTP/1 and AJP any reply does. Of FastCGI and HTTP/2 it has to be one to the
//! look-alike's id or stream; and of FastCGI the look-alike must lack its own end, since that of the
//! content follows. Here all content ends with dots.

use crate::played::{Fate, Turn};
use crate::said::{log_in, messages};
use crate::support::{Conversation, STEP_NS, dissect_as_captured, server};
use crate::{ajp13, fastcgi, http2, mysql_bytes, postgresql_bytes, redis};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tierlab_dissect::Protocol;
use tierlab_dissect::Side::{Client, Server as ServerSide};

const MARKER: &str = "zqmarkerqz";

/// Of each protocol. `PROPTEST_CASES` for more.
const CONVERSATIONS: u32 = 1_000;

fn config() -> Config {
    let rng_seed = RngSeed::Fixed(11);
    Config { cases: CONVERSATIONS, rng_seed, failure_persistence: None, ..Config::default() }
}

/// A conversation of uploads, and what is seen of it.
#[derive(Clone, Debug)]
struct Uploads {
    contents: Vec<Vec<Piece>>,
    how: How,
    packets: usize,
    opens: bool,
    fates: Vec<Fate>,
    snap: usize,
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Words(String),
    Marker,
    /// What looks like a request for it.
    Request,
}

/// How HTTP/1 says it.
#[derive(Clone, Copy, Debug)]
enum How {
    Length,
    Chunked,
    /// Held back, and asked for.
    Continued,
    /// Held back, refused, and sent with a second request.
    Again,
    /// Held back, refused, and sent all the same.
    AllTheSame,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Piece::Bytes),
        "[A-Za-z /?=&.,\r\n]{0,200}".prop_map(Piece::Words),
        Just(Piece::Marker),
        Just(Piece::Request),
    ];
    prop::collection::vec(piece, 1..12)
}

fn uploads() -> impl Strategy<Value = Uploads> {
    let how = prop::sample::select(vec![
        How::Length,
        How::Chunked,
        How::Continued,
        How::Again,
        How::AllTheSame,
    ]);
    let fate = prop_oneof![
        12 => Just(Fate::Captured),
        1 => Just(Fate::Reordered),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Cut),
        2 => Just(Fate::Lost),
    ];
    let contents = prop::collection::vec(pieces(), 1..4);
    let fates = prop::collection::vec(fate, 48);
    (contents, how, 20_usize..1_500, any::<bool>(), fates, 30_usize..200).prop_map(
        |(contents, how, packets, opens, fates, snap)| Uploads {
            contents,
            how,
            packets,
            opens,
            fates,
            snap,
        },
    )
}

fn content(protocol: Protocol, pieces: &[Piece]) -> Vec<u8> {
    let turn = Turn { request: 3, reply: 3, chunked: true, packets: [1; 2] };
    let look_alike = messages(protocol, 0, &turn, MARKER).0;
    let bytes = |piece: &Piece| match piece {
        Piece::Bytes(bytes) => bytes.clone(),
        Piece::Words(words) => words.clone().into_bytes(),
        Piece::Marker => format!(" {MARKER} /{MARKER} ").into_bytes(),
        Piece::Request => look_alike.clone(),
    };
    pieces.iter().flat_map(bytes).collect()
}

/// What both sides say, turn by turn.
fn said(protocol: Protocol, number: usize, content: &[u8], how: How) -> Vec<[Vec<u8>; 2]> {
    let as_text: String = content
        .iter()
        .map(|&it| if it.is_ascii() && !matches!(it, b'\'' | b'\\' | 0) { it as char } else { 'x' })
        .collect();
    let once = |request: Vec<u8>, reply: Vec<u8>| vec![[request, reply]];
    match protocol {
        Protocol::Http1 => http1(content, how),
        Protocol::Ajp13 => once(ajp13::post(content), ajp13::reply(3)),
        Protocol::Fastcgi => once(fastcgi::post(1, "/up", content), fastcgi::reply(1, 3)),
        Protocol::Http2 => {
            let stream = 2 * number as u32 + 1;
            once(http2::post(stream, "/up", content), http2::reply(stream, 3))
        }
        Protocol::Memcached => {
            let head = format!("set up 0 0 {}\r\n", content.len());
            once([head.as_bytes(), content, b"\r\n"].concat(), b"STORED\r\n".to_vec())
        }
        Protocol::Redis => {
            let head = format!("*3\r\n$3\r\nSET\r\n$2\r\nup\r\n${}\r\n", content.len());
            once([head.as_bytes(), content, b"\r\n"].concat(), redis::bulk("OK"))
        }
        Protocol::Postgresql if number.is_multiple_of(2) => {
            let statement = format!("INSERT INTO up VALUES ('{as_text}')");
            once(postgresql_bytes::query(&statement), postgresql_bytes::result(1, b"r"))
        }
        Protocol::Postgresql => {
            let asked = postgresql_bytes::extended("INSERT INTO up VALUES ($1)", &[&as_text]);
            once(asked, postgresql_bytes::result(1, b"r"))
        }
        _ => {
            let statement = format!("INSERT INTO up VALUES ('{as_text}')");
            once(mysql_bytes::query(&statement), mysql_bytes::packet(1, &mysql_bytes::ok(0, 0)))
        }
    }
}

fn http1(content: &[u8], how: How) -> Vec<[Vec<u8>; 2]> {
    let ok = || b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let refused = || b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n".to_vec();
    let head = |fields: &str| format!("PUT /up HTTP/1.1\r\nHost: h\r\n{fields}\r\n").into_bytes();
    let length = format!("Content-Length: {}\r\n", content.len());
    let expects = || head(&format!("{length}Expect: 100-continue\r\n"));
    match how {
        How::Length => vec![[[head(&length), content.to_vec()].concat(), ok()]],
        How::Chunked => {
            let chunk =
                |it: &[u8]| [format!("{:x}\r\n", it.len()).as_bytes(), it, b"\r\n"].concat();
            let chunks: Vec<u8> = content.chunks(700).flat_map(chunk).collect();
            let request = [head("Transfer-Encoding: chunked\r\n"), chunks, b"0\r\n\r\n".to_vec()];
            vec![[request.concat(), ok()]]
        }
        How::Continued => {
            vec![[expects(), b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()], [content.to_vec(), ok()]]
        }
        How::Again => {
            vec![[expects(), refused()], [[head(&length), content.to_vec()].concat(), ok()]]
        }
        How::AllTheSame => {
            vec![[expects(), refused()], [[content, b"GET /next HTTP/1.1\r\n\r\n"].concat(), ok()]]
        }
    }
}

/// What is captured of a conversation.
fn frames(protocol: Protocol, uploads: &Uploads) -> Vec<(i64, Vec<u8>)> {
    let it_server = server("it.1", protocol, 1, false);
    let mut it = if uploads.opens {
        let mut it = Conversation::open(&it_server, 50_000, 0);
        log_in(protocol, &mut it);
        it
    } else {
        Conversation::silent(&it_server, 50_000, 0)
    };
    let kept = it.frames.len();
    for (number, pieces) in uploads.contents.iter().enumerate() {
        let mut content = content(protocol, pieces);
        content.extend(vec![b'.'; uploads.packets]);
        for [request, reply] in said(protocol, number, &content, uploads.how) {
            for (from, bytes) in [(Client, request), (ServerSide, reply)] {
                if !bytes.is_empty() {
                    it.say_in(from, uploads.packets, &bytes);
                }
            }
        }
    }
    let mut fates = uploads.fates.iter().cycle();
    let mut captured: Vec<(i64, Vec<u8>)> = Vec::new();
    // The first packets of a connection that is seen from its middle are not seen either.
    let skipped = if uploads.opens { 0 } else { uploads.snap % 7 };
    for (number, (at_ns, mut frame)) in it.frames.into_iter().enumerate().skip(skipped) {
        match if number < kept { &Fate::Captured } else { fates.next().unwrap_or(&Fate::Captured) }
        {
            Fate::Lost => continue,
            Fate::Cut => frame.truncate(40 + uploads.snap),
            Fate::Twice => captured.push((at_ns, frame.clone())),
            Fate::Reordered => {
                captured.push((at_ns + 2 * STEP_NS, frame));
                continue;
            }
            Fate::Captured => {}
        }
        captured.push((at_ns, frame));
    }
    captured.sort_by_key(|it| it.0);
    captured
}

fn labels(protocol: Protocol, uploads: &Uploads) -> Vec<String> {
    let frames = frames(protocol, uploads);
    let results = dissect_as_captured(&[server("it.1", protocol, 1, false)], &frames);
    results.visits.into_iter().map(|it| it.label).collect()
}

macro_rules! nothing_of_a_body_is_kept {
    ($($name:ident: $protocol:ident),* $(,)?) => {$(
        proptest! {
            #![proptest_config(config())]
            #[test]
            fn $name(uploads in uploads()) {
                let labels = labels(Protocol::$protocol, &uploads);
                prop_assert!(!labels.iter().any(|it| it.contains(MARKER)), "{labels:?}");
            }
        }
    )*};
}

nothing_of_a_body_is_kept! {
    nothing_of_a_body_is_kept_of_http1: Http1,
    nothing_of_a_body_is_kept_of_http2: Http2,
    nothing_of_a_body_is_kept_of_ajp13: Ajp13,
    nothing_of_a_body_is_kept_of_fastcgi: Fastcgi,
    nothing_of_a_body_is_kept_of_memcached: Memcached,
    nothing_of_a_body_is_kept_of_redis: Redis,
    nothing_of_a_body_is_kept_of_postgresql: Postgresql,
    nothing_of_a_body_is_kept_of_mysql: Mysql,
}
