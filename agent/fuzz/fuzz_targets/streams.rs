#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_dissect::Protocol;
use tierlab_fuzz::{Conversation, hold_all};

// Conversations one after the other on one port, whose beginnings and ends need not be captured.
fuzz_target!(|conversations: Vec<Conversation>| hold_all(Protocol::Http1, &conversations));
