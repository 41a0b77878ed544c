//! What a machine under load does to `calls`, which runs at real-time priority.

use super::watch::Watch;
use super::{Packets, watch_until};
use crate::ring::RingError;
use etherparse::PacketBuilder;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use tierlab_dissect::{LinkType, Segment};
use tierlab_record::clock::thread_cpu_ns;
use tierlab_record::open_files;

fn syn(client: SocketAddr, server: SocketAddr) -> Vec<u8> {
    let (SocketAddr::V4(from), SocketAddr::V4(to)) = (client, server) else {
        panic!("these tests are of IPv4")
    };
    let addressed = PacketBuilder::ipv4(from.ip().octets(), to.ip().octets(), 64);
    let mut packet = Vec::new();
    let tcp = addressed.tcp(from.port(), to.port(), 1, 999).syn();
    tcp.write(&mut packet, b"").expect("a vector takes all");
    packet
}

/// A client's SYNs that never end, each from another port.
struct Flood {
    packet: Vec<u8>,
    sent: u32,
}

impl Packets for Flood {
    fn wait(&self, _: Duration) -> Result<(), RingError> {
        Ok(())
    }

    fn read(&mut self) -> Result<Option<&[u8]>, RingError> {
        self.sent += 1;
        // The client's port, and the last two bytes of its address.
        self.packet[20..22].copy_from_slice(&self.sent.to_be_bytes()[2..]);
        self.packet[14..16].copy_from_slice(&self.sent.to_be_bytes()[..2]);
        Ok(Some(&self.packet))
    }
}

#[test]
fn a_flood_of_syns_keeps_it_neither_from_its_end_nor_from_the_table_of_sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("bound");
    let _client = TcpStream::connect(place).expect("listening");
    let (flooding, flooded) = (([10, 9, 0, 0], 1).into(), ([10, 8, 8, 8], 80).into());
    let mut flood = Flood { packet: syn(flooding, flooded), sent: 0 };
    let mut watch = Watch::new().expect("allowed");
    let began = Instant::now();
    let over = || began.elapsed() > Duration::from_millis(300);
    watch_until(over, &mut flood, &mut watch).expect("allowed");
    let took = began.elapsed();
    println!("{} SYNs in {took:?}", flood.sent);
    // Alone on a machine it ends within milliseconds; other tests run beside this one.
    assert!(took < Duration::from_secs(3), "it took {took:?} to end");
    assert!(flood.sent > 100, "{} SYNs are no flood", flood.sent);
    assert!(
        watch.calls().iter().any(|call| call.server == place),
        "an open connection is not seen"
    );
}

#[test]
fn a_process_with_ten_thousand_descriptors_is_not_searched_for_every_syn() {
    const SYNS: usize = 600;
    open_files::raise_limit();
    let open = || File::open("/dev/null").expect("root may open as many");
    let _many: Vec<File> = (0..10_000).map(|_| open()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("bound");
    let connect = || {
        let client = TcpStream::connect(place).expect("listening");
        (client, listener.accept().expect("a client"))
    };
    let connections: Vec<_> = (0..SYNS).map(|_| connect()).collect();
    let mut watch = Watch::new().expect("allowed");
    let began_ns = thread_cpu_ns();
    for (client, _) in &connections {
        let packet = syn(client.local_addr().expect("connected"), place);
        watch.segment(&Segment::parse(LinkType::Raw, &packet).expect("a SYN"));
    }
    let spent_ns = thread_cpu_ns() - began_ns;
    let unattributed = watch.unattributed();
    println!("{SYNS} SYNs took {} ms, {unattributed} unattributed", spent_ns / 1_000_000);
    assert!(spent_ns < 5_000_000_000, "{SYNS} SYNs took {} ms of CPU time", spent_ns / 1_000_000);
    assert!((1..SYNS as u64).contains(&unattributed), "{unattributed} are counted");
    watch.look().expect("allowed");
    assert_eq!(watch.unattributed(), 0, "one search finds the owner of all that are still open");
    let calls = watch.calls();
    let ours: Vec<_> = calls.iter().filter(|call| call.server == place).collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(ours[0].pids[0], std::process::id() as i32);
}
