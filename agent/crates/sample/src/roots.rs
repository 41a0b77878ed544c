//! Where the kernel's files are: the machine's, or a fixture's in a test.

use std::path::PathBuf;

/// The roots that every sampler opens its files under.
#[derive(Clone, Debug)]
pub struct Roots {
    /// `/proc`
    pub proc: PathBuf,
    /// `/sys`
    pub sys: PathBuf,
    /// True where the two are this machine's, so that system calls tell of the same things.
    pub live: bool,
}

impl Roots {
    /// This machine.
    pub fn machine() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), live: true }
    }

    #[cfg(test)]
    /// A copy of another machine's files under `folder`.
    pub fn fixture(folder: &std::path::Path) -> Self {
        Self { proc: folder.join("proc"), sys: folder.join("sys"), live: false }
    }
}
