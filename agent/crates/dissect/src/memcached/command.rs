//! The text protocol's commands: a line each, some with a data block behind it.

use super::reply::{Told, Word};
use super::status;
use crate::decimal::decimal;
use crate::literal::Literals;
use crate::pipeline::Awaits;
use crate::{Salt, key};

/// A longer key makes a command line a bad one.
const LONGEST_KEY: usize = 250;

/// What the reply to a command may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Get,
    Store,
    Delete,
    Arithmetic,
    Touch,
    Statistics,
    /// Orders to the server.
    Order,
    MetaGet,
    MetaSet,
    MetaDelete,
    MetaArithmetic,
    MetaNoop,
    MetaDebug,
    /// The server hangs up.
    Quit,
    Unknown,
}

/// What must be known of a command to read its reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub family: Family,
    /// The meta flag `q`: the usual outcome is not told.
    pub quiet: bool,
    /// Hashes of what the reply gives back: the meta flags `O` and, of a command with the flag `k`,
    /// its key.
    pub opaque: Option<u64>,
    pub key: Option<u64>,
}

/// A command line.
#[derive(Debug)]
pub(super) struct Command {
    pub name: &'static str,
    pub asked: Asked,
    pub literals: Literals,
    /// The length of the data block behind it, without its line end.
    pub data: Option<u64>,
    pub noreply: bool,
}

/// Where a command has what: its name, the place of its first key, and that of a data block's length.
struct Form {
    name: &'static str,
    family: Family,
    key: usize,
    data: Option<usize>,
}

const fn form(name: &'static str, family: Family, key: usize, data: Option<usize>) -> Form {
    Form { name, family, key, data }
}

/// No argument is a key.
const NO_KEY: usize = usize::MAX;

/// The usual ones first.
const FORMS: [Form; 37] = [
    form("get", Family::Get, 1, None),
    form("set", Family::Store, 1, Some(4)),
    form("gets", Family::Get, 1, None),
    form("mg", Family::MetaGet, 1, None),
    form("ms", Family::MetaSet, 1, Some(2)),
    form("add", Family::Store, 1, Some(4)),
    form("replace", Family::Store, 1, Some(4)),
    form("append", Family::Store, 1, Some(4)),
    form("prepend", Family::Store, 1, Some(4)),
    form("cas", Family::Store, 1, Some(4)),
    form("delete", Family::Delete, 1, None),
    form("incr", Family::Arithmetic, 1, None),
    form("decr", Family::Arithmetic, 1, None),
    form("touch", Family::Touch, 1, None),
    form("gat", Family::Get, 2, None),
    form("gats", Family::Get, 2, None),
    form("md", Family::MetaDelete, 1, None),
    form("ma", Family::MetaArithmetic, 1, None),
    form("mn", Family::MetaNoop, NO_KEY, None),
    form("me", Family::MetaDebug, 1, None),
    form("stats", Family::Statistics, NO_KEY, None),
    form("version", Family::Order, NO_KEY, None),
    form("flush_all", Family::Order, NO_KEY, None),
    form("verbosity", Family::Order, NO_KEY, None),
    form("cache_memlimit", Family::Order, NO_KEY, None),
    form("slabs", Family::Order, NO_KEY, None),
    form("lru", Family::Order, NO_KEY, None),
    form("lru_crawler", Family::Order, NO_KEY, None),
    form("watch", Family::Order, NO_KEY, None),
    form("refresh_certs", Family::Order, NO_KEY, None),
    form("extstore", Family::Order, NO_KEY, None),
    form("misbehave", Family::Order, NO_KEY, None),
    form("debugtime", Family::Order, NO_KEY, None),
    form("bget", Family::Get, 1, None),
    form("quit", Family::Quit, NO_KEY, None),
    form("shutdown", Family::Quit, NO_KEY, None),
    form("(unknown)", Family::Unknown, NO_KEY, None),
];

fn form_of(name: &[u8]) -> &'static Form {
    let (unknown, known) = FORMS.split_last().expect("there are some");
    known.iter().find(|form| form.name.as_bytes() == name).unwrap_or(unknown)
}

/// True if a packet that begins so begins with a command.
pub(super) fn looks_like_command(bytes: &[u8]) -> bool {
    let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let name = line.split(|&byte| byte == b' ').next().unwrap_or(line);
    form_of(name).family != Family::Unknown && line.iter().all(|byte| !byte.is_ascii_control())
}

/// Reads a command line, of which the end may be missing if it is very long.
pub(super) fn read(line: &[u8], salt: &Salt) -> Command {
    let words = || line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let form = form_of(words().next().unwrap_or_default());
    let keys = if matches!(form.family, Family::Get) { usize::MAX } else { 1 };
    let mut literals = Literals::default();
    let mut is_bad = false;
    if form.key != NO_KEY {
        for word in words().skip(form.key).take(keys) {
            is_bad |= word.len() > LONGEST_KEY;
            key::literals(word, salt, &mut literals);
            if literals.is_full() {
                break;
            }
        }
    }
    let data = form.data.filter(|_| !is_bad).and_then(|at| decimal(words().nth(at)?));
    let takes_noreply = !matches!(form.family, Family::Get | Family::Statistics | Family::Unknown);
    Command {
        name: form.name,
        asked: asked(form, words(), salt),
        literals,
        data,
        noreply: takes_noreply && line.ends_with(b" noreply"),
    }
}

fn asked<'a>(form: &Form, words: impl Iterator<Item = &'a [u8]>, salt: &Salt) -> Asked {
    let mut asked = Asked { family: form.family, quiet: false, opaque: None, key: None };
    let first_flag = match form.family {
        Family::MetaGet | Family::MetaDelete | Family::MetaArithmetic => 1,
        Family::MetaSet => 2,
        _ => return asked,
    };
    let mut words = words.skip(1);
    let key = words.next();
    for flag in words.skip(first_flag - 1) {
        match flag {
            [b'q', ..] => asked.quiet = true,
            [b'k', ..] => asked.key = key.map(|key| salt.hash(key)),
            [b'O', token @ ..] => asked.opaque = Some(salt.hash(token)),
            _ => {}
        }
    }
    asked
}

impl Awaits for Asked {
    type Told = Told;

    fn takes(&self, told: &Told) -> bool {
        let agrees =
            |mine: Option<u64>, its: Option<u64>| mine.zip(its).is_none_or(|(a, b)| a == b);
        fits(self.family, told.word)
            && !(self.quiet && is_usual(self.family, told.word))
            && agrees(self.opaque, told.opaque)
            && agrees(self.key, told.key)
    }

    fn silence(&self) -> Option<i32> {
        let usual = match self.family {
            Family::MetaGet => status::KEY_NOT_FOUND,
            _ => status::OK,
        };
        self.quiet.then_some(usual)
    }
}

/// True if a quiet command would not be told that.
fn is_usual(family: Family, word: Word) -> bool {
    match family {
        Family::MetaGet => word == Word::Miss,
        Family::MetaArithmetic => matches!(word, Word::Value | Word::Header),
        _ => word == Word::Header,
    }
}

/// True if a command may have that reply.
fn fits(family: Family, word: Word) -> bool {
    use Family::*;
    match word {
        Word::Error => true,
        Word::End => matches!(family, Get | Statistics | Order | Unknown),
        Word::Stored | Word::NotStored | Word::Exists => family == Store,
        Word::NotFound => matches!(family, Store | Delete | Arithmetic | Touch),
        Word::Deleted => family == Delete,
        Word::Touched => family == Touch,
        Word::Number => family == Arithmetic,
        Word::Done => matches!(family, Order | Statistics | Quit),
        Word::Value => matches!(family, MetaGet | MetaArithmetic),
        Word::Header => matches!(family, MetaGet | MetaSet | MetaDelete | MetaArithmetic),
        Word::Miss => matches!(family, MetaGet | MetaDebug),
        Word::MetaNotFound => matches!(family, MetaSet | MetaDelete | MetaArithmetic),
        Word::MetaNotStored => matches!(family, MetaSet | MetaArithmetic),
        Word::MetaExists => matches!(family, MetaSet | MetaDelete | MetaArithmetic),
        Word::Noop => family == MetaNoop,
        Word::Debug => family == MetaDebug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Command {
        read(line.as_bytes(), &Salt::new([1; 16]))
    }

    #[test]
    fn a_line_tells_what_follows_it() {
        for (line, name, data, noreply, literals) in [
            ("get a", "get", None, false, 1),
            ("get a b noreply", "get", None, false, 3),
            ("gat 60 a", "gat", None, false, 1),
            ("set a:1 0 0 5", "set", Some(5), false, 3),
            ("set a 0 0 5 noreply", "set", Some(5), true, 1),
            ("cas a 0 0 12 77 noreply", "cas", Some(12), true, 1),
            ("set a 0 0 -5", "set", None, false, 1),
            ("delete a noreply", "delete", None, true, 1),
            ("incr a 5", "incr", None, false, 1),
            ("ms a 2 T0", "ms", Some(2), false, 1),
            ("stats items", "stats", None, false, 0),
            ("flush_all noreply", "flush_all", None, true, 0),
            ("hello", "(unknown)", None, false, 0),
            ("", "(unknown)", None, false, 0),
        ] {
            let it = of(line);
            let seen = (it.name, it.data, it.noreply, it.literals.hashes().len());
            assert_eq!(seen, (name, data, noreply, literals), "{line}");
        }
    }

    #[test]
    fn a_key_that_is_too_long_makes_no_data_block() {
        assert_eq!(of(&format!("set {} 0 0 5", "k".repeat(251))).data, None);
        assert_eq!(of(&format!("set {} 0 0 5", "k".repeat(250))).data, Some(5));
    }

    #[test]
    fn meta_flags_tell_what_comes_back() {
        let salt = Salt::new([1; 16]);
        let asked = of("mg a v q k O77").asked;
        assert!(asked.quiet);
        assert_eq!((asked.key, asked.opaque), (Some(salt.hash(b"a")), Some(salt.hash(b"77"))));
        let asked = of("ms quick 2 T0").asked;
        assert!(!asked.quiet && asked.key.is_none() && asked.opaque.is_none());
    }
}
