#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_dissect::Protocol;
use tierlab_fuzz::{Conversation, hold};

fuzz_target!(|conversation: Conversation| hold(Protocol::Redis, &conversation));
