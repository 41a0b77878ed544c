//! Which users a thread has: of N threads every N-th user, so that each has its part of every kind
//! of session, and of those who start early.

/// One thread's part of the users, or of the open loop's arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first user of it, which is the thread's number too.
    pub first: u32,
    /// Among so many threads.
    pub of: u32,
}

impl Share {
    /// The parts of all threads.
    pub fn each(threads: u32) -> impl Iterator<Item = Self> {
        (0..threads).map(move |first| Self { first, of: threads })
    }

    /// How many of `users` are in it.
    pub fn count(self, users: u32) -> u32 {
        users.saturating_sub(self.first).div_ceil(self.of)
    }

    /// The number, among all users, of the one at `place` in it.
    pub fn number(self, place: u32) -> u32 {
        place * self.of + self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_is_in_one_part() {
        for (users, threads) in [(0, 2), (1, 3), (7, 3), (9, 3), (10, 1)] {
            let mut numbers: Vec<u32> = Share::each(threads)
                .flat_map(|share| (0..share.count(users)).map(move |place| share.number(place)))
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..users).collect::<Vec<_>>(), "{users} over {threads}");
        }
    }
}
