//! How each protocol says a random turn.

use crate::mysql_bytes::{
    BASIC, DEPRECATE_EOF, eof, greeting, login, ok, packet, packets, query, result_set,
};
use crate::played::Turn;
use crate::support::Conversation;
use crate::{fastcgi, postgresql_bytes};
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
        _ => {}
    }
}

pub fn label(protocol: Protocol, name: &str) -> String {
    match protocol {
        Protocol::Mysql | Protocol::Postgresql => format!("SELECT {name} FROM t WHERE a = ?"),
        _ => format!("GET /{name}"),
    }
}

pub fn messages(protocol: Protocol, turn: &Turn, name: &str) -> (Vec<u8>, Vec<u8>) {
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
