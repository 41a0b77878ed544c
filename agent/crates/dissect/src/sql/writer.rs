//! Writes a digest, token by token: literals and names that clients make up become `?`, a list of
//! literals `(?+)`, a list of such lists one of them.

use super::head::Head;

/// A digest is not made longer than this many bytes.
pub(super) const LONGEST: usize = 1_000;

/// A list of literals, however long.
pub(super) const LIST: &str = "(?+)";

pub(super) struct Writer<'a> {
    label: &'a mut String,
    head: Head,
    /// White space came since the last token.
    space: bool,
    /// Where a parenthesis opened that holds nothing but literals so far.
    list: Option<usize>,
    /// So many parentheses are open, and where the outermost opened.
    open: usize,
    outermost: usize,
}

impl<'a> Writer<'a> {
    /// Goes on behind what is in `label`.
    pub(super) fn new(label: &'a mut String) -> Self {
        Self { label, head: Head::First, space: false, list: None, open: 0, outermost: 0 }
    }
}

impl Writer<'_> {
    /// White space comes.
    pub(super) fn space(&mut self) {
        self.space = true;
    }

    /// Nothing of what follows is in the digest.
    pub(super) fn is_full(&self) -> bool {
        self.label.len() > LONGEST
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
    }

    /// A keyword or a name comes.
    pub(super) fn word(&mut self, word: &[u8]) {
        if self.head.is_made_up(word) {
            return self.literal();
        }
        self.separate();
        self.list = None;
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
        match sign {
            b',' => {
                self.space = false;
                self.put(',');
                self.put(' ');
            }
            b'(' => {
                self.separate();
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
            }
            _ => {
                // A sign before a literal leaves a list a list.
                if !matches!(sign, b'-' | b'+' | b'?') {
                    self.list = None;
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
