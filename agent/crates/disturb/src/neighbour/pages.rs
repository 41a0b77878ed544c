//! Anonymous memory, page by page.

use anyhow::{Context, Result, ensure};
use std::ops::Range;
use std::ptr::NonNull;

/// The smallest page of any machine; where pages are larger they are only touched more often.
pub const PAGE: usize = 4096;

/// A mapping of its own. It takes memory where it is touched, and gives it back when released.
pub struct Pages {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Pages {}
// SAFETY: what threads share is the kernel's: touching writes whole bytes that nobody relies on.
unsafe impl Sync for Pages {}

impl Pages {
    /// Reserves so many bytes, rounded up to whole pages; none of them takes memory yet.
    pub fn reserve(length: usize) -> Result<Self> {
        let length = length.max(1).next_multiple_of(PAGE);
        // SAFETY: a new anonymous mapping, of which nobody else knows.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        ensure!(
            start != libc::MAP_FAILED,
            "no room for {length} bytes: {}",
            std::io::Error::last_os_error()
        );
        let start = NonNull::new(start.cast()).context("the system gave page zero")?;
        let pages = Self { start, length };
        // A huge page would take more than was asked for. SAFETY: the mapping is ours.
        unsafe { libc::madvise(start.as_ptr().cast(), length, libc::MADV_NOHUGEPAGE) };
        Ok(pages)
    }

    /// All of it.
    pub fn whole(&self) -> Range<usize> {
        0..self.length
    }

    /// Touches every page of a part, from the first to the last, as long as `go_on` says so.
    pub fn touch(&self, part: Range<usize>, go_on: impl Fn() -> bool) {
        for offset in (part.start..part.end.min(self.length)).step_by(PAGE) {
            if !go_on() {
                return;
            }
            // SAFETY: within the mapping. Volatile: a write that nobody reads must be made.
            unsafe { self.start.add(offset).write_volatile(1) };
        }
    }

    /// Gives the memory of a part back, at once, also while another thread touches it.
    pub fn release(&self, part: Range<usize>) {
        let end = part.end.min(self.length);
        // SAFETY: within the mapping; its pages read as zeroes afterwards.
        unsafe {
            let start = self.start.as_ptr().add(part.start);
            libc::madvise(start.cast(), end - part.start, libc::MADV_DONTNEED);
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
