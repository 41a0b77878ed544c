//! Runs a filter as the kernel would, for tests.

use super::program::*;
use libc::sock_filter;

/// How many bytes of the packet the program keeps.
pub(super) fn kept(program: &[sock_filter], packet: &[u8]) -> u32 {
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
