//! However many threads dissect a file, they say what one alone says.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use etherparse::PacketBuilder;
use serde_json::json;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;

const WEB: ([u8; 4], u16) = ([127, 0, 1, 1], 8080);
const LB: ([u8; 4], u16) = ([127, 0, 3, 1], 3306);
const DB: ([u8; 4], u16) = ([127, 0, 4, 1], 3306);
const CLIENT: [u8; 4] = [127, 0, 0, 1];

/// One connection, of which both ends are played here.
struct Flow {
    server: ([u8; 4], u16),
    port: u16,
    next: [u32; 2],
}

impl Flow {
    fn new(server: ([u8; 4], u16), port: u16) -> Self {
        Self { server, port, next: [u32::MAX - 900, 7] }
    }

    /// A segment of the client or the server.
    fn segment(&mut self, from_client: bool, flags: &str, payload: &[u8]) -> Vec<u8> {
        let (client, server) = ((CLIENT, self.port), self.server);
        let (from, to) = if from_client { (client, server) } else { (server, client) };
        let [mine, other] = if from_client { [0, 1] } else { [1, 0] };
        let mut tcp = PacketBuilder::ipv4(from.0, to.0, 64).tcp(from.1, to.1, self.next[mine], 999);
        if flags.contains('S') {
            tcp = tcp.syn();
        }
        if flags.contains('F') {
            tcp = tcp.fin();
        }
        if flags != "S" {
            tcp = tcp.ack(self.next[other]);
        }
        let mut frame = Vec::new();
        tcp.write(&mut frame, payload).expect("a vector takes all");
        let length = payload.len() as u32 + u32::from(flags.contains(['S', 'F']));
        self.next[mine] = self.next[mine].wrapping_add(length);
        frame
    }

    fn open(&mut self) -> [Vec<u8>; 3] {
        let syn = self.segment(true, "S", b"");
        [syn, self.segment(false, "SA", b""), self.segment(true, "A", b"")]
    }
}

/// A browser's connection: some replies lose a segment, some are sent twice, some never end.
fn pages(number: u16) -> Vec<Vec<u8>> {
    let mut it = Flow::new(WEB, 20_000 + number);
    let mut frames = it.open().to_vec();
    for turn in 0..12 {
        let head = format!(
            "GET /page{turn}?user={number} HTTP/1.1\r\nX-Request-Id: {turn:x}a{number:x}\r\n\r\n"
        );
        frames.push(it.segment(true, "A", head.as_bytes()));
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n";
        frames.push(it.segment(false, "A", &[&head[..], &[b'x'; 1_000]].concat()));
        let second = it.segment(false, "A", &[b'y'; 1_000]);
        match (number + turn) % 7 {
            0 => {}
            1 => frames.extend([second.clone(), second]),
            _ => frames.push(second),
        }
        if turn < 11 || !number.is_multiple_of(3) {
            frames.push(it.segment(false, "A", &[b'z'; 1_000]));
            frames.push(it.segment(true, "A", b""));
        }
    }
    if number.is_multiple_of(2) {
        frames.extend([it.segment(true, "FA", b""), it.segment(false, "FA", b"")]);
    }
    frames
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    [&length.to_le_bytes()[..3], &[sequence], payload].concat()
}

/// A connection to the pass-through server and the one behind it. Every second pair was open before
/// the capture began.
fn statements(number: u16) -> Vec<Vec<u8>> {
    let mut front = Flow::new(LB, 30_000 + number);
    let mut back = Flow::new(DB, 40_000 + number);
    let mut frames = Vec::new();
    let ok = packet(1, b"\0\0\0\x02\0\0\0");
    if number.is_multiple_of(2) {
        frames.extend(front.open());
        frames.extend(back.open());
        let scramble = format!("{number:020}");
        let mut greeting = b"\x0a10.11.6-MariaDB\0\x07\0\0\0".to_vec();
        greeting.extend(&scramble.as_bytes()[..8]);
        greeting.extend(b"\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0");
        greeting.extend(&scramble.as_bytes()[8..]);
        greeting.extend(b"\0mysql_native_password\0");
        let login =
            [&b"\x84\xa6\xbf\x01"[..], &[0; 28], b"rubbos\0\x14", &[0; 20], b"r\0"].concat();
        frames.push(back.segment(false, "A", &packet(0, &greeting)));
        frames.push(front.segment(false, "A", &packet(0, &greeting)));
        frames.push(front.segment(true, "A", &packet(1, &login)));
        frames.push(back.segment(true, "A", &packet(1, &login)));
        frames.push(back.segment(false, "A", &packet(2, &ok[4..])));
        frames.push(front.segment(false, "A", &packet(2, &ok[4..])));
    }
    for turn in 0..15 {
        let sql = format!("\x03SELECT a{} FROM t WHERE id = {number} AND x = {turn}", turn % 4);
        let query = packet(0, sql.as_bytes());
        frames.push(front.segment(true, "A", &query));
        frames.push(back.segment(true, "A", &query));
        frames.push(back.segment(false, "A", &ok));
        frames.push(front.segment(false, "A", &ok));
    }
    frames
}

/// Writes all conversations, each a little later than the one before and all at the same time. Some
/// frames tell a wrong time, and in between nothing is captured for two days.
fn capture(path: &Path) {
    let mut flows: Vec<_> = (0..150).map(pages).chain((0..60).map(statements)).collect();
    flows.iter_mut().for_each(|flow| flow.reverse());
    let mut file = Vec::new();
    for word in [0xa1b2_3c4du32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    let mut at = 0u32;
    while flows.iter().any(|flow| !flow.is_empty()) {
        for frame in flows.iter_mut().take(1 + at as usize / 20).filter_map(Vec::pop) {
            at += 1;
            let second = match at {
                _ if at % 500 == 250 => u32::MAX,
                4_000.. => at / 1_000 + 2 * 86_400,
                _ => at / 1_000,
            };
            for word in [second, at % 1_000 * 1_000_000, frame.len() as u32, frame.len() as u32] {
                file.extend(word.to_le_bytes());
            }
            file.extend(frame);
        }
    }
    fs::write(path, file).expect("room on the disk");
}

fn table(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).expect("the table is there");
    StreamReader::try_new(file, None).and_then(Iterator::collect).expect("a table")
}

/// What does not depend on the run's salt, and the hashes as numbers in the order of appearance.
fn visits(path: &Path) -> (Vec<RecordBatch>, Vec<Option<usize>>) {
    let (mut known, mut hashes) = (HashMap::new(), Vec::new());
    let mut batches = table(path);
    for batch in &mut batches {
        let literals = batch.remove_column(batch.schema().index_of("literals").expect("there"));
        let ids = batch.remove_column(batch.schema().index_of("id_hash").expect("there"));
        for values in [literals.as_list::<i32>().values(), &ids] {
            hashes.extend(values.as_primitive::<UInt64Type>().iter().map(|hash| {
                let next = known.len();
                hash.map(|hash| *known.entry(hash).or_insert(next))
            }));
        }
    }
    (batches, hashes)
}

#[test]
fn any_number_of_threads_says_what_one_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it.pcap");
    capture(&file);
    let server = |name, (address, port): ([u8; 4], u16), protocol, pass_through| {
        json!({
            "name": name,
            "address": std::net::Ipv4Addr::from(address),
            "port": port,
            "protocol": protocol,
            "pass_through": pass_through,
        })
    };
    let servers = [
        server("web.1", WEB, "http1", false),
        server("lb.1", LB, "mysql", true),
        server("db.1", DB, "mysql", false),
    ];
    let said: Vec<_> = [1, 2, 3, 5]
        .into_iter()
        .map(|threads| {
            let out = folder.path().join(threads.to_string());
            fs::create_dir(&out).expect("a folder");
            let plan = json!({
                "file": file, "servers": servers, "threads": threads, "messages": true,
            });
            let path = out.join("plan.json");
            fs::write(&path, plan.to_string()).expect("room on the disk");
            tierlab_capture::run_file(&path, &out).expect("dissected");
            let messages = fs::read_to_string(out.join("messages.jsonl")).expect("messages");
            let events = table(&out.join("dissect.events.arrows"));
            (visits(&out.join("raw_visits.arrows")), events, messages)
        })
        .collect();
    let ((alone, hashes), events, messages) = &said[0];
    let rows: usize = alone.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 150 * 12 + 60 * 15 * 2 + 30 * 2);
    let upstream = |it: &RecordBatch| it.num_rows() - it["upstream"].null_count();
    assert_eq!(alone.iter().map(upstream).sum::<usize>(), 60 * 15 + 30);
    assert!(events.iter().map(RecordBatch::num_rows).sum::<usize>() > 200);
    assert!(hashes.iter().flatten().max() > Some(&1_000));
    for ((visits, other_hashes), other_events, other_messages) in &said[1..] {
        assert_eq!(visits, alone);
        assert_eq!(other_hashes, hashes);
        assert_eq!(other_events, events);
        assert!(other_messages == messages);
    }
}
