//! Hostile captures, and what the heap has of them: the allocator's own count.

use etherparse::PacketBuilder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use tierlab_dissect::{
    Clue, Dissector, Event, LinkType, MEMORY_BYTES, Message, Pairing, Protocol, Salt, Server, Sink,
    Visit,
};

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts.
struct Counting;

// SAFETY: every call is handed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One hostile capture at a time, or they would be counted together.
static ALONE: Mutex<()> = Mutex::new(());

/// Takes what is remembered of all connections, and nothing else.
struct Nobody(Pairing);

impl Sink for Nobody {
    fn visit(&mut self, visit: &Visit<'_>) {
        self.0.visited(visit.connection);
    }

    fn event(&mut self, _: &Event) {}

    fn message(&mut self, _: &Message) {}

    fn clue(&mut self, clue: Clue) {
        self.0.clue(clue);
    }
}

/// A dissector under attack, and how much the heap had before it.
struct Attacked {
    dissector: Dissector,
    sink: Nobody,
    budget: usize,
    before: usize,
    frame: Vec<u8>,
    _alone: MutexGuard<'static, ()>,
}

impl Attacked {
    fn new(budget: usize, protocol: Protocol) -> Self {
        let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let server = |last: u8, pass_through| Server {
            name: format!("it.{last}"),
            address: [10, 0, 0, last].into(),
            port: 1,
            protocol,
            pass_through,
        };
        let frame = Vec::with_capacity(100_000);
        let before = HELD.load(Relaxed);
        MOST.store(before, Relaxed);
        let servers = vec![server(1, false), server(2, true)];
        let pairing_bytes = budget / 8;
        let sink = Nobody(Pairing::new(&servers, pairing_bytes));
        let dissector = Dissector::within(budget - pairing_bytes, servers, Salt::new([0; 16]));
        Self { dissector, sink, budget, before, frame, _alone: alone }
    }

    /// A segment of the client with this number to the first server, or from there.
    fn segment(&mut self, client: u32, from_client: bool, sequence: u32, syn: bool, bytes: &[u8]) {
        let [a, b, c, d] = (client >> 14).to_be_bytes();
        let client = ([11 + a, b, c, d], 1_000 + (client & 0x3fff) as u16);
        let (from, to) =
            if from_client { (client, ([10, 0, 0, 1], 1)) } else { (([10, 0, 0, 1], 1), client) };
        let mut builder = PacketBuilder::ipv4(from.0, to.0, 64).tcp(from.1, to.1, sequence, 1);
        if syn {
            builder = builder.syn();
        }
        self.frame.clear();
        builder.write(&mut self.frame, bytes).expect("a vector takes all");
        self.dissector.frame(1, LinkType::Raw, &self.frame, &mut self.sink);
    }

    /// The most that the heap ever had of it is within the budget, and not by far.
    fn holds(mut self, least_share: f64) {
        self.dissector.finish(&mut self.sink);
        let most = MOST.load(Relaxed) - self.before;
        let share = most as f64 / self.budget as f64;
        println!("{most} bytes of {}", self.budget);
        assert!(share <= 1.0, "{most} bytes, but {} are allowed", self.budget);
        assert!(share >= least_share, "only {most} bytes: was there an attack?");
    }
}

const SMALL: usize = 32 << 20;

#[test]
fn a_million_half_open_connections_fit() {
    let mut it = Attacked::new(MEMORY_BYTES, Protocol::Http1);
    for client in 0..1_000_000 {
        it.segment(client, true, client.wrapping_mul(2_654_435_761), true, b"");
    }
    assert!(it.dissector.open_connections() > 250_000, "{}", it.dissector.open_connections());
    it.holds(0.5);
}

#[test]
fn heads_without_end_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Http1);
    let head = [b"GET /".as_slice(), &[b'x'; 59_000]].concat();
    for client in 0..4_000 {
        it.segment(client, true, 0, true, b"");
        it.segment(client, true, 1, false, &head);
    }
    it.holds(0.5);
}

#[test]
fn segments_behind_holes_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Tcp);
    for client in 0..500 {
        it.segment(client, true, 1, true, b"");
        for hole in 0..400 {
            it.segment(client, true, 100_000 + hole * 10, false, &[b'x'; 5]);
        }
        for hole in 0..20 {
            it.segment(client, true, 200_000 + hole * 70_000, false, &[b'x'; 60_000]);
        }
    }
    it.holds(0.5);
}

#[test]
fn requests_that_are_never_answered_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Http1);
    for client in 0..300 {
        let mut requests = Vec::new();
        for number in 0..1_200 {
            requests.extend(format!("GET /{client}x{number}y HTTP/1.1\r\n\r\n").into_bytes());
        }
        it.segment(client, true, 0, true, b"");
        it.segment(client, true, 1, false, &requests[..requests.len().min(60_000)]);
    }
    it.holds(0.5);
}

#[test]
fn statements_that_are_prepared_for_ever_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Mysql);
    for client in 0..40 {
        let [mut asked, mut answered] = [1_u32; 2];
        for number in 0..3_000_u32 {
            let sql = format!("\x16SELECT {number} FROM t{client}x{number} WHERE a = ?");
            let mut prepare = (sql.len() as u32).to_le_bytes();
            prepare[3] = 0;
            let prepare = [&prepare, sql.as_bytes()].concat();
            it.segment(client, true, asked, false, &prepare);
            asked = asked.wrapping_add(prepare.len() as u32);
            let mut answer = b"\x0c\0\0\x01\0".to_vec();
            answer.extend(number.to_le_bytes());
            answer.extend([0, 0, 0, 0, 0, 0, 0]);
            it.segment(client, false, answered, false, &answer);
            answered = answered.wrapping_add(answer.len() as u32);
        }
    }
    it.holds(0.3);
}

#[test]
fn statements_and_portals_that_are_named_for_ever_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Postgresql);
    let message = |kind: u8, content: &[u8]| {
        [&[kind], &(content.len() as u32 + 4).to_be_bytes()[..], content].concat()
    };
    for client in 0..40 {
        let mut asked = 1_u32;
        for number in 0..100_u32 {
            let mut all = Vec::new();
            for name in number * 100..(number + 1) * 100 {
                let parse = format!("{name}\0SELECT {name} FROM t{client} WHERE a = $1\0\0\0");
                all.extend(message(b'P', parse.as_bytes()));
                let bind = format!("{name}\0{name}\0\0\0\0\0\0\0");
                all.extend(message(b'B', bind.as_bytes()));
            }
            it.segment(client, true, asked, false, &all);
            asked = asked.wrapping_add(all.len() as u32);
        }
    }
    it.holds(0.3);
}

#[test]
fn parameters_without_end_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Fastcgi);
    let record = |kind: u8, id: u16, content: &[u8]| {
        let (id, length) = (id.to_be_bytes(), (content.len() as u16).to_be_bytes());
        [&[1, kind], &id[..], &length, &[0, 0], content].concat()
    };
    for client in 0..12 {
        let mut asked = 1_u32;
        for id in 1..120 {
            let begin = record(1, id, &[0, 1, 1, 0, 0, 0, 0, 0]);
            let all = [begin, record(4, id, &[b'x'; 50_000])].concat();
            it.segment(client, true, asked, false, &all);
            asked = asked.wrapping_add(all.len() as u32);
        }
    }
    it.holds(0.3);
}

#[test]
fn streams_that_are_never_answered_fit() {
    let mut it = Attacked::new(SMALL, Protocol::Http2);
    let frame = |kind: u8, flags: u8, stream: u32, content: &[u8]| {
        let length = (content.len() as u32).to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), content].concat()
    };
    let form = b"\x83\x84\x0f\x10\x21application/x-www-form-urlencoded";
    for client in 0..20 {
        it.segment(client, true, 0, true, b"");
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        it.segment(client, true, 1, false, preface);
        let mut asked = 1 + preface.len() as u32;
        for number in 0..500 {
            let stream = 2 * number + 1;
            let all = [frame(1, 4, stream, form), frame(0, 0, stream, &[b'x'; 16_000])].concat();
            it.segment(client, true, asked, false, &all);
            asked = asked.wrapping_add(all.len() as u32);
        }
    }
    it.holds(0.3);
}

#[test]
fn commands_that_are_never_answered_fit() {
    for (protocol, command) in
        [(Protocol::Memcached, &b"get a\r\n"[..]), (Protocol::Redis, b"*1\r\n$4\r\nPING\r\n")]
    {
        let mut it = Attacked::new(SMALL, protocol);
        let commands = command.repeat(50_000 / command.len());
        for client in 0..40 {
            for packet in 0..4 {
                it.segment(client, true, 1 + packet * commands.len() as u32, false, &commands);
            }
        }
        it.holds(0.5);
    }
}
