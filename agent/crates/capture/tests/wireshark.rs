//! Small captures of real traffic, and what Wireshark's dissectors see in them.
//! `tests/capture/small_captures.py` takes both.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const CLIENT: &str = "client";
const SERVER: &str = "server";

/// COM_QUIT, COM_STMT_SEND_LONG_DATA and COM_STMT_CLOSE have no reply.
const NO_REPLY: [&str; 3] = ["1", "24", "25"];

/// Of each connection, by the client's port: who sent what and when its last byte came.
type Seen = BTreeMap<u64, Vec<Ended>>;

#[derive(Debug, PartialEq, Eq)]
struct Ended {
    from: &'static str,
    end_ns: i64,
    what: String,
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wireshark"))
}

/// What Wireshark sees: every value of every frame's fields.
fn wireshark(name: &str, server_port: u64) -> Seen {
    let text = fs::read_to_string(folder().join(format!("{name}.tsv"))).expect("committed");
    let mut seen = Seen::new();
    for line in text.lines().skip(1) {
        let mut columns = line.split('\t');
        let end_ns = nanoseconds(columns.next().expect("a time"));
        let mut port = || columns.next().and_then(|it| it.parse().ok()).expect("a port");
        let (source, destination): (u64, u64) = (port(), port());
        let is_server = source == server_port;
        let from = if is_server { SERVER } else { CLIENT };
        let values = columns.flat_map(|it| it.split(','));
        let found = seen.entry(if is_server { destination } else { source }).or_default();
        found.extend(values.map(|it| Ended { from, end_ns, what: it.to_owned() }));
    }
    seen
}

fn nanoseconds(time: &str) -> i64 {
    let (seconds, part) = time.split_once('.').expect("nine decimals");
    assert_eq!(part.len(), 9, "{time}");
    [seconds, part].concat().parse().expect("a number")
}

/// What the agent sees.
fn agent(name: &str, listeners: &[(&str, u64)]) -> Seen {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&out).expect("a folder");
    let (protocol, _) = name.split_once('-').unwrap_or((name, ""));
    let server = |(address, port): &(&str, u64)| json!({"name": address, "address": address, "port": port, "protocol": protocol});
    let servers: Vec<Value> = listeners.iter().map(server).collect();
    let capture = folder().join(format!("{name}.pcap"));
    let plan = json!({"file": capture, "servers": servers, "messages": true});
    fs::write(out.join("plan.json"), plan.to_string()).expect("written");
    tierlab_capture::run_file(&out.join("plan.json"), &out).expect("dissected");
    let mut seen = Seen::new();
    for line in fs::read_to_string(out.join("messages.jsonl")).expect("written").lines() {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| message[key].as_str().expect("text");
        let (_, port) = text("client").rsplit_once(':').expect("a port");
        seen.entry(port.parse().expect("a number")).or_default().push(Ended {
            from: if text("from") == SERVER { SERVER } else { CLIENT },
            end_ns: message["end_ns"].as_i64().expect("a time"),
            what: text("kind").to_owned(),
        });
    }
    seen
}

fn ends(seen: &Seen) -> BTreeMap<u64, Vec<(&str, i64)>> {
    let of = |found: &Vec<Ended>| found.iter().map(|it| (it.from, it.end_ns)).collect();
    seen.iter().map(|(&port, found)| (port, of(found))).collect()
}

fn named(mut seen: Seen) -> Seen {
    seen.values_mut().for_each(|found| found.retain(|it| !it.what.is_empty()));
    seen
}

#[test]
fn http_messages_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("http1", 8080));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 12);
    assert_eq!(ends(&agent("http1", &[("127.0.1.1", 8080)])), ends(&oracle));
}

#[test]
fn ajp_messages_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("ajp13", 8009));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 6);
    assert_eq!(ends(&agent("ajp13", &[("127.0.2.1", 8009)])), ends(&oracle));
}

#[test]
fn postgresql_messages_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("postgresql", 5432));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 60);
    let mut mine = agent("postgresql", &[("127.0.6.1", 5432)]);
    // A single byte, for which Wireshark has no name.
    mine.values_mut().for_each(|found| found.retain(|it| it.what != "refusal"));
    assert_eq!(ends(&mine), ends(&oracle));
}

#[test]
fn fastcgi_records_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("fastcgi", 9000));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 12);
    assert_eq!(ends(&agent("fastcgi", &[("127.0.7.1", 9000)])), ends(&oracle));
}

#[test]
fn http2_frames_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("http2", 8000));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 30);
    assert_eq!(ends(&agent("http2", &[("127.0.8.1", 8000)])), ends(&oracle));
}

/// Wireshark tells packets in which messages end, but not how many of them.
fn ends_of_packets(seen: &Seen) -> BTreeMap<u64, Vec<(&str, i64)>> {
    let mut found = ends(seen);
    found.values_mut().for_each(Vec::dedup);
    found
}

#[test]
fn memcached_messages_end_where_wireshark_sees_them_end() {
    let oracle = wireshark("memcached", 11211);
    let mine = agent("memcached", &[("127.0.8.1", 11211)]);
    assert!(mine.values().map(Vec::len).sum::<usize>() >= 60);
    assert_eq!(ends_of_packets(&mine), ends_of_packets(&oracle));
}

#[test]
fn memcached_binary_messages_end_where_wireshark_sees_them_end() {
    let oracle = named(wireshark("memcached-binary", 11211));
    assert!(oracle.values().map(Vec::len).sum::<usize>() >= 24);
    assert_eq!(ends(&agent("memcached-binary", &[("127.0.8.1", 11211)])), ends(&oracle));
}

#[test]
fn redis_messages_end_where_wireshark_sees_them_end() {
    let oracle = wireshark("redis", 6379);
    let mine = agent("redis", &[("127.0.9.1", 6379)]);
    assert!(mine.values().map(Vec::len).sum::<usize>() >= 20);
    assert_eq!(ends_of_packets(&mine), ends_of_packets(&oracle));
}

/// Wireshark names commands, but not the packets of a reply: its last one is the last of the server's
/// before the next command.
#[test]
fn mysql_commands_and_replies_end_where_wireshark_sees_them_end() {
    let oracle = wireshark("mysql", 3306);
    let mine = agent("mysql", &[("127.0.3.1", 3306), ("127.0.4.1", 3306)]);
    assert_eq!(mine.keys().collect::<Vec<_>>(), oracle.keys().collect::<Vec<_>>());
    let mut checked = 0;
    for (port, frames) in &oracle {
        let mut expected = Vec::new();
        let (mut has_reply, mut replied_ns) = (false, None);
        for frame in frames {
            if frame.from == CLIENT && !frame.what.is_empty() {
                expected.extend(replied_ns.take().map(|end_ns| (SERVER, end_ns)));
                expected.push((CLIENT, frame.end_ns));
                has_reply = !NO_REPLY.contains(&frame.what.as_str());
            } else if frame.from == SERVER && has_reply {
                replied_ns = Some(frame.end_ns);
            }
        }
        expected.extend(replied_ns.map(|end_ns| (SERVER, end_ns)));
        let begun = expected.first().expect("a command").1;
        let found: Vec<_> = mine[port]
            .iter()
            .filter(|it| it.end_ns >= begun)
            .map(|it| (it.from, it.end_ns))
            .collect();
        assert_eq!(found, expected, "port {port}");
        checked += found.len();
    }
    assert!(checked >= 60);
}
