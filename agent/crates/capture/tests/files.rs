//! Capture files of the kinds that users bring, written by the test.

use etherparse::{Ipv4Header, PacketBuilder};
use serde_json::{Value, json};
use std::fs;

const ETHERNET: u32 = 1;
const CAN: u32 = 227;
const ASKED: &[u8] = b"GET /item/7 HTTP/1.1\r\nHost: shop\r\n\r\n";
const ANSWERED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// An Ethernet frame of a conversation between two hosts, with the number that IP gave it.
fn frame(from_client: bool, sequence: u32, number: u16, payload: &[u8]) -> Vec<u8> {
    let (client, server) = (([10, 0, 0, 1], 40_000), ([10, 0, 0, 2], 80));
    let (from, to) = if from_client { (client, server) } else { (server, client) };
    let mut header =
        Ipv4Header::new(0, 64, etherparse::IpNumber::TCP, from.0, to.0).expect("short");
    header.identification = number;
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ip(etherparse::IpHeaders::Ipv4(header, Default::default()))
        .tcp(from.1, to.1, sequence, 512);
    let mut frame = Vec::new();
    builder.ack(1).write(&mut frame, payload).expect("a vector takes all");
    frame
}

/// Two requests and their replies.
fn conversation() -> Vec<Vec<u8>> {
    let (asked, answered) = (ASKED.len() as u32, ANSWERED.len() as u32);
    vec![
        frame(true, 1, 1, ASKED),
        frame(false, 1, 1, ANSWERED),
        frame(true, 1 + asked, 2, ASKED),
        frame(false, 1 + answered, 2, ANSWERED),
    ]
}

/// A pcapng block.
fn block(kind: u32, content: &[u8]) -> Vec<u8> {
    let padding = vec![0; content.len().wrapping_neg() % 4];
    let length = (content.len() + padding.len() + 12) as u32;
    let around = length.to_le_bytes();
    [&kind.to_le_bytes()[..], &around, content, &padding, &around].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// The beginning of a pcapng file with interfaces of these link types.
fn pcapng(links: &[u32]) -> Vec<u8> {
    let section = [&words(&[0x1a2b_3c4d, 1])[..], &[0xff; 8]].concat();
    let mut file = block(0x0a0d_0d0a, &section);
    links.iter().for_each(|&link| file.extend(block(1, &words(&[link, 0]))));
    file
}

fn enhanced(interface: u32, at_us: u32, frame: &[u8], wire_length: u32) -> Vec<u8> {
    let header = words(&[interface, 0, at_us, frame.len() as u32, wire_length]);
    block(6, &[header, frame.to_vec()].concat())
}

fn simple(frame: &[u8]) -> Vec<u8> {
    block(3, &[words(&[frame.len() as u32]), frame.to_vec()].concat())
}

/// Packets of the first interface, a millisecond between them.
fn packets(frames: &[Vec<u8>]) -> Vec<u8> {
    let at = |(number, frame): (usize, &Vec<u8>)| {
        enhanced(0, 1000 * number as u32, frame, frame.len() as u32)
    };
    frames.iter().enumerate().flat_map(at).collect()
}

/// The messages in a file: who sent it, how many bytes.
fn messages(file: &[u8]) -> Result<Vec<(String, u64)>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let (capture, plan) = (folder.path().join("made.pcap"), folder.path().join("plan.json"));
    fs::write(&capture, file).expect("written");
    let server = json!({"name": "web.1", "address": "10.0.0.2", "port": 80, "protocol": "http1"});
    let content = json!({"file": capture, "servers": [server], "messages": true, "threads": 1});
    fs::write(&plan, content.to_string()).expect("written");
    let done = tierlab_capture::run_file(&plan, folder.path());
    done.map_err(|error| format!("{error:#}"))?;
    let text = fs::read_to_string(folder.path().join("messages.jsonl")).expect("written");
    let message = |line: &str| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let from = message["from"].as_str().expect("text").to_owned();
        (from, message["bytes"].as_u64().expect("a number"))
    };
    Ok(text.lines().map(message).collect())
}

fn expected() -> Vec<(String, u64)> {
    let turn = [("client", ASKED.len()), ("server", ANSWERED.len())];
    [turn, turn].concat().into_iter().map(|(from, size)| (from.into(), size as u64)).collect()
}

#[test]
fn an_interface_that_is_not_supported_leaves_the_others() {
    let other = enhanced(1, 5, &[1; 16], 16);
    let file = [pcapng(&[ETHERNET, CAN]), other, packets(&conversation())].concat();
    assert_eq!(messages(&file), Ok(expected()));
}

#[test]
fn obsolete_packet_blocks_are_read() {
    let old = |(number, frame): (usize, &Vec<u8>)| {
        let length = frame.len() as u32;
        let header = words(&[0xffff_0000, 0, 1000 * number as u32, length, length]);
        block(2, &[header, frame.clone()].concat())
    };
    let blocks: Vec<u8> = conversation().iter().enumerate().flat_map(old).collect();
    assert_eq!(messages(&[pcapng(&[ETHERNET]), blocks].concat()), Ok(expected()));
}

#[test]
fn a_file_of_which_most_cannot_be_read_is_refused_with_why() {
    let other = enhanced(1, 5, &[1; 16], 16);
    let untimed = simple(&conversation()[0]);
    let foreign = [other.clone(), other, untimed.clone()].concat();
    let all = [pcapng(&[ETHERNET, CAN]), foreign.clone()].concat();
    let refused = messages(&all).expect_err("refused");
    for words in ["3 of 3 frames cannot be read", "2: link type 227", "1: without a time"] {
        assert!(refused.contains(words), "{refused}");
    }
    let most = [pcapng(&[ETHERNET, CAN]), foreign.clone(), packets(&conversation()[..2])].concat();
    assert!(messages(&most).expect_err("refused").contains("3 of 5 frames"));
    let fewer = [pcapng(&[ETHERNET, CAN]), foreign, packets(&conversation())].concat();
    assert_eq!(messages(&fewer), Ok(expected()));
}

/// BIG TCP (Documentation/networking/ip-sysctl.rst) leaves IPv4's length 0 where it is too large.
#[test]
fn a_cut_frame_of_more_than_64_kib_has_its_length() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 150000\r\n\r\n";
    let mut reply = frame(false, 1, 1, &[&head[..], &[b'x'; 100]].concat());
    reply[16..18].fill(0);
    let wire = (54 + head.len() + 150_000) as u32;
    let file = [
        pcapng(&[ETHERNET]),
        packets(&[frame(true, 1, 1, ASKED)]),
        enhanced(0, 2000, &reply, wire),
    ];
    let sizes = [("client", ASKED.len() as u64), ("server", head.len() as u64 + 150_000)];
    assert_eq!(messages(&file.concat()), Ok(sizes.map(|(from, it)| (from.to_owned(), it)).into()));
}
