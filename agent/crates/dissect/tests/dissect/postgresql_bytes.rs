//! PostgreSQL's messages, laid out as its documentation shows them.

/// A message: its type, its length, its content.
pub fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind], &(content.len() as u32 + 4).to_be_bytes()[..], content].concat()
}

/// A startup packet: its length, a version or code, its content.
pub fn startup(code: u32, content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32 + 8).to_be_bytes()[..], &code.to_be_bytes(), content].concat()
}

pub const VERSION: u32 = 3 << 16;
pub const CANCEL: u32 = 80_877_102;
pub const TLS: u32 = 80_877_103;
pub const GSSAPI: u32 = 80_877_104;

pub fn text(value: &str) -> Vec<u8> {
    [value.as_bytes(), b"\0"].concat()
}

pub fn login() -> Vec<u8> {
    startup(VERSION, b"user\0me\0database\0rubis\0\0")
}

pub fn query(sql: &str) -> Vec<u8> {
    message(b'Q', &text(sql))
}

pub fn parse(name: &str, sql: &str) -> Vec<u8> {
    message(b'P', &[text(name), text(sql), vec![0, 0]].concat())
}

/// Values as text.
pub fn bind(portal: &str, statement: &str, values: &[&str]) -> Vec<u8> {
    let mut content = [text(portal), text(statement), vec![0, 0]].concat();
    content.extend((values.len() as u16).to_be_bytes());
    for value in values {
        content.extend((value.len() as u32).to_be_bytes());
        content.extend(value.as_bytes());
    }
    content.extend([0, 0]);
    message(b'B', &content)
}

pub fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[vec![kind], text(name)].concat())
}

pub fn execute(portal: &str) -> Vec<u8> {
    message(b'E', &[text(portal), vec![0; 4]].concat())
}

pub fn close(kind: u8, name: &str) -> Vec<u8> {
    message(b'C', &[vec![kind], text(name)].concat())
}

pub fn sync() -> Vec<u8> {
    message(b'S', b"")
}

pub fn flush() -> Vec<u8> {
    message(b'H', b"")
}

/// Parse, Bind, Describe, Execute and Sync, as drivers send them.
pub fn extended(sql: &str, values: &[&str]) -> Vec<u8> {
    [parse("", sql), bind("", "", values), describe(b'P', ""), execute(""), sync()].concat()
}

pub fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &text(tag))
}

pub fn columns() -> Vec<u8> {
    message(b'T', &[&[0, 1][..], b"a\0", &[0; 18]].concat())
}

pub fn row(value: &[u8]) -> Vec<u8> {
    message(b'D', &[&[0, 1][..], &(value.len() as u32).to_be_bytes(), value].concat())
}

pub fn rows(count: usize, value: &[u8]) -> Vec<u8> {
    row(value).repeat(count)
}

/// The whole reply to a query for rows.
pub fn result(count: usize, value: &[u8]) -> Vec<u8> {
    [columns(), rows(count, value), complete("SELECT 1"), ready(b'I')].concat()
}

pub fn error(sqlstate: &str, severity: &str) -> Vec<u8> {
    let fields = format!("S{severity}\0V{severity}\0C{sqlstate}\0Mwhat was wrong\0\0");
    message(b'E', fields.as_bytes())
}

/// What each Parse, Bind, Close and Describe of a statement without rows is answered with.
pub const PARSED: &[u8] = b"1\0\0\0\x04";
pub const BOUND: &[u8] = b"2\0\0\0\x04";
pub const CLOSED: &[u8] = b"3\0\0\0\x04";
pub const NO_DATA: &[u8] = b"n\0\0\0\x04";
/// That of a statement with one parameter.
pub const PARAMETERS: &[u8] = b"t\0\0\0\x0a\0\x01\0\0\0\x17";

/// Questions and answers of a login by password, to the first ReadyForQuery.
pub fn logged_in(key: &[u8; 4]) -> Vec<u8> {
    [
        message(b'R', &[0; 4]),
        message(b'S', b"server_version\x0015.9\0"),
        message(b'K', &[&[0, 0, 1, 1], &key[..]].concat()),
        ready(b'I'),
    ]
    .concat()
}
