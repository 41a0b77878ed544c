//! RESP2 and RESP3, with bytes laid out as Redis' documentation shows them.

use crate::support::{Conversation, Frame, Results, dissect, salt, server};
use tierlab_dissect::Side::{Client, Server as ServerSide};
use tierlab_dissect::{EventKind, Protocol, Server};

pub fn store() -> Server {
    server("store.1", Protocol::Redis, 9, false)
}

fn results(conversation: &Conversation) -> Results {
    dissect(&[store()], &conversation.frames)
}

/// Label, status and end of each visit.
fn seen(results: &Results) -> Vec<(&str, Option<i32>, Option<i64>)> {
    results.visits.iter().map(|it| (&it.label[..], it.status, it.departure_ns)).collect()
}

/// A command, as clients send it.
pub fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend(bulk(word));
    }
    bytes
}

pub fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

#[test]
fn a_command_and_its_reply_are_a_visit() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    let request = command(&["set", "user:42", &"v".repeat(300)]);
    let (first, last) = it.say_in(Client, 50, &request);
    let end = it.say(ServerSide, b"+OK\r\n");
    it.say(Client, &command(&["GET", "user:42"]));
    let reply = bulk(&"v".repeat(300));
    let (start, got) = it.say_in(ServerSide, 40, &reply);
    let results = results(&it);
    let [set, get] = &results.visits[..] else { panic!("{results:?}") };
    assert_eq!((set.arrival_ns, set.request_end_ns), (first, last));
    assert_eq!((set.label.as_str(), set.status, set.departure_ns), ("SET", Some(0), Some(end)));
    assert_eq!(set.bytes, (request.len() as i64, 5));
    assert_eq!((get.reply_start_ns, get.departure_ns), (Some(start), Some(got)));
    assert_eq!(get.bytes.1, reply.len() as i64);
    let key = ["user:42", "user", "42"].map(|it| salt().hash(it.as_bytes()));
    assert_eq!((&set.literals[..], &get.literals[..]), (&key[..], &key[..]));
    assert_eq!(results.kinds(Client), ["command", "command"]);
    assert_eq!(results.kinds(ServerSide), ["simple string", "bulk string"]);
}

#[test]
fn every_type_of_value_ends_where_it_ends() {
    for (reply, kind, status) in [
        (&b"+OK\r\n"[..], "simple string", 0),
        (b"-ERR no such command\r\n", "error", 2),
        (b":-17\r\n", "integer", 0),
        (b"$-1\r\n", "bulk string", 1),
        (b"$0\r\n\r\n", "bulk string", 0),
        (b"$4\r\n\r\n\r\n\r\n", "bulk string", 0),
        (b"*-1\r\n", "array", 1),
        (b"*0\r\n", "array", 0),
        (b"*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n", "array", 0),
        (b"_\r\n", "null", 1),
        (b"#t\r\n", "boolean", 0),
        (b",3.14\r\n", "double", 0),
        (b"(3492890328409238509324850943850943825024385\r\n", "big number", 0),
        (b"!5\r\nERR x\r\n", "bulk error", 2),
        (b"=7\r\ntxt:abc\r\n", "verbatim string", 0),
        (b"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", "map", 0),
        (b"~2\r\n+a\r\n+b\r\n", "set", 0),
        (b"|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|1\r\n+a\r\n*0\r\n:2\r\n", "array", 0),
    ] {
        for cut in 1..reply.len() {
            let mut it = Conversation::open(&store(), 50_000, 0);
            it.say(Client, &command(&["EVAL", "return 1", "0"]));
            it.say(ServerSide, &reply[..cut]);
            let end = it.say(ServerSide, &reply[cut..]);
            it.say(Client, &command(&["PING"]));
            let pong = it.say(ServerSide, b"+PONG\r\n");
            let results = results(&it);
            let expected = [("EVAL", Some(status), Some(end)), ("PING", Some(0), Some(pong))];
            assert_eq!(seen(&results), expected, "{} cut at {cut}", reply.escape_ascii());
            assert_eq!(results.kinds(ServerSide), [kind, "simple string"]);
        }
    }
}

#[test]
fn labels_are_names_and_nothing_else() {
    for (request, label) in [
        (command(&["config", "get", "maxmemory"]), "CONFIG GET"),
        (command(&["CLIENT", "secret"]), "CLIENT"),
        (command(&["HSET", "h", "get", "v"]), "HSET"),
        (command(&["secret", "words"]), "(unknown)"),
        (command(&["json.get", "k", "$.a"]), "JSON.GET"),
        (command(&["FT.SEARCH", "i", "@a:b"]), "FT.SEARCH"),
        (command(&["FT.CURSOR", "READ", "i", "7"]), "FT.CURSOR READ"),
        (command(&["TDIGEST.TRIMMED_MEAN", "t", "0", "1"]), "TDIGEST.TRIMMED_MEAN"),
        (command(&["VSIM", "v", "ELE", "e"]), "VSIM"),
        (command(&["JSON.SECRET", "k"]), "(unknown)"),
        (command(&["XINFO", "STREAM", "s"]), "XINFO STREAM"),
        (b"PING\r\n".to_vec(), "PING"),
        (b"set a b\r\n".to_vec(), "SET"),
        (b"\r\nget a\n".to_vec(), "GET"),
        (b"*0\r\n*1\r\n$4\r\nPING\r\n".to_vec(), "PING"),
    ] {
        let mut it = Conversation::open(&store(), 50_000, 0);
        it.say_in(Client, 7, &request);
        it.say(ServerSide, b"+OK\r\n");
        assert_eq!(results(&it).labels(), [label], "{}", request.escape_ascii());
    }
}

#[test]
fn passwords_are_not_even_hashed() {
    for words in [
        &["AUTH", "user", "password"][..],
        &["HELLO", "3", "AUTH", "user", "password"],
        &["CONFIG", "SET", "requirepass", "password"],
        &["ACL", "SETUSER", "user", ">password"],
    ] {
        let mut it = Conversation::open(&store(), 50_000, 0);
        it.say(Client, &command(words));
        it.say(ServerSide, b"+OK\r\n");
        assert_eq!(results(&it).visits[0].literals, [0; 0], "{words:?}");
    }
}

#[test]
fn commands_that_are_sent_on_are_answered_in_their_order() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    let all = [command(&["GET", "a"]), command(&["INCR", "n"]), command(&["GET", "b"])].concat();
    it.say_in(Client, 31, &all);
    let first = it.say(ServerSide, b"$1\r\nx\r\n:1");
    let last = it.say(ServerSide, b"\r\n$-1\r\n");
    let expected = [
        ("GET", Some(0), Some(first)),
        ("INCR", Some(0), Some(last)),
        ("GET", Some(1), Some(last)),
    ];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn a_transaction_is_answered_command_by_command() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    let all = [command(&["MULTI"]), command(&["INCR", "a"]), command(&["EXEC"])].concat();
    it.say(Client, &all);
    let end = it.say(ServerSide, b"+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
    it.say(Client, &command(&["EXEC"]));
    let failed = it.say(ServerSide, b"-ERR EXEC without MULTI\r\n");
    let expected = [
        ("MULTI", Some(0), Some(end)),
        ("INCR", Some(0), Some(end)),
        ("EXEC", Some(0), Some(end)),
        ("EXEC", Some(2), Some(failed)),
    ];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn what_is_published_is_no_reply() {
    for kind in ["*", ">"] {
        let mut it = Conversation::open(&store(), 50_000, 0);
        let confirmed = |what: &str, channel: &str, left: u8| {
            let word = |text: &str| String::from_utf8(bulk(text)).expect("text");
            format!("{kind}3\r\n{}{}:{left}\r\n", word(what), word(channel)).into_bytes()
        };
        let published =
            [format!("{kind}3\r\n").into_bytes(), bulk("message"), bulk("a"), bulk("hi")];
        it.say(Client, &command(&["SUBSCRIBE", "a", "b"]));
        it.say(ServerSide, &confirmed("subscribe", "a", 1));
        it.say(ServerSide, &published.concat());
        let subscribed = it.say(ServerSide, &confirmed("subscribe", "b", 2));
        it.say(ServerSide, &published.concat());
        it.say(Client, &command(&["PING"]));
        it.say(ServerSide, &published.concat());
        let pong = it.say(ServerSide, &[&b"*2\r\n"[..], &bulk("pong"), &bulk("")].concat());
        it.say(Client, &command(&["UNSUBSCRIBE"]));
        let left = it.say(ServerSide, &confirmed("unsubscribe", "a", 1));
        it.say(ServerSide, &confirmed("unsubscribe", "b", 0));
        // A list may have such a word in it.
        it.say(Client, &command(&["LRANGE", "list", "0", "1"]));
        let list = it.say(ServerSide, &[&b"*2\r\n"[..], &bulk("message"), &bulk("x")].concat());
        let expected = [
            ("SUBSCRIBE", Some(0), Some(subscribed)),
            ("PING", Some(0), Some(pong)),
            ("UNSUBSCRIBE", Some(0), Some(left)),
            ("LRANGE", Some(0), Some(list)),
        ];
        let results = results(&it);
        assert_eq!(seen(&results), expected, "{kind}");
        let sent = if kind == "*" { "array" } else { "push" };
        assert_eq!(results.kinds(ServerSide).iter().filter(|&&it| it == sent).count(), {
            if kind == "*" { 9 } else { 7 }
        });
    }
}

#[test]
fn a_word_of_subscribing_in_a_list_is_a_reply() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["LRANGE", "list", "0", "0"]));
    let end = it.say(ServerSide, &[&b"*1\r\n"[..], &bulk("subscribe")].concat());
    assert_eq!(seen(&results(&it)), [("LRANGE", Some(0), Some(end))]);
}

#[test]
fn a_monitor_is_told_of_others_without_asking() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["MONITOR"]));
    let end = it.say(ServerSide, b"+OK\r\n");
    it.say(ServerSide, b"+1339518083.107412 [0 127.0.0.1:60866] \"keys\" \"*\"\r\n");
    it.say(Client, &command(&["QUIT"]));
    it.say(ServerSide, b"+1339518087.877697 [0 127.0.0.1:60866] \"get\" \"x\"\r\n");
    let quit = it.say(ServerSide, b"+OK\r\n");
    let expected = [("MONITOR", Some(0), Some(end)), ("QUIT", Some(0), Some(quit))];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn a_client_that_wants_no_replies_has_none() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["CLIENT", "REPLY", "SKIP"]));
    it.say(Client, &command(&["SET", "a", "1"]));
    it.say(Client, &command(&["CLIENT", "REPLY", "OFF"]));
    it.say(Client, &command(&["SET", "a", "2"]));
    it.say(Client, &[command(&["CLIENT", "REPLY", "ON"]), command(&["GET", "a"])].concat());
    let end = it.say(ServerSide, b"+OK\r\n$1\r\n2\r\n");
    let expected = [
        ("CLIENT REPLY", None, None),
        ("SET", None, None),
        ("CLIENT REPLY", None, None),
        ("SET", None, None),
        ("CLIENT REPLY", Some(0), Some(end)),
        ("GET", Some(0), Some(end)),
    ];
    assert_eq!(seen(&results(&it)), expected);
}

#[test]
fn a_loss_within_a_string_costs_nothing() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    let request = command(&["SET", "a", &"v".repeat(8_000)]);
    it.send(Client, &request[..1_000]);
    it.lose(Client, &request[1_000..7_000]);
    it.say(Client, &request[7_000..]);
    it.say(ServerSide, b"+OK\r\n");
    it.say(Client, &command(&["MGET", "a", "b"]));
    let reply = [&b"*2\r\n"[..], &bulk(&"v".repeat(8_000)), b"$-1\r\n"].concat();
    it.send(ServerSide, &reply[..1_000]);
    it.lose(ServerSide, &reply[1_000..8_013]);
    let end = it.say(ServerSide, &reply[8_013..]);
    let results = results(&it);
    assert_eq!(seen(&results)[1], ("MGET", Some(0), Some(end)));
    assert_eq!(results.visits[0].bytes.0, request.len() as i64);
}

#[test]
fn the_rest_of_an_array_is_not_taken_for_replies() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["LRANGE", "l", "0", "9"]));
    it.send(ServerSide, b"*4\r\n$1\r\na\r\n");
    it.lose(ServerSide, b"$1\r\nb\r\n");
    it.say(ServerSide, b"$1\r\nc\r\n");
    it.say(ServerSide, b"$1\r\nd\r\n");
    it.say(Client, &command(&["PING"]));
    let end = it.say(ServerSide, b"+PONG\r\n");
    let results = results(&it);
    assert_eq!(seen(&results), [("LRANGE", None, None), ("PING", Some(0), Some(end))]);
    assert_eq!(results.kinds(ServerSide), ["simple string"]);
}

#[test]
fn a_reply_is_not_taken_for_one_that_was_lost_with_its_command() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.lose(Client, &command(&["GET", "a"]));
    it.ack(ServerSide);
    it.say(ServerSide, b"$1\r\nx\r\n");
    it.say(Client, &command(&["GET", "b"]));
    let end = it.say(ServerSide, b"$-1\r\n");
    assert_eq!(seen(&results(&it)), [("GET", Some(1), Some(end))]);
}

#[test]
fn a_conversation_is_taken_up_in_the_middle() {
    let mut it = Conversation::silent(&store(), 50_000, 0);
    it.say(ServerSide, b"+OK\r\n");
    it.say(Client, b"the rest of a value\r\n");
    it.say(Client, &command(&["GET", "a"]));
    let end = it.say(ServerSide, b"$-1\r\n");
    assert_eq!(seen(&results(&it)), [("GET", Some(1), Some(end))]);
}

#[test]
fn what_is_another_protocol_is_named() {
    for (bytes, reason) in [
        (b"\x16\x03\x01\x02\0\x01".to_vec(), "tls"),
        (b"\x01\x02\x03\n".to_vec(), "unknown"),
        (b"*x\r\n".to_vec(), "unknown"),
    ] {
        let mut it = Conversation::open(&store(), 50_000, 0);
        it.say(Client, &bytes);
        it.say(ServerSide, b"-ERR\r\n");
        let results = results(&it);
        assert_eq!(results.happened(), [EventKind::Opaque { reason }]);
        assert_eq!(results.labels(), [reason]);
    }
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["PSYNC", "?", "-1"]));
    it.say(ServerSide, b"+FULLRESYNC x 0\r\n");
    assert_eq!(results(&it).happened(), [EventKind::Opaque { reason: "replication" }]);
}

/// For other tests: a conversation with everything in it.
pub fn example() -> Vec<Frame> {
    let mut it = Conversation::open(&store(), 50_000, 0);
    it.say(Client, &command(&["HELLO", "3"]));
    it.say(ServerSide, b"%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n");
    let all = [command(&["SET", "a", "hello"]), command(&["MGET", "a", "b"])].concat();
    it.say_in(Client, 30, &all);
    it.say_in(ServerSide, 9, b"+OK\r\n*2\r\n$5\r\nhello\r\n_\r\n");
    it.say(Client, b"get a\r\n");
    it.say(ServerSide, b"$5\r\nhello\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n");
    it.say(Client, &command(&["SUBSCRIBE", "c"]));
    it.say(ServerSide, b">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    it.frames
}

#[test]
fn a_blocking_command_tells_how_long_its_client_would_wait() {
    let mut it = Conversation::open(&store(), 50_000, 0);
    let request = command(&["BLPOP", "jobs", "mails", "1.5"]);
    it.say_in(Client, 7, &request);
    it.say(ServerSide, b"*-1\r\n");
    it.say(Client, &command(&["GET", "1.5"]));
    it.say(ServerSide, b"$-1\r\n");
    it.say(Client, b"BRPOP jobs 0\r\n");
    let results = results(&it);
    let waits: Vec<_> = results.visits.iter().map(|it| (&it.label[..], it.may_wait_ns)).collect();
    let due = Some(1_600_000_000);
    assert_eq!(waits, [("BLPOP", due), ("GET", None), ("BRPOP", Some(i64::MAX))]);
}
