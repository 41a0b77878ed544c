//! Any bytes are legal input: conversations that are damaged at random, and noise.

use crate::support::{Conversation, Frame, Results, dissect, server};
use crate::{ajp13, fastcgi, http2, memcached, mysql, postgresql, redis};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

/// Marsaglia's xorshift64: damage that can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

fn http_example() -> Vec<Frame> {
    let web = server("web.1", Protocol::Http1, 1, false);
    let mut it = Conversation::open(&web, 50_000, 0);
    it.say(
        Client,
        b"POST /f?a=1 HTTP/1.1\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\
        Content-Type: application/x-www-form-urlencoded\r\nX-Request-Id: ff\r\n\r\n",
    );
    it.say(ServerSide, b"HTTP/1.1 100 Continue\r\n\r\n");
    it.say(Client, b"a=b&c=d");
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    it.say_in(ServerSide, 9, format!("{head}5\r\nhello\r\n0\r\nT: x\r\n\r\n").as_bytes());
    it.say(Client, b"GET /x HTTP/1.0\r\n\r\n");
    it.say(ServerSide, b"HTTP/1.0 200 OK\r\n\r\nuntil the end");
    it.fin(ServerSide);
    it.fin(Client);
    it.frames
}

fn servers() -> Vec<Server> {
    let web = server("web.1", Protocol::Http1, 1, false);
    let lb = server("lb.1", Protocol::Mysql, 3, true);
    let other = server("other.1", Protocol::Tcp, 5, false);
    let (cache, store, service) = (memcached::cache(), redis::store(), http2::service());
    let (db, postgresql, php) = (mysql::db(), postgresql::db(), fastcgi::php());
    vec![web, ajp13::app(), lb, db, other, postgresql, php, cache, store, service]
}

/// Whatever came in, what comes out must make sense.
fn check(results: &Results, packets: usize) {
    for visit in &results.visits {
        assert!(visit.arrival_ns <= visit.request_end_ns, "{visit:?}");
        if let (Some(start), Some(end)) = (visit.reply_start_ns, visit.departure_ns) {
            assert!(start <= end, "{visit:?}");
        }
        assert!(visit.departure_ns.is_none_or(|end| end >= visit.arrival_ns), "{visit:?}");
        assert!(visit.bytes.0 >= 0 && visit.bytes.1 >= 0, "{visit:?}");
        assert!(visit.literals.len() <= 16 && visit.label.len() <= 1_000, "{visit:?}");
    }
    assert!(results.visits.len() <= 64 * packets.max(1));
}

fn damage(frames: &mut Vec<Frame>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let at = random.below(frames.len());
        match random.below(6) {
            0 if frames.len() > 1 => drop(frames.remove(at)),
            1 => frames.push(frames[at].clone()),
            2 => {
                let other = random.below(frames.len());
                let (a, b) = (frames[at].0, frames[other].0);
                (frames[at].0, frames[other].0) = (b, a);
            }
            3 => {
                let length = random.below(frames[at].1.len() + 1);
                frames[at].1.truncate(length);
            }
            _ => {
                for _ in 0..=random.below(4) {
                    let length = frames[at].1.len().max(1);
                    if let Some(byte) = frames[at].1.get_mut(random.below(length)) {
                        *byte = random.below(256) as u8;
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_conversations_make_sense_as_far_as_they_go() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let examples = [
        http_example(),
        ajp13::example(),
        mysql::example(),
        postgresql::example(),
        fastcgi::example(),
        memcached::example(),
        memcached::binary_example(),
        redis::example(),
        http2::example(),
    ];
    for round in 0..16_000 {
        let mut frames = examples[round % examples.len()].clone();
        damage(&mut frames, &mut random);
        check(&dissect(&servers(), &frames), frames.len());
    }
}

#[test]
fn noise_is_read_without_harm() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let servers = servers();
    for round in 0..1_080 {
        let server = &servers[round % servers.len()];
        let mut it = if round % 2 == 0 {
            Conversation::open(server, 50_000, 0)
        } else {
            Conversation::silent(server, 50_000, 0)
        };
        for _ in 0..random.below(30) {
            let from = if random.below(2) == 0 { Client } else { ServerSide };
            let length = random.below(200);
            let noise = random.bytes(length);
            if random.below(8) == 0 {
                it.lose(from, &noise);
            } else {
                it.say(from, &noise);
            }
        }
        check(&dissect(&servers, &it.frames), it.frames.len());
    }
}

/// Noise is soon seen to be noise. Here every message begins as it should.
#[test]
fn noise_behind_good_beginnings_is_read_without_harm() {
    let mut random = Random(0xd1b5_4a32_d192_ed03);
    let beginnings: [(usize, &[u8], &[u8]); 12] = [
        (0, b"GET / HTTP/1.1\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (1, b"\x12\x34\0\x40\x02\x02\0\x01a\0", b"AB\0\x08\x04\0\xc8"),
        (3, b"\x20\0\0\0\x17\x07\0\0\0", b"\x01\0\0\x01\x02"),
        (3, b"\x08\0\0\0\x16SELECT ", b"\x0c\0\0\x01\0\x07\0\0\0\x02\0\x01\0\0\0\0"),
        (5, b"Q\0\0\0\x0cSELECT \0", b"T\0\0\0\x06\0\0D\0\0\0\x20\0\x01"),
        (5, b"P\0\0\0\x08\0a\0\0B\0\0\0\x40\0\0", b"1\0\0\0\x042\0\0\0\x04"),
        (
            6,
            b"\x01\x01\0\x01\0\x08\0\0\0\x01\0\0\0\0\0\0\x01\x04\0\x01\0\x40\0\0",
            b"\x01\x06\0\x01",
        ),
        (7, b"set a 0 0 40\r\n", b"VALUE a 0 40\r\n"),
        (
            7,
            b"\x80\x0d\0\x01\0\0\0\0\0\0\0\x30\0\0\0\x07\0\0\0\0\0\0\0\0",
            b"\x81\x0d\0\0\x04\0\0\0\0\0\0\x30\0\0\0\x07\0\0\0\0\0\0\0\0",
        ),
        (8, b"*2\r\n$3\r\nGET\r\n$40\r\n", b"*3\r\n$40\r\n"),
        (8, b"SUBSCRIBE a\r\n", b">3\r\n$9\r\nsubscribe\r\n$30\r\n"),
        (9, b"\0\0\x40\x01\x04\0\0\0\x01\x82\x44", b"\0\0\x20\x01\x04\0\0\0\x01\x88"),
    ];
    for round in 0..5_500 {
        let (server, request, reply) = beginnings[round % beginnings.len()];
        let mut it = Conversation::silent(&servers()[server], 50_000, 0);
        for _ in 0..random.below(6) {
            let length = random.below(100);
            it.say(Client, &[request, &random.bytes(length)].concat());
            let length = random.below(100);
            it.say(ServerSide, &[reply, &random.bytes(length)].concat());
        }
        check(&dissect(&servers(), &it.frames), it.frames.len());
    }
}

/// More than are remembered: whose the replies are cannot be told any more.
#[test]
fn of_too_many_requests_none_has_anothers_reply() {
    let web = server("web.1", Protocol::Http1, 1, false);
    let mut it = Conversation::open(&web, 50_000, 0);
    for n in 0..17_000 {
        it.send(Client, format!("GET /a{n}x HTTP/1.1\r\n\r\n").as_bytes());
    }
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let ends: Vec<_> = (0..17_000).map(|_| it.send(ServerSide, reply)).collect();
    let results = dissect(&[web], &it.frames);
    assert_eq!(results.visits.len(), ends.len());
    let of_another = results.visits.iter().enumerate().find(|(n, visit)| {
        visit.label != format!("GET /a{n}x") || visit.departure_ns.is_some_and(|it| it != ends[*n])
    });
    assert_eq!(of_another, None);
}
