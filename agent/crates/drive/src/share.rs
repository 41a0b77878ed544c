//! Which users a thread has: of N threads every N-th user, so that each has its part of every kind
//! of session, and of those who start early.

/// One thread's part of the users, or of the open loop's arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first user of it, which is the thread's number too.
    pub first: u32,
    /// Among so many threads.
    pub of: u32,
    /// The number of the first of all users.
    pub from: u32,
}

impl Share {
    /// The parts of all threads, of users that are numbered `from` some number on.
    pub fn each(threads: u32, from: u32) -> impl Iterator<Item = Self> {
        (0..threads).map(move |first| Self { first, of: threads, from })
    }

    /// How many of `users` are in it.
    pub fn count(self, users: u32) -> u32 {
        users.saturating_sub(self.first).div_ceil(self.of)
    }

    /// Who the user at `place` in it is among all users, counted from 0.
    pub fn rank(self, place: u32) -> u32 {
        place * self.of + self.first
    }

    /// The number of the user at `place` in it.
    pub fn number(self, place: u32) -> u32 {
        self.from + self.rank(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_is_in_one_part() {
        for (users, threads, from) in [(0, 2, 0), (1, 3, 0), (7, 3, 5), (9, 3, 0), (10, 1, 100)] {
            let mut numbers: Vec<u32> = Share::each(threads, from)
                .flat_map(|share| (0..share.count(users)).map(move |place| share.number(place)))
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (from..from + users).collect::<Vec<_>>(), "{users} over {threads}");
        }
    }
}
