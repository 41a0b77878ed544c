//! Work per packet is bounded: whatever a connection has waiting, its next packet costs no more.
//! Each conversation has a thing of which there may be many; with four times as many of it, a packet
//! takes about as long.

use crate::support::{Conversation, Frame, salt, server};
use crate::{ajp13, fastcgi, http2, memcached, mysql, mysql_bytes, postgresql, postgresql_bytes};
use crate::{redis, said};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Dissector, Event, LinkType, Message, Protocol, Server, Sink, Visit};

/// With four times as much that waits, a packet may take so many times as long. One that visits all
/// that waits would take four times as long.
const MOST_GROWTH: f64 = 2.0;

/// So often each is tried in so many rounds: others' work on this machine adds to some.
const TRIES: usize = 3;
const ROUNDS: usize = 3;

struct Nobody;

impl Sink for Nobody {
    fn visit(&mut self, _: &Visit<'_>) {}
    fn event(&mut self, _: &Event) {}
    fn message(&mut self, _: &Message) {}
}

/// The time that this thread has had on a CPU.
fn cpu_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it is written to a place that is there.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "this thread's time on a CPU cannot be read");
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// What a packet takes, of the least disturbed of several tries.
fn packet_ns(server: &Server, frames: &[Frame]) -> f64 {
    let mut tries: Vec<i64> = Vec::new();
    for _ in 0..TRIES {
        let mut dissector = Dissector::new(vec![server.clone()], salt());
        let begun_ns = cpu_ns();
        for (at_ns, frame) in frames {
            dissector.frame(*at_ns, LinkType::Raw, frame, &mut Nobody);
        }
        dissector.finish(&mut Nobody);
        tries.push(cpu_ns() - begun_ns);
    }
    let least = tries.into_iter().min().expect("some tries");
    least as f64 / frames.len() as f64
}

/// Of so many things that wait and four times as many; both are no more than are remembered. What is
/// measured once may be another's work: what is bounded is so in one of several rounds.
fn work_is_bounded(server: &Server, few: usize, frames: impl Fn(usize) -> Vec<Frame>) {
    let conversations = [few, 4 * few].map(frames);
    let rounds: Vec<[f64; 2]> =
        (0..ROUNDS).map(|_| conversations.each_ref().map(|it| packet_ns(server, it))).collect();
    println!("{few} and four times as many: {rounds:.0?} ns a packet");
    assert!(
        rounds.iter().any(|[little, much]| *much <= MOST_GROWTH * little),
        "a packet takes so many nanoseconds where {few} wait, and where four times as many do: \
         {rounds:.0?}"
    );
}

/// So many packets of the client's, then so many of the server's.
fn one_by_one(
    server: &Server,
    protocol: Protocol,
    count: usize,
    asked: impl Fn(usize) -> Vec<u8>,
    answered: impl Fn(usize) -> Vec<u8>,
) -> Vec<Frame> {
    let mut it = Conversation::open(server, 50_000, 0);
    said::log_in(protocol, &mut it);
    for number in 0..count {
        it.send(Client, &asked(number));
    }
    for number in 0..count {
        it.send(ServerSide, &answered(number));
    }
    it.frames
}

#[test]
fn however_many_requests_of_http1_wait() {
    let server = server("web.1", Protocol::Http1, 1, false);
    let get = |number| format!("GET /{number} HTTP/1.1\r\n\r\n").into_bytes();
    let reply = |_| b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec();
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Http1, count, get, reply)
    });
}

#[test]
fn however_many_commands_of_memcached_wait() {
    let server = memcached::cache();
    let commands = |asked: &str, answered: &str| {
        let (asked, answered) = (asked.as_bytes().to_vec(), answered.as_bytes().to_vec());
        work_is_bounded(&server, 3_000, |count| {
            let asked = |_| asked.clone();
            one_by_one(&server, Protocol::Memcached, count, asked, |_| answered.clone())
        });
    };
    commands("get a\r\n", "END\r\n");
    // A bulk load to which the server says nothing.
    commands("ms a 2 q\r\nok\r\n", "");
    // Replies that none of them takes.
    commands("get a\r\n", "STORED\r\n");
}

#[test]
fn however_many_quiet_commands_of_memcached_s_binary_protocol_wait() {
    const SETQ: u8 = 0x11;
    let server = memcached::cache();
    let set = |number| memcached::binary((0x80, SETQ), 0, number as u32, &[0; 8], "k", b"v");
    let failed = |number| memcached::binary((0x81, SETQ), 2, number as u32, &[], "", b"");
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Memcached, count, set, failed)
    });
}

/// Requests were lost, so that it is in doubt whose replies come; none is of what waits.
#[test]
fn however_many_commands_wait_for_replies_that_are_in_doubt() {
    let server = memcached::cache();
    work_is_bounded(&server, 3_000, |count| {
        let mut it = Conversation::open(&server, 50_000, 0);
        it.send(Client, b"get a\r\n");
        it.send(Client, b"get a\r\n");
        it.lose(Client, b"get a\r\n");
        it.ack(ServerSide);
        for _ in 0..count {
            it.send(Client, b"get a\r\n");
        }
        for _ in 0..2 * count {
            it.send(ServerSide, b"STORED\r\n");
        }
        it.frames
    });
}

#[test]
fn however_many_commands_of_redis_wait() {
    let server = redis::store();
    let ping = |_| redis::command(&["PING"]);
    let confirmation = |_| b">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n".to_vec();
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Redis, count, ping, |_| b"+PONG\r\n".to_vec())
    });
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Redis, count, ping, confirmation)
    });
}

#[test]
fn however_many_streams_of_http2_are_open() {
    let server = http2::service();
    let stream = |number: usize| 2 * number as u32 + 1;
    // Each of them adds to the table of fields, which is as large as it may be.
    let asked = |number: usize| {
        let limit = [&[0x3f, 0xe1, 0xff, 0x03][..], &http2::kept(":path", &format!("/{number}"))];
        let form = [(":method", "POST"), ("content-type", "application/x-www-form-urlencoded")];
        let fields = [limit.concat(), http2::literals(&form)].concat();
        let head = http2::frame(http2::HEADERS, 0x4, stream(number), &fields);
        [head, http2::frame(http2::DATA, 0, stream(number), b"a=b")].concat()
    };
    work_is_bounded(&server, 250, |count| {
        let head = |number| http2::frame(http2::HEADERS, 0x4, stream(number), b"\x88");
        one_by_one(&server, Protocol::Http2, count, asked, head)
    });
    // Content of the last one, and losses among that.
    for every in [usize::MAX, 2] {
        work_is_bounded(&server, 250, |count| {
            let mut it = Conversation::open(&server, 50_000, 0);
            http2::begin(&mut it);
            for number in 0..count {
                it.send(Client, &asked(number));
            }
            let content = http2::frame(http2::DATA, 0, stream(count - 1), &[b'x'; 100]);
            for number in 0..2 * count {
                it.send(ServerSide, &content);
                if number % every == 1 {
                    it.lose(ServerSide, &content);
                    it.ack(Client);
                }
            }
            it.frames
        });
    }
}

#[test]
fn however_many_requests_of_fastcgi_are_open() {
    let server = fastcgi::php();
    let asked = |number| {
        let id = number as u16 + 1;
        [fastcgi::begin(id), fastcgi::record(fastcgi::PARAMS, id, &[b'x'; 100])].concat()
    };
    let answered = |number| fastcgi::record(fastcgi::STDOUT, number as u16 + 1, b"x");
    work_is_bounded(&server, 250, |count| {
        one_by_one(&server, Protocol::Fastcgi, count, asked, answered)
    });
}

#[test]
fn however_much_of_a_body_of_ajp_has_come() {
    let server = ajp13::app();
    let asked = |number| match number {
        0 => ajp13::forward(4, "1000000"),
        _ => ajp13::body(b"a=b"),
    };
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Ajp13, count, asked, |_| ajp13::GET_BODY.to_vec())
    });
}

#[test]
fn however_many_statements_of_mysql_are_prepared_or_wait() {
    let server = mysql::db();
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(
            &server,
            Protocol::Mysql,
            count,
            |_| mysql_bytes::query("SELECT 1"),
            |_| mysql_bytes::packet(1, &mysql_bytes::ok(0, 0)),
        )
    });
    work_is_bounded(&server, 3_000, |count| {
        let mut it = Conversation::open(&server, 50_000, 0);
        said::log_in(Protocol::Mysql, &mut it);
        for number in 0..count as u32 {
            it.send(Client, &mysql_bytes::command(0x16, b"SELECT a FROM t WHERE b = ?"));
            let number = number.to_le_bytes();
            let prepared = [&[0][..], &number, &[0, 0, 0, 0, 0, 0, 0]].concat();
            it.send(ServerSide, &mysql_bytes::packet(1, &prepared));
        }
        it.frames
    });
}

#[test]
fn however_many_queries_of_postgresql_wait() {
    let ask = |number| postgresql_bytes::query(&format!("SELECT {number}"));
    let answer =
        |_| [postgresql_bytes::complete("SELECT 0"), postgresql_bytes::ready(b'I')].concat();
    let server = postgresql::db();
    work_is_bounded(&server, 3_000, |count| {
        one_by_one(&server, Protocol::Postgresql, count, ask, answer)
    });
}

#[test]
fn however_many_statements_of_postgresql_are_prepared() {
    let server = postgresql::db();
    work_is_bounded(&server, 3_000, |count| {
        let mut it = Conversation::open(&server, 50_000, 0);
        said::log_in(Protocol::Postgresql, &mut it);
        for number in 0..count {
            let name = format!("s{number}");
            let parse = postgresql_bytes::parse(&name, "SELECT a FROM t WHERE b = $1");
            it.send(Client, &[parse, postgresql_bytes::sync()].concat());
            let prepared = [postgresql_bytes::PARSED, &postgresql_bytes::ready(b'I')].concat();
            it.send(ServerSide, &prepared);
        }
        it.frames
    });
}

/// A hole, and behind it many pieces, the last one first.
#[test]
fn however_much_waits_behind_a_hole() {
    let server = server("any.1", Protocol::Tcp, 9, false);
    work_is_bounded(&server, 250, |count| {
        let mut it = Conversation::open(&server, 50_000, 0);
        it.send(Client, b"question");
        let first = it.next[1];
        for number in (0..count as u32).rev() {
            it.next[1] = first.wrapping_add(1 + 10 * number);
            it.send(ServerSide, b"some bytes");
        }
        it.next[1] = first;
        it.send(ServerSide, b"x");
        it.frames
    });
}
