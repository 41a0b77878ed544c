#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;

// The tracer's own files: its crate brings a loader of eBPF and a database's client with it, none of
// which reads what comes from the kernel.
#[allow(dead_code)]
#[path = "../../crates/trace/src/event.rs"]
mod event;
#[allow(dead_code)]
#[path = "../../crates/trace/src/turn.rs"]
mod turn;
#[allow(dead_code)]
#[path = "../../crates/trace/src/turns.rs"]
mod turns;

use event::Report;
use turn::{Kind, Turn};
use turns::Turns;

/// A thread reads or writes at a socket, some time after the event before.
#[derive(Arbitrary, Debug)]
struct Step {
    thread: u8,
    socket: u8,
    client: bool,
    sent: bool,
    overlaps: bool,
    pause_ms: u16,
    /// Its address is now that of another connection's.
    reused: bool,
    /// A second has gone by.
    tick: bool,
}

impl Step {
    /// The same as the kernel's part writes it (`struct event`).
    fn bytes(&self) -> [u8; 168] {
        let mut bytes = [0; 168];
        bytes[8] = self.socket;
        bytes[96] = 1;
        bytes[100] = self.thread;
        bytes[108] = 1;
        bytes[152] = if self.sent { 2 } else { 1 };
        bytes[153] = if self.client { 2 } else { 1 };
        bytes[154] = 2;
        bytes[155] = self.overlaps.into();
        bytes[160] = self.thread;
        bytes
    }
}

// Whatever the ring holds is read or refused; whatever threads do, each turn has one owner, ends after
// it began, and is reported.
fuzz_target!(|input: (Vec<u8>, Vec<Step>)| {
    let (raw, steps) = input;
    let _ = Report::parse(&raw);
    let (mut it, mut out, mut at_ns) = (Turns::default(), Vec::new(), 0);
    let mut connections = [0_u64; 256];
    let mut calls = 0;
    for step in &steps {
        at_ns += i64::from(step.pause_ms) * 1_000_000;
        if step.reused {
            connections[usize::from(step.socket)] += 256;
        }
        let bytes = step.bytes();
        let Some(Report::Turn(event)) = Report::parse(&bytes) else { panic!("an event is one") };
        let connection = connections[usize::from(step.socket)] + u64::from(step.socket);
        it.take(&event, at_ns, connection, &mut out);
        calls += usize::from(step.client && step.sent);
        if step.tick {
            at_ns += 1_000_000_000;
            it.tick(at_ns, &mut out);
        }
    }
    it.finish(&mut out);
    let called = out.iter().filter(|turn| turn.kind == Kind::Called);
    assert_eq!(called.count(), calls, "the tracer reports each call once");
    let mut served: BTreeMap<i64, &Turn> = BTreeMap::new();
    for turn in out.iter().filter(|turn| turn.kind == Kind::Served) {
        assert!(turn.end_ns.is_none_or(|end_ns| end_ns >= turn.begin_ns));
        assert_eq!(turn.end_ns.is_some(), turn.replied.is_some());
        // The tracer reports a turn again when its reply goes on after a pause. It ends later then.
        let before = served.insert(turn.turn, turn);
        assert!(
            before.is_none_or(|it| it.connection == turn.connection && it.end_ns <= turn.end_ns)
        );
    }
    let last = served.last_key_value().map_or(-1, |(&number, _)| number);
    assert_eq!(served.len() as i64, last + 1, "no turn is lost");
    let callers = out.iter().filter_map(|turn| turn.serves);
    callers.for_each(|turn| {
        assert!(served.contains_key(&turn), "a call serves a turn that the tracer reports")
    });
});
