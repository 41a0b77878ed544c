//! Content that looks like a request, where the capture does not know that it is content: from a
//! connection's middle, and after a loss.

use crate::support::{Conversation, Results, dissect, server};
use crate::{ajp13, fastcgi, http2};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{Protocol, Server};

const NONE: [&str; 0] = [];

fn results(server: &Server, it: &Conversation) -> Results {
    dissect(std::slice::from_ref(server), &it.frames)
}

/// A connection from the middle of some content.
fn within_content(server: &Server) -> Conversation {
    let mut it = Conversation::silent(server, 50_000, 0);
    it.say(Client, b"the rest of some content");
    it
}

/// The client goes on as no request does; then it sends a request, which has this label.
fn none_if_the_client_goes_on(
    server: &Server,
    [look_alike, its_reply]: [&[u8]; 2],
    ways: &[&[u8]],
    [request, reply]: [&[u8]; 2],
    label: &str,
) {
    for goes_on in ways {
        let mut it = within_content(server);
        it.send(Client, look_alike);
        it.send(Client, goes_on);
        it.send(Client, b"the last of it");
        it.say(ServerSide, its_reply);
        it.say(Client, request);
        let end = it.say(ServerSide, reply);
        let results = results(server, &it);
        assert_eq!(results.labels(), [label], "{goes_on:?}");
        assert_eq!(results.visits[0].departure_ns, Some(end));
    }
}

#[test]
fn no_request_of_ajp_if_the_client_goes_on() {
    let (look_alike, reply) = (ajp13::get("/secret", ""), ajp13::reply(3));
    let ways = [&b"more content"[..], &ajp13::body(b"more"), &look_alike, b"\x12\x34\x7f\xff"];
    let turn = [&ajp13::forward(2, "0")[..], &reply];
    let label = "GET /rubbos/servlet/StoreComment";
    none_if_the_client_goes_on(&ajp13::app(), [&look_alike, &reply], &ways, turn, label);
}

#[test]
fn no_request_of_fastcgi_if_the_client_goes_on() {
    let (look_alike, reply) = (fastcgi::get(1, "/secret", ""), fastcgi::reply(1, 3));
    let [end, of_another] = [(1, &b""[..]), (2, b"more")]
        .map(|(id, content)| fastcgi::record(fastcgi::STDIN, id, content));
    let ways = [&b"more content"[..], &end, &look_alike, &of_another];
    let turn = [&fastcgi::get(1, "/a", "")[..], &reply];
    none_if_the_client_goes_on(&fastcgi::php(), [&look_alike, &reply], &ways, turn, "GET /a");
}

#[test]
fn no_request_of_http2_if_the_client_goes_on() {
    let look_alike = [&http2::get(1_001, "/secret", "")[..], &http2::reply(1_001, 3)];
    let goes_on = http2::frame(http2::CONTINUATION, 0xff, 1_001, b"x");
    let ways = [&b"more content"[..], &goes_on, b"\0\0\x05"];
    let turn = [&http2::get(1_003, "/a", "")[..], &http2::reply(1_003, 3)];
    none_if_the_client_goes_on(&http2::service(), look_alike, &ways, turn, "GET /a");
}

#[test]
fn no_request_of_http1_if_the_client_goes_on() {
    let web = server("web.1", Protocol::Http1, 1, false);
    let look_alike = b"GET /secret HTTP/1.1\r\nHost: secret\r\n\r\n";
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let mut it = Conversation::silent(&web, 50_000, 0);
    for _ in 0..3 {
        it.say(Client, look_alike);
    }
    it.say(Client, b"the end");
    it.say(ServerSide, reply);
    it.say(Client, b"GET /a/17 HTTP/1.1\r\nHost: h\r\n\r\n");
    it.say(ServerSide, reply);
    assert_eq!(results(&web, &it).labels(), ["GET /a/{id}"]);
}

#[test]
fn no_request_of_http1_if_the_server_never_answers() {
    let web = server("web.1", Protocol::Http1, 1, false);
    let mut it = within_content(&web);
    it.say(Client, b"GET /secret HTTP/1.1\r\nHost: secret\r\n\r\n");
    assert_eq!(results(&web, &it).labels(), NONE);
}

#[test]
fn no_request_of_ajp_if_the_server_only_asks_for_more() {
    let app = ajp13::app();
    let mut it = within_content(&app);
    it.say(Client, &ajp13::get("/secret", ""));
    it.say(ServerSide, ajp13::GET_BODY);
    it.say(Client, &ajp13::body(b"more"));
    it.say(ServerSide, &ajp13::reply(3));
    assert_eq!(results(&app, &it).labels(), NONE);
}

#[test]
fn no_request_of_ajp_while_another_has_no_reply() {
    let app = ajp13::app();
    let mut it = Conversation::open(&app, 50_000, 0);
    it.say(Client, &ajp13::forward(4, "9000"));
    it.send(Client, &ajp13::body(&[b'x'; 4_000])[..2_000]);
    it.lose(Client, &[b'x'; 6_000]);
    it.send(Client, &ajp13::get("/secret", ""));
    let end = it.say(ServerSide, &ajp13::reply(3));
    let results = results(&app, &it);
    assert_eq!(results.labels(), ["POST /rubbos/servlet/StoreComment"]);
    assert_eq!(results.visits[0].departure_ns, Some(end));
}

/// The look-alike has an end of its own, and content ends with another.
#[test]
fn no_request_of_fastcgi_if_it_ends_twice() {
    let php = fastcgi::php();
    let mut it = within_content(&php);
    it.send(Client, &fastcgi::get(1, "/secret", ""));
    it.say(Client, &fastcgi::record(fastcgi::STDIN, 1, b""));
    it.say(ServerSide, &fastcgi::reply(1, 3));
    assert_eq!(results(&php, &it).labels(), NONE);
}

#[test]
fn no_request_of_fastcgi_if_the_server_answers_another() {
    let php = fastcgi::php();
    let mut it = within_content(&php);
    it.say(Client, &fastcgi::get(7, "/secret", ""));
    it.say(ServerSide, &fastcgi::reply(1, 3));
    assert_eq!(results(&php, &it).labels(), NONE);
}

#[test]
fn no_request_of_fastcgi_if_its_parameters_are_no_whole_pairs() {
    use fastcgi::{PARAMS, STDIN, begin, pairs, record};
    let php = fastcgi::php();
    for parameters in [&b"some text"[..], &pairs(&[("SCRIPT_NAME", "/secret")])] {
        let mut it = within_content(&php);
        let head = [begin(1), record(PARAMS, 1, parameters), record(PARAMS, 1, b"")].concat();
        it.say(Client, &[head, record(STDIN, 1, b"")].concat());
        it.say(ServerSide, &fastcgi::reply(1, 3));
        assert_eq!(results(&php, &it).labels(), NONE);
    }
}

#[test]
fn no_request_of_http2_if_the_server_answers_another() {
    let service = http2::service();
    let mut it = within_content(&service);
    it.say(Client, &http2::get(9_999, "/secret", ""));
    it.say(ServerSide, &http2::reply(1_001, 3));
    it.lose(Client, b"the last of it");
    it.ack(ServerSide);
    // Its number was none that was ever used.
    it.say(Client, &http2::get(1_003, "/a", ""));
    it.say(ServerSide, &http2::reply(1_003, 3));
    assert_eq!(results(&service, &it).labels(), ["GET /a"]);
}

#[test]
fn fields_of_http2_in_content_are_in_no_table() {
    use http2::{HEADERS, WHOLE, frame, kept, known, literals};
    let service = http2::service();
    let mut it = within_content(&service);
    let secret = [kept(":path", "/secret"), literals(&[(":method", "GET")])].concat();
    it.send(Client, &frame(HEADERS, WHOLE, 1, &secret));
    it.send(Client, b"the last of it");
    it.say(ServerSide, &http2::reply(1, 3));
    let by_number = [literals(&[(":method", "GET")]), known(0)].concat();
    it.say(Client, &frame(HEADERS, WHOLE, 3, &by_number));
    it.say(ServerSide, &http2::reply(3, 3));
    assert_eq!(results(&service, &it).labels(), ["(incomplete)"]);
}

/// Labels and ends, in the order of the visits.
fn ended(results: &Results) -> Vec<(&str, Option<i64>)> {
    results.visits.iter().map(|it| (&it.label[..], it.departure_ns)).collect()
}

#[test]
fn requests_of_fastcgi_side_by_side_are_requests_once_one_is_answered() {
    let php = fastcgi::php();
    let mut it = within_content(&php);
    let [one, two] = [fastcgi::get(1, "/one", ""), fastcgi::get(2, "/two", "")];
    it.send(Client, &[&one[..], &two[..40]].concat());
    it.send(Client, &two[40..]);
    let two_ends = it.say(ServerSide, &fastcgi::reply(2, 3));
    let one_ends = it.say(ServerSide, &fastcgi::reply(1, 3));
    let expected = [("GET /two", Some(two_ends)), ("GET /one", Some(one_ends))];
    assert_eq!(ended(&results(&php, &it)), expected);
}

#[test]
fn streams_of_http2_side_by_side_are_streams_once_one_is_answered() {
    let service = http2::service();
    let mut it = http2::begun();
    it.lose(Client, &http2::get(1, "/lost", ""));
    it.say(Client, &[http2::get(3, "/one", ""), http2::get(5, "/two", "")].concat());
    let two_ends = it.say(ServerSide, &http2::reply(5, 3));
    let one_ends = it.say(ServerSide, &http2::reply(3, 3));
    let expected = [("GET /two", Some(two_ends)), ("GET /one", Some(one_ends))];
    assert_eq!(ended(&results(&service, &it)), expected);
}
