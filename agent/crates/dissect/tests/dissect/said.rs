//! How each protocol says a random turn.

use crate::mysql_bytes::{
    BASIC, DEPRECATE_EOF, eof, greeting, login, ok, packet, packets, query, result_set,
};
use crate::played::Turn;
use crate::support::{Conversation, Seen, salt};
use crate::{fastcgi, http2, postgresql_bytes, redis};
use tierlab_dissect::Protocol;
use tierlab_dissect::Side::{Client, Server as ServerSide};

pub fn log_in(protocol: Protocol, it: &mut Conversation) {
    match protocol {
        Protocol::Mysql => {
            it.say(ServerSide, &greeting(b"abcdefghijklmnopqrst", BASIC));
            it.say(Client, &login(BASIC & !DEPRECATE_EOF));
            it.say(ServerSide, &packet(2, &ok(0, 0)));
        }
        Protocol::Postgresql => {
            it.say(Client, &postgresql_bytes::login());
            it.say(ServerSide, &postgresql_bytes::logged_in(b"keys"));
        }
        Protocol::Http2 => http2::begin(it),
        _ => {}
    }
}

/// What tells one turn's visit from others: its label or, where that has no name, the name's hash.
pub fn mark(protocol: Protocol, name: &str) -> String {
    match protocol {
        Protocol::Mysql | Protocol::Postgresql => format!("SELECT {name} FROM t WHERE a = ?"),
        Protocol::Memcached | Protocol::Redis => salt().hash(name.as_bytes()).to_string(),
        _ => format!("GET /{name}"),
    }
}

/// The same of a visit.
pub fn mark_of(protocol: Protocol, visit: &Seen) -> String {
    match protocol {
        Protocol::Memcached | Protocol::Redis => {
            visit.literals.first().map_or_else(|| visit.label.clone(), u64::to_string)
        }
        _ => visit.label.clone(),
    }
}

/// The turn of this number, of a conversation from its beginning.
pub fn messages(protocol: Protocol, number: usize, turn: &Turn, name: &str) -> (Vec<u8>, Vec<u8>) {
    match protocol {
        Protocol::Http1 => {
            let filling = "f".repeat(turn.request);
            let request = format!("GET /{name} HTTP/1.1\r\nX-Filling: {filling}\r\n\r\n");
            let content = "x".repeat(turn.reply);
            let reply = if turn.chunked {
                let (first, second) = content.split_at(turn.reply / 2);
                let chunk = |it: &str| match it.len() {
                    0 => String::new(),
                    length => format!("{length:x}\r\n{it}\r\n"),
                };
                let chunks = chunk(first) + &chunk(second);
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
            } else {
                let length = content.len();
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{content}")
            };
            (request.into_bytes(), reply.into_bytes())
        }
        Protocol::Ajp13 => {
            let filling = "f".repeat(turn.request);
            (crate::ajp13::get(&format!("/{name}"), &filling), crate::ajp13::reply(turn.reply))
        }
        Protocol::Fastcgi => {
            let filling = "f".repeat(turn.request);
            (fastcgi::get(1, &format!("/{name}"), &filling), fastcgi::reply(1, turn.reply))
        }
        Protocol::Http2 => {
            let (stream, filling) = (2 * number as u32 + 1, "f".repeat(turn.request));
            let request = http2::get(stream, &format!("/{name}"), &filling);
            (request, http2::reply(stream, turn.reply))
        }
        Protocol::Postgresql => {
            let (filling, rows) = ("f".repeat(turn.request), turn.reply / 50);
            // `chunked` tells one way of two to say the same.
            if turn.chunked {
                let statement = format!("SELECT {name} FROM t WHERE a = $1");
                let reply = postgresql_bytes::result(rows, &[b'r'; 43]);
                let answered = [postgresql_bytes::PARSED, postgresql_bytes::BOUND, &reply].concat();
                return (postgresql_bytes::extended(&statement, &[&filling]), answered);
            }
            let statement = format!("SELECT {name} FROM t WHERE a = '{filling}'");
            (postgresql_bytes::query(&statement), postgresql_bytes::result(rows, &[b'r'; 43]))
        }
        // `chunked` tells one command of two.
        Protocol::Memcached if turn.chunked => {
            let value = "x".repeat(turn.reply);
            let reply = format!("VALUE {name} 0 {}\r\n{value}\r\nEND\r\n", turn.reply);
            (format!("get {name}\r\n").into_bytes(), reply.into_bytes())
        }
        Protocol::Memcached => {
            let value = "x".repeat(turn.request);
            let request = format!("set {name} 0 0 {}\r\n{value}\r\n", turn.request);
            (request.into_bytes(), b"STORED\r\n".to_vec())
        }
        Protocol::Redis if turn.chunked => {
            let value = redis::bulk(&"x".repeat(turn.reply / 3));
            let reply = [b"*3\r\n", &value[..], &value, &value].concat();
            (redis::command(&["HVALS", name]), reply)
        }
        Protocol::Redis => {
            let value = "x".repeat(turn.request);
            (redis::command(&["SET", name, &value]), redis::bulk(&"x".repeat(turn.reply)))
        }
        _ => {
            let filling = "f".repeat(turn.request);
            let statement = format!("SELECT {name} FROM t WHERE a = '{filling}'");
            let rows = turn.reply / 50;
            let row = [&[49_u8][..], &[b'r'; 49]].concat();
            let mut payloads = result_set(rows, &row, false, 0);
            let last = payloads.len() - 1;
            payloads[last] = eof(0);
            (query(&statement), packets(1, &payloads))
        }
    }
}
