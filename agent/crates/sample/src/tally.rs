//! A count of everything of a kind on the machine, which one sampler reads and others ask about:
//! while it stands still, no part of the machine can have had any of it, and the part's own file,
//! which may cost the kernel much, need not be read.

use std::cell::Cell;
use std::rc::Rc;
use tierlab_record::clock::Moment;

/// The count, shared by those who tell it and those who ask.
#[derive(Clone, Default)]
pub struct Tally(Rc<Cell<Option<Known>>>);

#[derive(Clone, Copy)]
struct Known {
    count: u64,
    grew_ns: i64,
}

impl Tally {
    /// The count is `count` now; `None` when it could not be read.
    pub fn tell(&self, count: Option<u64>, now: Moment) {
        let same = |known: &Known| Some(known.count) == count;
        self.0.set(match self.0.get().filter(same) {
            Some(known) => Some(known),
            None => count.map(|count| Known { count, grew_ns: now.monotonic_ns }),
        });
    }

    /// False only when the count is known to have stood still from `monotonic_ns` on.
    pub fn grew_since(&self, monotonic_ns: i64) -> bool {
        self.0.get().is_none_or(|known| known.grew_ns > monotonic_ns)
    }
}

/// What is counted on the machine as a whole.
#[derive(Clone, Default)]
pub struct Tallies {
    /// Major faults and refaults.
    pub faults: Tally,
    /// Requests to block devices.
    pub disk: Tally,
    /// Packets that watched listening sockets dropped, connection requests among them.
    pub drops: Tally,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic_ns: i64) -> Moment {
        Moment { t_ns: 0, monotonic_ns }
    }

    #[test]
    fn only_a_count_that_stood_still_says_that_there_were_none() {
        let tally = Tally::default();
        assert!(tally.grew_since(9), "nobody counts");
        tally.tell(Some(7), at(10));
        assert!(tally.grew_since(9));
        assert!(!tally.grew_since(10));
        tally.clone().tell(Some(7), at(20));
        assert!(!tally.grew_since(10));
        tally.tell(Some(8), at(30));
        assert!(tally.grew_since(29));
        tally.tell(Some(2), at(40));
        assert!(tally.grew_since(39), "it started anew");
        tally.tell(None, at(50));
        assert!(tally.grew_since(60));
    }
}
