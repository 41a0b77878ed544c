//! A file of /proc or /sys that is read again and again: its descriptor stays open, and its buffer
//! is reused.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A kept-open file.
pub struct KernelFile {
    file: File,
    buffer: Vec<u8>,
    length: usize,
}

impl KernelFile {
    /// Opens `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_small(path, 4096)
    }

    /// Opens a file whose text is known to be short, such as a thread's; thousands may be open.
    pub fn open_small(path: &Path, bytes: usize) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, buffer: vec![0; bytes], length: 0 })
    }

    /// The whole text of a file that the kernel makes in one piece (`single_open`), by one read.
    /// The buffer grows until the text fits.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        loop {
            self.length = self.file.read_at(&mut self.buffer, 0)?;
            if self.length < self.buffer.len() {
                return Ok(self.text());
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    /// The whole text of a file that the kernel makes record by record. It makes them in a page at
    /// the least, so that a text that leaves half of one free for another record, and did not fill
    /// our buffer, was the whole; else a short read is not the end.
    pub fn read_records(&mut self) -> io::Result<&[u8]> {
        const HALF_A_PAGE: usize = 2048;
        self.length = self.file.read_at(&mut self.buffer, 0)?;
        if self.length < HALF_A_PAGE.min(self.buffer.len()) {
            return Ok(self.text());
        }
        loop {
            if self.length == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match self.file.read_at(&mut self.buffer[self.length..], self.length as u64)? {
                0 => return Ok(self.text()),
                more => self.length += more,
            }
        }
    }

    /// The first `bytes` of a file that the kernel makes record by record: it does not make the
    /// rest, which is what costs.
    pub fn read_first(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        self.length = self.file.read_at(&mut self.buffer[..bytes], 0)?;
        Ok(self.text())
    }

    /// What the last read gave.
    pub fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_longer_than_the_buffer_is_read_whole_by_either_way() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = (0..5000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(file.path(), &text).unwrap();
        let mut kept = KernelFile::open_small(file.path(), 64).unwrap();
        assert_eq!(kept.read().unwrap(), text.as_bytes());
        let mut kept = KernelFile::open_small(file.path(), 64).unwrap();
        assert_eq!(kept.read_records().unwrap(), text.as_bytes());
        assert_eq!(kept.read_first(6).unwrap(), b"line 0");
    }

    #[test]
    fn records_of_the_kernel_agree_with_the_standard_library() {
        let mut kept = KernelFile::open(Path::new("/proc/self/maps")).unwrap();
        let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        let ours = lines(kept.read_records().unwrap());
        let theirs = lines(&std::fs::read("/proc/self/maps").unwrap());
        assert!(ours.abs_diff(theirs) <= 4, "{ours} lines, {theirs} read by std");
    }
}
