//! A server that hands connections on, such as HAProxy in TCP mode.

use crate::mysql::db;
use crate::mysql_bytes::{BASIC, greeting, login, ok, packet, query};
use crate::support::{Conversation, Frame, Results, Seen, dissect, server};
use crate::{postgresql, postgresql_bytes};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

fn lb() -> Server {
    server("lb.1", Protocol::Mysql, 3, true)
}

/// A connection in front and the one behind it, spoken to in step.
struct Relay {
    front: Conversation,
    back: Conversation,
}

impl Relay {
    fn new(port: u16, now_ns: i64, from_start: bool) -> Self {
        Self::between(&lb(), &db(), port, now_ns, from_start)
    }

    fn between(lb: &Server, db: &Server, port: u16, now_ns: i64, from_start: bool) -> Self {
        let begin = if from_start { Conversation::open } else { Conversation::silent };
        let front = begin(lb, port, now_ns);
        let back = begin(db, port + 1_000, front.now_ns);
        Self { front, back }
    }

    fn ask(&mut self, bytes: &[u8]) {
        self.front.say(Client, bytes);
        self.back.now_ns = self.front.now_ns;
        self.back.say(Client, bytes);
    }

    fn answer(&mut self, bytes: &[u8]) {
        self.back.say(ServerSide, bytes);
        self.front.now_ns = self.back.now_ns;
        self.front.say(ServerSide, bytes);
    }

    fn log_in(&mut self, scramble: &[u8; 20]) {
        self.answer(&greeting(scramble, BASIC));
        self.ask(&login(BASIC));
        self.answer(&packet(2, &ok(0, 2)));
    }

    fn query(&mut self, sql: &str) {
        self.ask(&query(sql));
        self.answer(&packet(1, &ok(0, 2)));
    }

    fn frames(self) -> Vec<Frame> {
        [self.front.frames, self.back.frames].concat()
    }
}

fn results(relays: Vec<Relay>) -> Results {
    let frames: Vec<Frame> = relays.into_iter().flat_map(Relay::frames).collect();
    dissect(&[lb(), db()], &frames)
}

/// Every visit behind must name the connection in front on which the same label was asked.
fn check(results: &Results, expected: usize) {
    let fronts: Vec<_> = results.visits.iter().filter(|it| it.server == "lb.1").collect();
    assert!(fronts.iter().all(|visit| visit.upstream.is_none()));
    let mut paired = 0;
    for visit in results.visits.iter().filter(|it| it.server == "db.1") {
        let Some(upstream) = visit.upstream else { continue };
        paired += 1;
        let through = |front: &Seen| {
            front.connection == upstream
                && front.label == visit.label
                && front.arrival_ns < visit.arrival_ns
                && front.departure_ns > visit.departure_ns
        };
        assert!(fronts.iter().any(|front| through(front)), "{visit:?} was not on {upstream}");
    }
    assert_eq!(paired, expected);
}

#[test]
fn connections_are_paired_by_their_greeting() {
    // Both at the same time, with the same statements but for a name.
    let mut one = Relay::new(40_000, 0, true);
    let mut two = Relay::new(41_000, 17, true);
    one.log_in(b"abcdefghijklmnopqrst");
    two.log_in(b"ABCDEFGHIJKLMNOPQRST");
    for _ in 0..3 {
        one.query("SELECT one FROM t");
        two.query("SELECT two FROM t");
    }
    check(&results(vec![one, two]), 8);
}

#[test]
fn a_health_check_has_no_front() {
    let mut check_only = Conversation::open(&db(), 42_000, 0);
    check_only.say(ServerSide, &greeting(b"0123456789abcdefghij", BASIC));
    check_only.say(Client, &login(BASIC));
    check_only.say(ServerSide, &packet(2, &ok(0, 2)));
    let results = dissect(&[lb(), db()], &check_only.frames);
    assert_eq!(results.visits[0].upstream, None);
}

#[test]
fn connections_whose_greeting_was_not_seen_are_paired_by_content() {
    let mut one = Relay::new(40_000, 0, false);
    let mut two = Relay::new(41_000, 17, false);
    for number in 0..20 {
        one.query(&format!("/*rid={number}a*/SELECT one FROM t"));
        two.query(&format!("/*rid={number}b*/SELECT two FROM t"));
    }
    check(&results(vec![one, two]), 40);
}

#[test]
fn postgresql_connections_are_paired_by_their_key_or_by_content() {
    let (lb, db) = (server("lb.1", Protocol::Postgresql, 8, true), postgresql::db());
    for from_start in [true, false] {
        let relay = |port, now_ns| Relay::between(&lb, &db, port, now_ns, from_start);
        let (mut one, mut two) = (relay(40_000, 0), relay(41_000, 17));
        if from_start {
            for (relay, key) in [(&mut one, b"aaaa"), (&mut two, b"bbbb")] {
                relay.ask(&postgresql_bytes::login());
                relay.answer(&postgresql_bytes::logged_in(key));
            }
        }
        for number in 0..10 {
            for (relay, name) in [(&mut one, "one"), (&mut two, "two")] {
                let value = format!("{name}{number}");
                let sql = format!("SELECT {name} FROM t WHERE a = $1");
                relay.ask(&postgresql_bytes::extended(&sql, &[&value]));
                relay.answer(&postgresql_bytes::result(1, b"1"));
            }
        }
        let frames: Vec<Frame> = [one, two].into_iter().flat_map(Relay::frames).collect();
        // The key comes with a login's end, too late for the login itself.
        check(&dissect(&[lb.clone(), db.clone()], &frames), 20);
    }
}
