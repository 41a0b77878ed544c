//! Runs a filter as the kernel would, for tests.

use super::of;
use super::program::*;
use crate::{Protocol, Server};
use libc::sock_filter;

/// How many bytes of the packet the program keeps.
pub(crate) fn kept(program: &[sock_filter], packet: &[u8]) -> u32 {
    let load = |at: u32, bytes: usize| {
        let at = at as usize;
        let found = packet.get(at..at + bytes)?;
        Some(found.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    };
    let mut memory = [0; 16];
    let (mut a, mut x, mut at) = (0u32, 0u32, 0usize);
    loop {
        let it = program[at];
        at += 1;
        let mut jump = |yes: bool| at += usize::from(if yes { it.jt } else { it.jf });
        let loaded = match it.code {
            LOAD_LENGTH => Some(packet.len() as u32),
            LOAD_MEMORY => Some(memory[it.k as usize]),
            LOAD_BYTE => load(it.k, 1),
            LOAD_HALF => load(it.k, 2),
            LOAD_BYTE_AT => load(x + it.k, 1),
            LOAD_HALF_AT => load(x + it.k, 2),
            LOAD_WORD_AT => load(x + it.k, 4),
            AND => Some(a & it.k),
            ADD => Some(a + it.k),
            SUBTRACT => Some(a - it.k),
            TIMES => Some(a * it.k),
            RIGHT => Some(a >> it.k),
            OR_X => Some(a | x),
            ADD_X => Some(a + x),
            SUBTRACT_X => Some(a - x),
            _ => Some(a),
        };
        // What reads beyond the packet drops it.
        let Some(loaded) = loaded else { return 0 };
        a = loaded;
        match it.code {
            INDEX => x = it.k,
            INDEX_MEMORY => x = memory[it.k as usize],
            INDEX_HEADER_LENGTH => x = 4 * u32::from(packet[it.k as usize] & 0xf),
            INDEX_A => x = a,
            STORE => memory[it.k as usize] = a,
            EQUAL => jump(a == it.k),
            EQUAL_X => jump(a == x),
            GREATER => jump(a > it.k),
            ANY_BIT => jump(a & it.k != 0),
            JUMP => at += it.k as usize,
            RETURN => return it.k,
            RETURN_A => return a,
            _ => {}
        }
    }
}

/// How many bytes of this payload are kept, if the server sends it over IPv4 and over IPv6.
pub(crate) fn kept_of(protocol: Protocol, payload: &[u8]) -> usize {
    let program = of(&[server(7, protocol), server(8, Protocol::Tcp)]).expect("few enough");
    let one = [ipv4(6, 6, 0, [7, 9]), payload.to_vec()].concat();
    let other = [ipv6(6, [7, 9]), payload.to_vec()].concat();
    let counts = [(one, 44), (other, 60)]
        .map(|(packet, headers)| (kept(&program, &packet) as usize).min(packet.len()) - headers);
    assert_eq!(counts[0], counts[1]);
    let back = [ipv4(5, 6, 0, [9, 7]), payload.to_vec()].concat();
    assert_eq!(kept(&program, &back), u32::MAX, "what clients send is kept");
    let plain = [ipv4(5, 6, 0, [8, 9]), payload.to_vec()].concat();
    assert_eq!(kept(&program, &plain), u32::MAX, "unknown protocols are kept");
    counts[0]
}

pub(crate) fn server(port: u16, protocol: Protocol) -> Server {
    let name = format!("{}.{port}", protocol.name());
    Server { name, address: [127, 0, 0, 1].into(), port, protocol, pass_through: false }
}

pub(crate) fn ipv4(header_words: u8, protocol: u8, fragment: u16, ports: [u16; 2]) -> Vec<u8> {
    let mut packet = vec![0; usize::from(header_words) * 4 + 20];
    packet[0] = 0x40 | header_words;
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    packet[9] = protocol;
    let at = usize::from(header_words) * 4;
    packet[at..at + 2].copy_from_slice(&ports[0].to_be_bytes());
    packet[at + 2..at + 4].copy_from_slice(&ports[1].to_be_bytes());
    packet[at + 12] = 0x50;
    packet
}

pub(crate) fn ipv6(next: u8, ports: [u16; 2]) -> Vec<u8> {
    let mut packet = vec![0; 60];
    packet[0] = 0x60;
    packet[6] = next;
    packet[40..42].copy_from_slice(&ports[0].to_be_bytes());
    packet[42..44].copy_from_slice(&ports[1].to_be_bytes());
    packet[52] = 0x50;
    packet
}
