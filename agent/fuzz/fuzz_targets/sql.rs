#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_dissect::Protocol;
use tierlab_fuzz::{Conversation, Step, hold};

fuzz_target!(|statement: &[u8]| {
    let length = statement.len() as u32 + 1;
    let [low, middle, high, _] = length.to_le_bytes();
    let mysql = [&[low, middle, high, 0, 3], statement].concat();
    let length = statement.len() as u32 + 4;
    let postgresql = [&b"Q"[..], &length.to_be_bytes(), statement].concat();
    for (protocol, query) in [(Protocol::Mysql, mysql), (Protocol::Postgresql, postgresql)] {
        let steps = vec![Step::captured(true, query)];
        let first = [u32::MAX - 10, 100];
        hold(protocol, &Conversation { from_start: false, first, steps });
    }
});
