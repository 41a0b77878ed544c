#![no_main]

use libfuzzer_sys::fuzz_target;
use tierlab_dissect::{LinkType, Protocol};
use tierlab_fuzz::{Check, dissector};

fuzz_target!(|frames: Vec<(u8, Vec<u8>)>| {
    let mut dissector = dissector(Protocol::Tcp).without_copies();
    for (at_ns, (link, frame)) in (0..).zip(&frames) {
        let link = match link % 5 {
            0 => LinkType::Null,
            1 => LinkType::Ethernet,
            2 => LinkType::Raw,
            3 => LinkType::LinuxSll,
            _ => LinkType::LinuxSll2,
        };
        dissector.frame(at_ns, link, frame, &mut Check);
    }
    dissector.finish(&mut Check);
});
