//! Where a reply ends: values of RESP2 and RESP3, nested as they are.

use crate::decimal::decimal;

/// Values are not nested deeper; Redis' own are no deeper than 10.
const DEEPEST: usize = 32;

/// A longer string, or a larger array, is none (`proto-max-bulk-len`, and what fits in memory).
const LONGEST: u64 = 1 << 32;

/// What a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// The line is the value.
    Whole,
    /// So many bytes and a line end follow.
    String(u64),
    /// So many values follow.
    Values(u64),
    /// So many values follow, and then the one that they are about.
    Attributes(u64),
}

/// Reads a line with which a value begins; none if it is no such line.
pub(super) fn begun(line: &[u8]) -> Option<Begun> {
    let (&kind, rest) = line.split_first()?;
    Some(match kind {
        b'+' | b'-' | b',' => Begun::Whole,
        b':' | b'(' if is_number(rest) => Begun::Whole,
        b'_' if rest.is_empty() => Begun::Whole,
        b'#' if matches!(rest, b"t" | b"f") => Begun::Whole,
        b'$' | b'*' if rest == b"-1" => Begun::Whole,
        b'$' | b'!' | b'=' => Begun::String(count(rest)?),
        b'*' | b'~' | b'>' => match count(rest)? {
            0 => Begun::Whole,
            values => Begun::Values(values),
        },
        b'%' | b'|' => match (count(rest)?, kind) {
            (0, b'%') => Begun::Whole,
            (pairs, b'%') => Begun::Values(2 * pairs),
            (pairs, _) => Begun::Attributes(2 * pairs),
        },
        _ => return None,
    })
}

/// A length that there may be.
pub(super) fn count(digits: &[u8]) -> Option<u64> {
    decimal(digits).filter(|&count| count <= LONGEST)
}

fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Values that have begun and are not over.
#[derive(Clone)]
pub(super) struct Nesting {
    open: [Open; DEEPEST],
    depth: usize,
}

/// A value that consists of others.
#[derive(Clone, Copy, Default)]
struct Open {
    left: u64,
    /// They are about the value behind them, and are not counted as one.
    is_about_next: bool,
}

/// Values are nested too deep.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooDeep;

impl Default for Nesting {
    fn default() -> Self {
        Self { open: [Open::default(); DEEPEST], depth: 0 }
    }
}

impl Nesting {
    /// Nothing has begun.
    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }

    /// How many are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// A value began that consists of so many others.
    pub(super) fn enter(&mut self, left: u64, is_about_next: bool) -> Result<(), TooDeep> {
        let place = self.open.get_mut(self.depth).ok_or(TooDeep)?;
        *place = Open { left, is_about_next };
        self.depth += 1;
        Ok(())
    }

    /// A value is over, with those that end with it. True if nothing is open any more.
    pub(super) fn over(&mut self) -> bool {
        while let Some(last) = self.depth.checked_sub(1) {
            let open = &mut self.open[last];
            open.left = open.left.saturating_sub(1);
            if open.left > 0 {
                return false;
            }
            self.depth = last;
            if open.is_about_next {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_tell_what_follows() {
        for (line, expected) in [
            (&b"+OK"[..], Some(Begun::Whole)),
            (b"-ERR no", Some(Begun::Whole)),
            (b":-17", Some(Begun::Whole)),
            (b":x", None),
            (b"$-1", Some(Begun::Whole)),
            (b"*-1", Some(Begun::Whole)),
            (b"$0", Some(Begun::String(0))),
            (b"=15", Some(Begun::String(15))),
            (b"*0", Some(Begun::Whole)),
            (b"%2", Some(Begun::Values(4))),
            (b"|1", Some(Begun::Attributes(2))),
            (b"~3", Some(Begun::Values(3))),
            (b"$99999999999", None),
            (b"$", None),
            (b"", None),
            (b"hello", None),
        ] {
            assert_eq!(begun(line), expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn what_is_nested_ends_with_its_last_value() {
        let mut nesting = Nesting::default();
        assert!(nesting.over(), "a value alone");
        nesting.enter(2, false).expect("room");
        nesting.enter(1, false).expect("room");
        assert!(!nesting.over(), "one of two");
        nesting.enter(2, true).expect("room");
        assert!(!nesting.over());
        assert!(!nesting.over(), "attributes count for nothing");
        assert_eq!(nesting.depth(), 1);
        assert!(nesting.over());
    }

    #[test]
    fn depth_is_bounded() {
        let mut nesting = Nesting::default();
        let entered = (0..100).take_while(|_| nesting.enter(1, false).is_ok()).count();
        assert_eq!(entered, DEEPEST);
        assert!(nesting.over());
    }
}
