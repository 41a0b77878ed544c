//! Classic BPF with names for the places that are jumped to (bpf(4), Linux's
//! Documentation/networking/filter.rst).

use libc::sock_filter;
use std::collections::HashMap;

pub(crate) const LOAD_LENGTH: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_LEN) as u16;
pub(crate) const LOAD_MEMORY: u16 = (libc::BPF_LD | libc::BPF_MEM) as u16;
pub(crate) const LOAD_BYTE: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_ABS) as u16;
pub(crate) const LOAD_HALF: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_ABS) as u16;
pub(crate) const LOAD_BYTE_AT: u16 = (libc::BPF_LD | libc::BPF_B | libc::BPF_IND) as u16;
pub(crate) const LOAD_HALF_AT: u16 = (libc::BPF_LD | libc::BPF_H | libc::BPF_IND) as u16;
pub(crate) const LOAD_WORD_AT: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_IND) as u16;
pub(crate) const INDEX: u16 = (libc::BPF_LDX | libc::BPF_W | libc::BPF_IMM) as u16;
pub(crate) const INDEX_MEMORY: u16 = (libc::BPF_LDX | libc::BPF_MEM) as u16;
pub(crate) const INDEX_HEADER_LENGTH: u16 = (libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16;
pub(crate) const INDEX_A: u16 = (libc::BPF_MISC | libc::BPF_TAX) as u16;
pub(crate) const STORE: u16 = libc::BPF_ST as u16;
pub(crate) const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
pub(crate) const ADD: u16 = (libc::BPF_ALU | libc::BPF_ADD | libc::BPF_K) as u16;
pub(crate) const SUBTRACT: u16 = (libc::BPF_ALU | libc::BPF_SUB | libc::BPF_K) as u16;
pub(crate) const TIMES: u16 = (libc::BPF_ALU | libc::BPF_MUL | libc::BPF_K) as u16;
pub(crate) const RIGHT: u16 = (libc::BPF_ALU | libc::BPF_RSH | libc::BPF_K) as u16;
pub(crate) const OR_X: u16 = (libc::BPF_ALU | libc::BPF_OR | libc::BPF_X) as u16;
pub(crate) const ADD_X: u16 = (libc::BPF_ALU | libc::BPF_ADD | libc::BPF_X) as u16;
pub(crate) const SUBTRACT_X: u16 = (libc::BPF_ALU | libc::BPF_SUB | libc::BPF_X) as u16;
pub(crate) const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
pub(crate) const EQUAL_X: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_X) as u16;
pub(crate) const GREATER: u16 = (libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16;
pub(crate) const ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
pub(crate) const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
pub(crate) const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
pub(crate) const RETURN_A: u16 = (libc::BPF_RET | libc::BPF_A) as u16;

/// The next instruction.
pub(crate) const NEXT: &str = "";

/// A program in the making.
#[derive(Default)]
pub(crate) struct Program {
    steps: Vec<sock_filter>,
    /// Where each jump goes, if its condition holds and if not.
    jumps: Vec<(usize, &'static str, &'static str)>,
    /// Several places may have one name: a jump goes to the next of them.
    places: HashMap<&'static str, Vec<usize>>,
}

impl Program {
    pub(crate) fn step(&mut self, code: u16, k: u32) {
        self.steps.push(sock_filter { code, jt: 0, jf: 0, k });
    }

    /// Goes on at one place or the other.
    pub(crate) fn test(&mut self, code: u16, k: u32, yes: &'static str, no: &'static str) {
        self.jumps.push((self.steps.len(), yes, no));
        self.step(code, k);
    }

    pub(crate) fn jump(&mut self, place: &'static str) {
        self.test(JUMP, 0, place, NEXT);
    }

    /// The next instruction is this place.
    pub(crate) fn place(&mut self, name: &'static str) {
        self.places.entry(name).or_default().push(self.steps.len());
    }

    /// The program, with its jumps. They only go forward, and tests no farther than 255 steps.
    pub(crate) fn finish(mut self) -> Vec<sock_filter> {
        for (at, yes, no) in self.jumps {
            let distance = |place| match place {
                NEXT => 0,
                name => {
                    let places = &self.places[name];
                    places[places.partition_point(|&place| place <= at)] - at - 1
                }
            };
            let step = &mut self.steps[at];
            if step.code == JUMP {
                step.k = distance(yes) as u32;
            } else {
                let near = |place| u8::try_from(distance(place)).expect("ports are few enough");
                (step.jt, step.jf) = (near(yes), near(no));
            }
        }
        self.steps
    }
}
