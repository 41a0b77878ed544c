//! One `/proc/<pid>/stat`, as proc_pid_stat(5) describes it.

use crate::machine::tick_ns;
use crate::text::{number, words};

/// What the process table needs of it.
#[derive(Debug)]
pub struct PidStat<'a> {
    name: &'a [u8],
    /// `R`, `S`, `D`, ...
    pub state: u8,
    /// Minor faults of all its threads since it began.
    pub minor_faults: u64,
    /// Major faults of all its threads since it began.
    pub major_faults: u64,
    /// CPU time of all its threads, in whole ticks.
    pub run_ns: u64,
    /// Its threads.
    pub threads: u64,
    /// Its resident set.
    pub resident_pages: u64,
}

impl<'a> PidStat<'a> {
    /// Takes the text apart; `None` where it was cut off.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        // The name may hold blanks and brackets: it ends at the last one.
        let open = memchr::memchr(b'(', text)?;
        let close = memchr::memrchr(b')', text)?;
        let name = text.get(open + 1..close)?;
        let mut fields = [0; 22];
        let mut rest = words(text[close + 1..].strip_suffix(b"\n")?);
        let state = *rest.next()?.first()?;
        for field in &mut fields {
            // Only fields that are not ours can be negative (tpgid, nice).
            *field = number(rest.next()?).unwrap_or(0);
        }
        // `fields[0]` is number 4 of the manual page.
        let field = |manual: usize| fields[manual - 4];
        Some(Self {
            name,
            state,
            minor_faults: field(10),
            major_faults: field(12),
            run_ns: (field(14) + field(15)) * tick_ns() as u64,
            threads: field(20),
            resident_pages: field(24),
        })
    }

    /// Its name as text.
    pub fn name(&self) -> String {
        String::from_utf8_lossy(self.name).into_owned()
    }

    /// True when this is its name.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name.as_bytes()
    }

    /// True for a zombie, unless only its first thread has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X') && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"42 (tmux: (x) y) S 1 42 42 0 -1 4194560 1016 1741 3 2 7 5 1 3 20 0 9 0 11 \
        23556096 1014 18446744073709551615 1 1 0 0 0 0 0 4096 1073755658 0 0 0 17 1\n";

    #[test]
    fn a_name_with_blanks_and_brackets_does_not_shift_the_fields() {
        let stat = PidStat::parse(TEXT).unwrap();
        assert!(stat.is_named("tmux: (x) y"));
        assert_eq!(stat.state, b'S');
        assert_eq!((stat.minor_faults, stat.major_faults), (1016, 3));
        assert_eq!(stat.run_ns, 12 * tick_ns() as u64);
        assert_eq!((stat.threads, stat.resident_pages), (9, 1014));
    }

    #[test]
    fn a_cut_text_is_no_stat() {
        for length in 0..TEXT.len() {
            assert!(PidStat::parse(&TEXT[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn it_is_this_process() {
        let text = std::fs::read("/proc/self/stat").unwrap();
        let stat = PidStat::parse(&text).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(status.starts_with(&format!("Name:\t{}\n", stat.name())));
        assert!(stat.threads >= 1 && stat.resident_pages > 0 && !stat.has_ended());
    }
}
