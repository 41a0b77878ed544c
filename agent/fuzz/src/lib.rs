//! What the fuzz targets share: a conversation of arbitrary steps, and a sink that checks.

use arbitrary::Arbitrary;
use etherparse::PacketBuilder;
use tierlab_dissect::{Dissector, Event, LinkType, Message, Protocol, Salt, Server, Sink, Visit};

/// Of IPv4 and TCP.
const HEADERS: usize = 40;

/// One packet of a conversation.
#[derive(Arbitrary, Debug)]
pub struct Step {
    from_client: bool,
    captured: bool,
    sent_again: bool,
    ends: bool,
    /// Its sequence number is another than it should be.
    jump: Option<u32>,
    resets: bool,
    /// So many bytes of it are kept, as by a filter or a snap length; all, if there are none.
    kept: u8,
    bytes: Vec<u8>,
}

/// A connection from its start or from the middle.
#[derive(Arbitrary, Debug)]
pub struct Conversation {
    /// From its handshake on.
    pub from_start: bool,
    /// The sequence numbers with which client and server begin.
    pub first: [u32; 2],
    /// Its packets.
    pub steps: Vec<Step>,
}

impl Step {
    /// A packet that arrives once and is captured.
    pub fn captured(from_client: bool, bytes: Vec<u8>) -> Self {
        Self {
            from_client,
            captured: true,
            sent_again: false,
            ends: false,
            jump: None,
            resets: false,
            kept: 0,
            bytes,
        }
    }
}

/// Fails if a result makes no sense.
pub struct Check;

impl Sink for Check {
    fn visit(&mut self, visit: &Visit<'_>) {
        assert!(visit.arrival_ns <= visit.request_end_ns, "{visit:?}");
        if let (Some(start), Some(end)) = (visit.reply_start_ns, visit.departure_ns) {
            assert!(start <= end, "{visit:?}");
        }
        assert!(visit.bytes_in >= 0 && visit.bytes_out >= 0, "{visit:?}");
        assert!(visit.literals.len() <= 16 && visit.label.len() <= 1_000, "{visit:?}");
    }

    fn event(&mut self, _event: &Event) {}

    fn message(&mut self, message: &Message) {
        assert!(message.start_ns <= message.end_ns, "{message:?}");
    }
}

/// A dissector for one server at 10.0.0.1:1, which is what conversations are held with.
pub fn dissector(protocol: Protocol) -> Dissector {
    let address = [10, 0, 0, 1].into();
    let server = Server { name: "it.1".into(), address, port: 1, protocol, pass_through: false };
    Dissector::new(vec![server], Salt::new([0; 16]))
}

/// Dissects the conversation, packet by packet.
pub fn hold(protocol: Protocol, conversation: &Conversation) {
    hold_all(protocol, std::slice::from_ref(conversation));
}

/// Dissects conversations on one port, one after the other.
pub fn hold_all(protocol: Protocol, conversations: &[Conversation]) {
    let mut dissector = dissector(protocol).behind_filter();
    let mut now_ns = 0;
    for conversation in conversations {
        hold_in(&mut dissector, &mut now_ns, conversation);
    }
    dissector.finish(&mut Check);
}

fn hold_in(dissector: &mut Dissector, now_ns: &mut i64, conversation: &Conversation) {
    let mut next = conversation.first;
    let mut packet = |client: bool, next: [u32; 2], flags: [bool; 3], bytes: &[u8], kept: u8| {
        *now_ns += 1_000;
        let mut frame = frame(client, next, flags, bytes);
        if kept > 0 {
            frame.truncate(HEADERS + usize::from(kept));
        }
        dissector.frame(*now_ns, LinkType::Raw, &frame, &mut Check);
    };
    if conversation.from_start {
        packet(true, next, [true, false, false], &[], 0);
        packet(false, next, [true, false, false], &[], 0);
        next = next.map(|sequence: u32| sequence.wrapping_add(1));
    }
    for step in &conversation.steps {
        let from = usize::from(!step.from_client);
        if let Some(jump) = step.jump {
            next[from] = next[from].wrapping_add(jump);
        }
        if step.captured {
            let flags = [false, step.ends, step.resets];
            packet(step.from_client, next, flags, &step.bytes, step.kept);
        }
        if !step.sent_again {
            next[from] = next[from].wrapping_add(step.bytes.len() as u32);
        }
        packet(!step.from_client, next, [false; 3], &[], 0);
    }
}

fn frame(client: bool, next: [u32; 2], [syn, fin, rst]: [bool; 3], bytes: &[u8]) -> Vec<u8> {
    let ((source, from), (destination, to)) = if client {
        (([10, 0, 0, 2], 2), ([10, 0, 0, 1], 1))
    } else {
        (([10, 0, 0, 1], 1), ([10, 0, 0, 2], 2))
    };
    let [sequence, acknowledgment] = if client { next } else { [next[1], next[0]] };
    let mut builder = PacketBuilder::ipv4(source, destination, 64).tcp(from, to, sequence, 1);
    if syn {
        builder = builder.syn();
    } else {
        builder = builder.ack(acknowledgment);
    }
    if fin {
        builder = builder.fin();
    }
    if rst {
        builder = builder.rst();
    }
    let mut frame = Vec::new();
    let longest = bytes.len().min(60_000);
    builder.write(&mut frame, &bytes[..longest]).expect("a vector takes all");
    frame
}
