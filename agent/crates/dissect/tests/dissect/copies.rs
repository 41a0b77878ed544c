//! Packets that were captured more than once, as on all interfaces of a host (`-i any`).

use crate::support::{Conversation, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Dissector, EventKind, LinkType, Protocol};

/// How long a packet takes from one interface to the next.
const STEP_NS: i64 = 7_000;

#[test]
fn packets_that_were_captured_three_times_were_not_sent_again() {
    let web = server("web.1", Protocol::Http1, 1, false);
    let mut it = Conversation::open(&web, 50_000, 0);
    for _ in 0..2 {
        it.say(Client, b"GET /item/7 HTTP/1.1\r\nHost: shop\r\n\r\n");
        it.say(ServerSide, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
    it.fin(Client);
    it.fin(ServerSide);
    let thrice = it.frames.iter().flat_map(|(at_ns, frame)| {
        (0..3).map(move |again| (at_ns + again * STEP_NS, frame.clone()))
    });
    let thrice: Vec<_> = thrice.collect();
    let servers = [web];

    // This is what they look like to who does not leave them out.
    let resent = dissect(&servers, &thrice).happened();
    assert!(resent.iter().any(|it| matches!(it, EventKind::SynRetransmission { .. })));
    assert!(resent.iter().any(|it| matches!(it, EventKind::Retransmission { .. })));

    let mut dissector = Dissector::new(servers.to_vec(), salt()).without_copies();
    let mut results = Results::of(&servers);
    for (at_ns, frame) in &thrice {
        dissector.frame(*at_ns, LinkType::Raw, frame, &mut results);
    }
    dissector.finish(&mut results);
    let once = dissect(&servers, &it.frames);
    assert_eq!(results.happened(), []);
    let times = |of: &Results| -> Vec<_> {
        of.visits.iter().map(|it| (it.arrival_ns, it.departure_ns)).collect()
    };
    assert_eq!(times(&results), times(&once));
    // Bare acknowledgements bring nothing, however often they come.
    assert_eq!(dissector.left_out().copies, 2 * 8);
}
