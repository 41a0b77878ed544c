#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_dissect::Protocol;
use tierlab_fuzz::{Conversation, Step, hold};

fuzz_target!(|statement: &[u8]| {
    let length = statement.len() as u32 + 1;
    let [low, middle, high, _] = length.to_le_bytes();
    let query = [&[low, middle, high, 0, 3], statement].concat();
    let steps = vec![Step::captured(true, query)];
    let first = [u32::MAX - 10, 100];
    hold(Protocol::Mysql, &Conversation { from_start: false, first, steps });
});
