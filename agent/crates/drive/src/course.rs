//! Where a run is in its phases. Pure arithmetic; the clock is the caller's.

use crate::plan::Phase;

/// A phase that is over, or was ended early. Nanoseconds since the epoch.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
}

/// The phases of a run, and the present one. They follow each other without a gap, in monotonic
/// time, by which the run goes, and in real time, which is recorded.
pub struct Course {
    phases: Vec<Phase>,
    present: usize,
    start_ns: i64,
    end_ns: i64,
    start_real_ns: i64,
}

impl Course {
    /// A run that begins at `start_ns`, which is `real_ns` since the epoch.
    pub fn new(phases: Vec<Phase>, start_ns: i64, real_ns: i64) -> Self {
        let first = phases.first().map_or(0, |phase| phase.duration_ns);
        let end_ns = start_ns + first;
        Self { phases, present: 0, start_ns, end_ns, start_real_ns: real_ns }
    }

    /// The present phase's name; `end` after the last.
    pub fn name(&self) -> &str {
        self.phases.get(self.present).map_or("end", |phase| &phase.name)
    }

    /// Since when the present phase has been going on.
    pub fn start_ns(&self) -> i64 {
        self.start_ns
    }

    /// Whether the last phase is over.
    pub fn is_over(&self) -> bool {
        self.present >= self.phases.len()
    }

    /// Ends the present phase if `now_ns` is past its end, and goes on to the next.
    pub fn advance(&mut self, now_ns: i64) -> Option<Ended<'_>> {
        if self.is_over() || now_ns < self.end_ns { None } else { self.end(self.end_ns) }
    }

    /// Ends the present phase at `now_ns`, whatever its length was to be.
    pub fn end(&mut self, now_ns: i64) -> Option<Ended<'_>> {
        let phase = self.phases.get(self.present)?;
        let start_ns = self.start_real_ns;
        self.start_real_ns += now_ns - self.start_ns;
        self.start_ns = now_ns;
        self.present += 1;
        let next = self.phases.get(self.present).map_or(0, |next| next.duration_ns);
        self.end_ns = now_ns + next;
        Some(Ended { name: &phase.name, start_ns, end_ns: self.start_real_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        let phase = |name: &str, duration_ns| Phase { name: name.into(), duration_ns };
        Course::new(vec![phase("a", 10), phase("b", 0), phase("c", 5)], 100, 1000)
    }

    #[test]
    fn phases_follow_each_other_without_a_gap() {
        let mut course = course();
        assert_eq!((course.name(), course.end_ns), ("a", 110));
        assert_eq!(course.advance(109), None);
        let a = Ended { name: "a", start_ns: 1000, end_ns: 1010 };
        assert_eq!(course.advance(112), Some(a));
        assert_eq!(course.advance(112), Some(Ended { name: "b", start_ns: 1010, end_ns: 1010 }));
        assert_eq!((course.name(), course.start_ns(), course.end_ns), ("c", 110, 115));
        assert_eq!(course.advance(200), Some(Ended { name: "c", start_ns: 1010, end_ns: 1015 }));
        assert!(course.is_over() && course.advance(300).is_none());
        assert_eq!((course.name(), course.end_ns), ("end", 115));
    }

    #[test]
    fn a_phase_can_be_ended_early() {
        let mut course = course();
        assert_eq!(course.end(104), Some(Ended { name: "a", start_ns: 1000, end_ns: 1004 }));
    }
}
