//! What a browser keeps of a session besides its cookies: which files it has, and whether its user is
//! logged in. Only users of workloads that ask for something of it have one.
//!
//! Memory of one: a bit for each of the workload's resources, and 8 bytes for each of at most
//! [`MOST_IMAGES`] images.

use crate::random::{Stream, mix};
use crate::rules::Cache;

/// Images that a cache remembers; those beyond are fetched again each time.
const MOST_IMAGES: usize = 8192;

/// What is kept of a user's present session, and what is counted over all of them.
#[derive(Debug, Default)]
pub struct Browser {
    /// The user's number among all users.
    pub user: u32,
    /// Whether the user is logged in.
    pub logged_in: bool,
    /// Whether the resources were there when the session began: they are asked for only in case
    /// they have changed.
    pub cached: bool,
    /// The delay drawn after the last operation.
    pub delay_ns: Option<i64>,
    /// Numbers that nobody else takes, taken so far.
    pub taken: u32,
    /// A bit for each of the workload's resources.
    resources: Vec<u64>,
    /// Of the images' addresses, in order.
    images: Vec<u64>,
}

impl Browser {
    /// The one of the user of this number.
    pub fn new(user: u32) -> Self {
        Self { user, ..Self::default() }
    }

    /// A session begins: nothing of the last one is left.
    pub fn renew(&mut self, cache: Option<&Cache>, random: &mut Stream) {
        self.logged_in = false;
        self.resources.clear();
        self.images.clear();
        self.cached = cache.is_some_and(|cache| random.unit() < cache.cached);
    }

    /// Whether a resource, of this number among the workload's, is to be asked for: with each page,
    /// where it is there from before and may have changed; else once a session.
    pub fn wants_resource(&mut self, number: u16) -> bool {
        if self.cached {
            return true;
        }
        let (word, bit) = (usize::from(number / 64), 1u64 << (number % 64));
        if self.resources.len() <= word {
            self.resources.resize(word + 1, 0);
        }
        let wanted = self.resources[word] & bit == 0;
        self.resources[word] |= bit;
        wanted
    }

    /// Whether an image is to be asked for: once a session. Addresses are told apart by 64 bits.
    pub fn wants_image(&mut self, address: &[u8]) -> bool {
        let name = name_of(address);
        match self.images.binary_search(&name) {
            Ok(_) => false,
            Err(place) => {
                if self.images.len() < MOST_IMAGES {
                    self.images.insert(place, name);
                }
                true
            }
        }
    }
}

/// A number by which an address is known: FNV-1a, scattered.
pub fn name_of(address: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    mix(address.iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_does_not_grow_without_bound() {
        let mut browser = Browser::new(0);
        for number in 0..MOST_IMAGES + 10 {
            assert!(browser.wants_image(format!("/i{number}").as_bytes()));
        }
        assert_eq!(browser.images.len(), MOST_IMAGES);
    }

    #[test]
    fn each_file_that_was_not_there_is_asked_for_once_a_session() {
        let mut browser = Browser::new(0);
        let mut random = Stream::new(1, 0);
        for _ in 0..2 {
            browser.renew(None, &mut random);
            for number in [0, 63, 64, 130] {
                assert!(browser.wants_resource(number) && !browser.wants_resource(number));
            }
            assert!(browser.wants_image(b"/a") && browser.wants_image(b"/b"));
            assert!(!browser.wants_image(b"/a") && !browser.wants_image(b"/b"));
        }
    }

    #[test]
    fn six_sessions_in_ten_find_their_files_there() {
        let cache = Cache { cached: 0.6, since: String::new() };
        let mut random = Stream::new(1, 0);
        let mut browser = Browser::new(0);
        let cached = (0..10_000).filter(|_| {
            browser.renew(Some(&cache), &mut random);
            browser.cached
        });
        // Standard error: sqrt(10000 * 0.6 * 0.4) = 49.
        assert!((5_755..=6_245).contains(&cached.count()));
    }
}
