//! How long a client lets the server wait for something to come: a blocking command's timeout.

/// Waits end at the server's pace: it looks for those that are over as often as `hz` says, ten times
/// a second unless configured otherwise.
const PACE_NS: i64 = 100_000_000;

const SECOND_NS: f64 = 1e9;
const MILLISECOND_NS: f64 = 1e6;

/// Where a command has its timeout.
#[derive(Clone, Copy)]
enum Place {
    /// It is the first argument.
    First,
    /// It is the last one.
    Last,
    /// It is behind BLOCK, which is one of the options before STREAMS.
    Option,
    /// No more of it is to come.
    Read,
}

/// The wait that a command asks for, as far as it was read.
pub(super) struct Wait {
    place: Place,
    unit_ns: f64,
    /// So many words are no options.
    passed: u8,
    ns: Option<i64>,
}

impl Wait {
    /// What a command of this name may ask for; none if it is answered at once.
    pub(super) fn of(command: &str) -> Option<Self> {
        let (place, unit_ns) = match command {
            "BLMOVE" | "BLPOP" | "BRPOP" | "BRPOPLPUSH" | "BZPOPMAX" | "BZPOPMIN" => {
                (Place::Last, SECOND_NS)
            }
            "BLMPOP" | "BZMPOP" => (Place::First, SECOND_NS),
            "WAIT" | "WAITAOF" => (Place::Last, MILLISECOND_NS),
            "XREAD" | "XREADGROUP" => (Place::Option, MILLISECOND_NS),
            _ => return None,
        };
        Some(Self { place, unit_ns, passed: 0, ns: None })
    }

    /// Takes the command's next argument; none if it was not seen whole.
    pub(super) fn argument(&mut self, word: Option<&[u8]>) {
        match self.place {
            Place::First => {
                self.ns = Some(self.length_ns(word));
                self.place = Place::Read;
            }
            Place::Last => self.ns = Some(self.length_ns(word)),
            Place::Option if self.passed > 0 => self.passed -= 1,
            Place::Option => match word.unwrap_or_default().to_ascii_uppercase().as_slice() {
                b"BLOCK" => self.place = Place::First,
                b"COUNT" => self.passed = 1,
                b"GROUP" => self.passed = 2,
                b"STREAMS" => self.place = Place::Read,
                _ => {}
            },
            Place::Read => {}
        }
    }

    /// For how long the request may stand at the server, in nanoseconds, by its client's wish:
    /// `i64::MAX` where it set no end, or which was not seen. None if it did not ask for a wait.
    pub(super) fn ns(&self) -> Option<i64> {
        self.ns
    }

    fn length_ns(&self, word: Option<&[u8]>) -> i64 {
        let text = word.and_then(|it| std::str::from_utf8(it).ok());
        match text.and_then(|it| it.parse::<f64>().ok()) {
            // The cast ends at the largest number.
            Some(length) if length > 0.0 => {
                ((length * self.unit_ns) as i64).saturating_add(PACE_NS)
            }
            _ => i64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_ns(command: &str) -> Option<i64> {
        let mut words = command.split(' ');
        let mut wait = Wait::of(words.next().expect("a name"))?;
        words.for_each(|word| wait.argument(Some(word.as_bytes())));
        wait.ns()
    }

    #[test]
    fn timeouts_are_where_the_documentation_has_them() {
        const SECOND: i64 = 1_000_000_000;
        for (command, timeout) in [
            ("BLPOP a b 1", Some(SECOND)),
            ("BRPOP a 0.5", Some(SECOND / 2)),
            ("BRPOPLPUSH a b 2", Some(2 * SECOND)),
            ("BLMOVE a b LEFT RIGHT 3", Some(3 * SECOND)),
            ("BZPOPMIN a b c 4", Some(4 * SECOND)),
            ("BLMPOP 5 2 a b LEFT COUNT 10", Some(5 * SECOND)),
            ("BZMPOP 6 1 a MIN", Some(6 * SECOND)),
            ("WAIT 2 7000", Some(7 * SECOND)),
            ("WAITAOF 1 0 8000", Some(8 * SECOND)),
            ("XREAD COUNT 9 block 9000 STREAMS a 0", Some(9 * SECOND)),
            ("XREADGROUP GROUP block count BLOCK 9000 NOACK STREAMS a >", Some(9 * SECOND)),
        ] {
            assert_eq!(wait_ns(command), timeout.map(|it| it + PACE_NS), "{command}");
        }
        for command in ["XREAD STREAMS BLOCK 7", "XREAD COUNT 1 STREAMS a 0", "GET a", "LPOP a"] {
            assert_eq!(wait_ns(command), None, "{command}");
        }
        for command in ["BLPOP a 0", "XREAD BLOCK 0 STREAMS a $", "BLPOP a 1e300", "BLPOP a inf"] {
            assert_eq!(wait_ns(command), Some(i64::MAX), "{command}");
        }
    }

    #[test]
    fn a_timeout_that_was_not_seen_may_be_any() {
        let mut wait = Wait::of("BLPOP").expect("it waits");
        wait.argument(Some(b"a"));
        wait.argument(None);
        assert_eq!(wait.ns(), Some(i64::MAX));
    }
}
