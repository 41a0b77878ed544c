//! Writes a digest, token by token: literals and names that clients make up become `?`, a list of
//! literals `(?+)`, a list of such lists one of them.

use super::head::Head;
use super::typed::{self, Cast};

/// A digest is not made longer than this many bytes.
pub(super) const LONGEST: usize = 1_000;

/// A list of literals, however long.
pub(super) const LIST: &str = "(?+)";

pub(super) struct Writer<'a> {
    label: &'a mut String,
    head: Head,
    /// White space came since the last token.
    space: bool,
    /// The last sign, if nothing came behind it.
    before: u8,
    /// Where a parenthesis opened that holds nothing but literals so far.
    list: Option<usize>,
    /// The same of the list that the parentheses of a type are in.
    around: Option<usize>,
    cast: Cast,
    /// So many parentheses are open, and where the outermost opened.
    open: usize,
    outermost: usize,
}

impl<'a> Writer<'a> {
    /// Goes on behind what is in `label`.
    pub(super) fn new(label: &'a mut String) -> Self {
        let (head, cast) = (Head::First, Cast::Other);
        let (list, around) = (None, None);
        Self { label, head, space: false, before: 0, list, around, cast, open: 0, outermost: 0 }
    }
}

impl Writer<'_> {
    /// White space comes.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Nothing of what follows is in the digest. A list becomes short as it ends.
    pub(super) fn is_full(&self) -> bool {
        self.label.len() > LONGEST && self.list.or(self.around).is_none()
    }

    /// The statement is over.
    pub(super) fn end(&mut self) {
        if self.label.ends_with(';') {
            self.label.pop();
        }
    }

    /// The statement goes on unseen, in the middle of a literal or of something else. An open row of
    /// several goes, as it is like those before; a list ends as if it were whole.
    pub(super) fn cut(&mut self, in_literal: bool) {
        if in_literal {
            self.literal();
        }
        self.list = self.around.take().or(self.list);
        let before = self.label.get(..self.outermost).unwrap_or_default();
        match self.list {
            _ if self.open > 0 && before.ends_with("), ") => self.label.truncate(self.outermost),
            Some(start) if self.label.len() < start + 2 => self.label.truncate(start),
            Some(_) => self.close(),
            None => {}
        }
        self.label.truncate(self.label.trim_end_matches([',', ' ']).len());
    }

    fn separate(&mut self) {
        let open = self.label.is_empty() || self.label.ends_with(['(', ' ']);
        if self.space && !open {
            self.label.push(' ');
        }
        self.space = false;
    }

    /// A literal comes.
    pub(super) fn literal(&mut self) {
        self.separate();
        self.put('?');
        self.before = 0;
        self.cast = Cast::Literal;
    }

    /// A keyword or a name comes, and then `rest`.
    pub(super) fn word(&mut self, word: &[u8], rest: &[u8]) {
        let is_made_up = self.head.is_made_up(word);
        let may_be_value = matches!(self.before, b'(' | b',' | b'=') && self.head.has_values();
        if is_made_up || (may_be_value && typed::is_value(word, rest)) {
            return self.literal();
        }
        self.separate();
        self.before = 0;
        let is_of_cast = self.cast.word(word);
        self.list = self.list.filter(|_| is_of_cast || typed::is_before_string(word, rest));
        if let Ok(text) = str::from_utf8(word)
            && text.is_ascii()
            && self.label.len() + text.len() <= LONGEST
        {
            self.label.push_str(text);
            return;
        }
        for &byte in word {
            self.put(if byte.is_ascii() && !byte.is_ascii_control() { byte as char } else { '?' });
        }
    }

    /// Any other character comes.
    pub(super) fn sign(&mut self, sign: u8) {
        self.before = sign;
        match sign {
            b',' => {
                self.cast = Cast::Other;
                self.space = false;
                self.put(',');
                self.put(' ');
            }
            b'(' => {
                self.separate();
                self.around = self.list.filter(|_| self.cast == Cast::Named);
                self.cast = Cast::Other;
                self.list = Some(self.label.len());
                if self.open == 0 {
                    self.outermost = self.label.len();
                }
                self.open += 1;
                self.put('(');
            }
            b')' => {
                self.space = false;
                self.open = self.open.saturating_sub(1);
                self.close();
                self.list = self.around.take();
                self.cast = if self.list.is_some() { Cast::Named } else { Cast::Other };
            }
            _ => {
                // A sign before a literal leaves a list a list.
                if !self.cast.sign(sign) && !matches!(sign, b'-' | b'+' | b'?') {
                    self.list = None;
                }
                if sign == b'?' {
                    self.cast = Cast::Literal;
                }
                if sign == b';' {
                    self.head = Head::First;
                }
                self.separate();
                self.put(if sign.is_ascii_graphic() { sign as char } else { '?' });
            }
        }
    }

    fn close(&mut self) {
        let Some(start) = self.list.take() else { return self.put(')') };
        if self.label.get(start..).is_none_or(|list| list.len() < 2) {
            return self.put(')');
        }
        self.label.truncate(start);
        if self.label.ends_with("(?+), ") {
            self.label.truncate(start - 2);
        } else {
            self.label.push_str(LIST);
        }
    }

    fn put(&mut self, character: char) {
        if self.label.len() <= LONGEST {
            self.label.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest_of;

    /// A statement with a list of so many of these values, again and again.
    fn listed(before: &str, values: &[&str], count: usize) -> String {
        let all: Vec<&str> = values.iter().copied().cycle().take(count).collect();
        format!("{before} ({}) AND b = 1", all.join(","))
    }

    #[test]
    fn a_list_has_one_digest_whatever_literals_are_in_it() {
        for values in [
            &["1", "NULL", "-2", "default", "TRUE"][..],
            &["$1::INTEGER"],
            &["'a'::uuid", "NULL::\"T\"", "'b'::public.t", "'c'::text::int"],
            &["1::numeric(10, 2)", "2::numeric (10)", "'{}'::int[]", "3::geometry(Point, 1)"],
            &["'1'::double precision", "'1'::timestamp(3) with time zone"],
            &["_binary'a'", "_utf8mb4 'b'", "DATE '1'", "timestamp '2'", "INTERVAL '3'"],
        ] {
            for count in [1, 2, 40, 400] {
                let sql = listed("SELECT a FROM t WHERE a IN", values, count);
                let expected = "SELECT a FROM t WHERE a IN (?+) AND b = ?";
                assert_eq!(digest_of(&sql), expected, "{count} of {values:?}");
            }
        }
    }

    #[test]
    fn rows_have_one_digest_wherever_their_nulls_are() {
        let rows = ["(1,NULL,'x')", "(NULL,2,DEFAULT)", "(3, 'y', FALSE)"];
        for count in [1, 2, 3, 50] {
            let all: Vec<&str> = rows.into_iter().cycle().take(count).collect();
            let sql = format!("INSERT INTO t (a, b, c) VALUES {}", all.join(", "));
            assert_eq!(digest_of(&sql), "INSERT INTO t (a, b, c) VALUES (?+)");
        }
    }

    #[test]
    fn null_and_default_are_values_where_a_literal_may_stand() {
        for (sql, expected) in [
            ("UPDATE t SET a='x', b=NULL, c = DEFAULT", "UPDATE t SET a=?, b=?, c = ?"),
            ("SELECT f(NULL, a)", "SELECT f(?, a)"),
        ] {
            assert_eq!(digest_of(sql), expected);
        }
        for sql in [
            "SELECT a FROM t WHERE a IS NULL",
            "SELECT a FROM t WHERE a IS NOT NULL",
            "SELECT a, null_1 FROM t",
            "INSERT INTO t VALUES (DEFAULT(a))",
            "CREATE TABLE t (a INT DEFAULT NULL, b INT NOT NULL), DEFAULT CHARSET=utf8",
        ] {
            assert_eq!(digest_of(sql), sql);
        }
        assert_eq!(
            digest_of("COPY t FROM STDIN (FORMAT csv, NULL 'x')"),
            "COPY t FROM STDIN (FORMAT csv, NULL ?)"
        );
    }

    #[test]
    fn a_cast_of_what_is_no_literal_ends_a_list() {
        for sql in ["SELECT (a::int)", "SELECT f(?::int, a::int)", "SELECT (date)", "SELECT (?:a)"]
        {
            assert_eq!(digest_of(sql), sql);
        }
    }
}
