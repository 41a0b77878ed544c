//! An interface that goes down during a capture: what was captured is kept, and the capture goes on
//! when the interface is up again. Each test has a network namespace and a pair of veth of its own.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_ipc::reader::StreamReader;
use etherparse::PacketBuilder;
use serde_json::json;
use std::fs::{self, File};
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::process::Command;
use std::thread::{scope, sleep, spawn};
use std::time::{Duration, Instant};

const SERVER: ([u8; 4], u16) = ([10, 77, 0, 1], 8080);
const CLIENT: [u8; 4] = [10, 77, 0, 2];
const CAPTURE: Duration = Duration::from_secs(3);

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).status().expect("iproute2 is there");
    assert!(done.success(), "ip {arguments}");
}

fn add_pair() {
    ip("link add seen0 type veth peer name far0");
    ip("link set seen0 up");
    ip("link set far0 up");
}

/// Has the other end of the pair send an IP packet.
fn send(packet: &[u8]) {
    // SAFETY: no pointer is passed, and the descriptor is nobody else's.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        assert!(fd >= 0, "a packet socket");
        OwnedFd::from_raw_fd(fd)
    };
    // SAFETY: all-zero is a valid address, and the name ends with its zero.
    let (mut to, index): (libc::sockaddr_ll, u32) =
        unsafe { (std::mem::zeroed(), libc::if_nametoindex(c"far0".as_ptr())) };
    to.sll_family = libc::AF_PACKET as u16;
    to.sll_protocol = (libc::ETH_P_IP as u16).to_be();
    to.sll_ifindex = index as i32;
    to.sll_halen = 6;
    to.sll_addr[..6].fill(0xff);
    // SAFETY: both pointers are valid for the sizes that are passed with them.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            packet.as_ptr().cast(),
            packet.len(),
            0,
            (&raw const to).cast(),
            size_of::<libc::sockaddr_ll>() as u32,
        )
    };
    assert_eq!(sent, packet.len() as isize, "{}", std::io::Error::last_os_error());
}

/// A connection from this port on which a page is requested and, unless it stays open, sent.
fn request(port: u16, page: &str, is_answered: bool) {
    let mut next = [100_u32, 900];
    let mut segment = |from_client: bool, flags: &str, payload: &[u8]| {
        let (client, server) = ((CLIENT, port), SERVER);
        let (from, to) = if from_client { (client, server) } else { (server, client) };
        let [mine, other] = if from_client { [0, 1] } else { [1, 0] };
        let mut tcp = PacketBuilder::ipv4(from.0, to.0, 64).tcp(from.1, to.1, next[mine], 9_999);
        if flags.contains('S') {
            tcp = tcp.syn();
        }
        if flags.contains('A') {
            tcp = tcp.ack(next[other]);
        }
        next[mine] += payload.len() as u32 + u32::from(flags.contains('S'));
        let mut packet = Vec::new();
        tcp.write(&mut packet, payload).expect("a vector takes all");
        send(&packet);
    };
    segment(true, "S", b"");
    segment(false, "SA", b"");
    segment(true, "A", b"");
    segment(true, "A", format!("GET /{page} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    if is_answered {
        segment(false, "A", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
}

/// What a capture wrote.
struct Captured {
    /// Labels of visits, and whether they have an end.
    visits: Vec<(String, bool)>,
    /// How long the interface was down each time.
    down_ns: Vec<i64>,
}

fn table(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).expect("the table is there");
    StreamReader::try_new(file, None).and_then(Iterator::collect).expect("a whole table")
}

fn read(out: &Path) -> Captured {
    let (mut visits, mut down_ns) = (Vec::new(), Vec::new());
    for batch in table(&out.join("raw_visits.arrows")) {
        let labels = batch.column_by_name("label").expect("a column").as_string::<i32>();
        let ends = batch.column_by_name("departure_ns").expect("a column");
        let ends = ends.as_primitive::<Int64Type>();
        let each = labels.iter().zip(ends);
        visits.extend(each.map(|(label, end)| (label.unwrap_or("").to_owned(), end.is_some())));
    }
    visits.sort();
    for batch in table(&out.join("capture.events.arrows")) {
        let kinds = batch.column_by_name("kind").expect("a column").as_string::<i32>();
        let lengths = batch.column_by_name("duration_ns").expect("a column");
        let each = kinds.iter().zip(lengths.as_primitive::<Int64Type>());
        let downs = each.filter(|(kind, _)| *kind == Some("interface_down"));
        down_ns.extend(downs.filter_map(|(_, length)| length));
    }
    Captured { visits, down_ns }
}

/// Waits until so many rings are bound in this namespace.
fn wait_for_rings(count: usize) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let sockets = || fs::read_to_string("/proc/thread-self/net/packet").expect("a table");
    while sockets().lines().count() <= count {
        assert!(Instant::now() < deadline, "the capture does not begin");
        sleep(Duration::from_millis(10));
    }
    // Until all are there none of several takes a packet.
    sleep(Duration::from_millis(200));
}

/// Captures with so many threads: a page and half of one, what `happens`, and another page.
fn capture(threads: usize, happens: fn()) -> Captured {
    let its = spawn(move || {
        // SAFETY: no pointer is passed; only this thread has another namespace.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0, "a namespace");
        add_pair();
        let folder = tempfile::tempdir().expect("a folder");
        let plan = folder.path().join("plan.json");
        let server = json!({
            "name": "web.1", "address": "10.77.0.1", "port": SERVER.1, "protocol": "http1",
        });
        let content = json!({
            "interface": "seen0",
            "servers": [server],
            "threads": threads,
            "duration_ns": CAPTURE.as_nanos() as i64,
        });
        fs::write(&plan, content.to_string()).expect("room on the disk");
        scope(|scope| {
            let capturing = scope.spawn(|| tierlab_capture::run_live(&plan, folder.path()));
            wait_for_rings(threads);
            request(1_001, "before", true);
            request(1_002, "open", false);
            sleep(Duration::from_millis(200));
            happens();
            sleep(Duration::from_millis(400));
            request(1_003, "after", true);
            let ended = capturing.join().expect("no panic");
            assert!(ended.is_ok(), "{ended:?}");
        });
        read(folder.path())
    });
    its.join().expect("no panic")
}

fn is_root() -> bool {
    // SAFETY: it only returns a number.
    unsafe { libc::geteuid() == 0 }
}

fn visits(of: &[(&str, bool)]) -> Vec<(String, bool)> {
    of.iter().map(|&(label, has_end)| (label.to_owned(), has_end)).collect()
}

const ALL: [(&str, bool); 3] = [("GET /after", true), ("GET /before", true), ("GET /open", false)];

fn down_for_a_while() {
    ip("link set seen0 down");
    sleep(Duration::from_millis(300));
    ip("link set seen0 up");
}

fn removed_and_made_anew() {
    ip("link del seen0");
    add_pair();
}

#[test]
fn an_interface_that_was_down_for_a_while_loses_no_rows_and_is_captured_again() {
    if !is_root() {
        return;
    }
    for threads in [1, 2] {
        let captured = capture(threads, down_for_a_while);
        assert_eq!(captured.visits, visits(&ALL), "{threads} threads");
        let [down_ns] = captured.down_ns[..] else { panic!("{:?} outages", captured.down_ns) };
        assert!((200_000_000..2_000_000_000).contains(&down_ns), "{down_ns}");
    }
}

#[test]
fn an_interface_that_is_made_anew_is_captured_again() {
    if !is_root() {
        return;
    }
    let captured = capture(1, removed_and_made_anew);
    assert_eq!(captured.visits, visits(&ALL));
    assert_eq!(captured.down_ns.len(), 1);
}

#[test]
fn what_several_threads_captured_of_an_interface_that_is_gone_is_written() {
    if !is_root() {
        return;
    }
    let captured = capture(2, removed_and_made_anew);
    assert_eq!(captured.visits, visits(&ALL[1..]));
    assert_eq!(captured.down_ns.len(), 1);
}
