//! The words with which the server answers in the text protocol.

use super::status;
use crate::Salt;
use crate::decimal::decimal;

/// What a reply says, as far as it tells whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    End,
    Stored,
    NotStored,
    Exists,
    NotFound,
    Deleted,
    Touched,
    Number,
    /// An order was carried out, or its answer is in one line.
    Done,
    Error,
    /// VA, HD, EN, NF, NS, EX, MN and ME of the meta commands.
    Value,
    Header,
    Miss,
    MetaNotFound,
    MetaNotStored,
    MetaExists,
    Noop,
    Debug,
}

/// A reply, and what it gives back of its command: hashes as in [`super::command::Asked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub word: Word,
    pub opaque: Option<u64>,
    pub key: Option<u64>,
}

/// A line of the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// An item, with so many bytes of data behind it; more of the reply follows.
    Item(u64),
    /// More of the reply follows.
    Goes,
    /// It ends the reply, with the line's word, status and name. So many bytes of data belong to it.
    Last { word: Word, status: i32, name: &'static str, data: Option<u64> },
    /// Nobody asked for it: a line of a log that is watched.
    Log,
}

/// Words that are the whole reply, or begin it.
const WORDS: [(&str, Word, i32); 26] = [
    ("END", Word::End, status::OK),
    ("STORED", Word::Stored, status::OK),
    ("NOT_STORED", Word::NotStored, status::NOT_STORED),
    ("EXISTS", Word::Exists, status::KEY_EXISTS),
    ("NOT_FOUND", Word::NotFound, status::KEY_NOT_FOUND),
    ("DELETED", Word::Deleted, status::OK),
    ("TOUCHED", Word::Touched, status::OK),
    ("HD", Word::Header, status::OK),
    ("EN", Word::Miss, status::KEY_NOT_FOUND),
    ("NF", Word::MetaNotFound, status::KEY_NOT_FOUND),
    ("NS", Word::MetaNotStored, status::NOT_STORED),
    ("EX", Word::MetaExists, status::KEY_EXISTS),
    ("MN", Word::Noop, status::OK),
    ("ME", Word::Debug, status::OK),
    ("OK", Word::Done, status::OK),
    ("RESET", Word::Done, status::OK),
    ("VERSION", Word::Done, status::OK),
    ("BUSY", Word::Done, status::INTERNAL_ERROR),
    ("BADCLASS", Word::Done, status::INVALID_ARGUMENTS),
    ("NOSPARE", Word::Done, status::INTERNAL_ERROR),
    ("NOTFULL", Word::Done, status::INTERNAL_ERROR),
    ("UNSAFE", Word::Done, status::INTERNAL_ERROR),
    ("SAME", Word::Done, status::INVALID_ARGUMENTS),
    ("CLIENT_ERROR", Word::Error, status::INVALID_ARGUMENTS),
    ("SERVER_ERROR", Word::Error, status::INTERNAL_ERROR),
    ("ERROR", Word::Error, status::UNKNOWN_COMMAND),
];

/// Reads a line; none if it is not the server's.
pub(super) fn read(line: &[u8]) -> Option<Said> {
    let word = line.split(|&byte| byte == b' ').next()?;
    let word = word.strip_suffix(b":").unwrap_or(word);
    match word {
        b"VALUE" => return nth_number(line, 3).map(Said::Item),
        b"VA" => {
            let data = nth_number(line, 1)?;
            let (word, status, name) = (Word::Value, status::OK, "VA");
            return Some(Said::Last { word, status, name, data: Some(data) });
        }
        b"STAT" | b"ITEM" | b"PREFIX" => return Some(Said::Goes),
        _ => {}
    }
    if let Some(&(name, word, status)) = WORDS.iter().find(|it| it.0.as_bytes() == word) {
        let status = if word == Word::Error { error(line, status) } else { status };
        return Some(Said::Last { word, status, name, data: None });
    }
    // An item's number may have blanks behind it, which fill the place of a longer one.
    let digits = line.trim_ascii_end();
    if (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        let (word, status) = (Word::Number, status::OK);
        return Some(Said::Last { word, status, name: "number", data: None });
    }
    if line.starts_with(b"key=") {
        return Some(Said::Goes);
    }
    line.starts_with(b"ts=").then_some(Said::Log)
}

/// What a meta command's reply gives back.
pub(super) fn told(line: &[u8], word: Word, salt: &Salt) -> Told {
    let mut told = Told { word, opaque: None, key: None };
    let flags_from = match word {
        Word::Value => 2,
        Word::Header | Word::MetaNotFound | Word::MetaNotStored | Word::MetaExists => 1,
        _ => return told,
    };
    for flag in line.split(|&byte| byte == b' ').skip(flags_from) {
        match flag {
            [b'O', token @ ..] => told.opaque = Some(salt.hash(token)),
            [b'k', key @ ..] => told.key = Some(salt.hash(key)),
            _ => {}
        }
    }
    told
}

/// True if a packet that begins so begins with a line of a reply.
pub(super) fn looks_like_reply(bytes: &[u8]) -> bool {
    match memchr::memchr(b'\n', bytes) {
        Some(end) => {
            let line = &bytes[..end];
            read(line.strip_suffix(b"\r").unwrap_or(line)).is_some()
        }
        None => bytes.starts_with(b"VALUE ") || bytes.starts_with(b"STAT "),
    }
}

fn nth_number(line: &[u8], at: usize) -> Option<u64> {
    decimal(line.split(|&byte| byte == b' ').nth(at)?)
}

fn error(line: &[u8], status: i32) -> i32 {
    if line.starts_with(b"SERVER_ERROR out of memory") {
        status::OUT_OF_MEMORY
    } else if line.starts_with(b"SERVER_ERROR object too large") {
        status::TOO_LARGE
    } else {
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        let last = |line: &[u8]| match read(line) {
            Some(Said::Last { word, status, data, .. }) => Some((word, status, data)),
            _ => None,
        };
        assert_eq!(read(b"VALUE a 0 10"), Some(Said::Item(10)));
        assert_eq!(read(b"VALUE a 0 10 77"), Some(Said::Item(10)));
        assert_eq!(read(b"VALUE a 0 x"), None);
        assert_eq!(read(b"STAT pid 7"), Some(Said::Goes));
        assert_eq!(last(b"VA 3 f0"), Some((Word::Value, 0, Some(3))));
        assert_eq!(last(b"17  "), Some((Word::Number, 0, None)));
        assert_eq!(last(b"ERROR: shutdown not enabled"), Some((Word::Error, 0x81, None)));
        assert_eq!(last(b"SERVER_ERROR object too large for cache"), Some((Word::Error, 3, None)));
        assert_eq!(last(b"NOT_FOUND"), Some((Word::NotFound, 1, None)));
        assert_eq!(read(b"some of a value"), None);
    }
}
