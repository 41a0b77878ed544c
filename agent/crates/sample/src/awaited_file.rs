//! A file that may not be there yet, and may go: a control group's, before its server starts.

use crate::kernel_file::KernelFile;
use std::path::PathBuf;
use tierlab_record::clock::Moment;

const RETRY_NS: i64 = 500_000_000;

/// A kept-open file that is opened when it appears, looked for twice a second.
pub struct AwaitedFile {
    path: PathBuf,
    file: Option<KernelFile>,
    retry_ns: i64,
}

impl AwaitedFile {
    /// Waits for `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: None, retry_ns: i64::MIN }
    }

    /// The whole text of a file that the kernel makes in one piece; `None` while it is not there.
    pub fn read(&mut self, now: Moment) -> Option<&[u8]> {
        self.read_by(now, KernelFile::read)
    }

    /// The whole text of a list of processes, opened anew each time: of one that is read more often
    /// than once a second and stays open, the kernel (version 1) shows the same list for ever.
    pub fn read_anew(&mut self, now: Moment) -> Option<&[u8]> {
        (self.file, self.retry_ns) = (None, i64::MIN);
        self.read_by(now, KernelFile::read_records)
    }

    /// True while the file is open.
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Where the file is.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    fn read_by(
        &mut self,
        now: Moment,
        read: impl Fn(&mut KernelFile) -> std::io::Result<&[u8]>,
    ) -> Option<&[u8]> {
        if self.file.is_none() && now.monotonic_ns >= self.retry_ns {
            self.retry_ns = now.monotonic_ns + RETRY_NS;
            self.file = KernelFile::open_small(&self.path, 1024).ok();
        }
        // Read once to see whether it is still there, so that the borrow of the text can leave.
        let file = self.file.as_mut()?;
        if read(file).is_err() {
            self.file = None;
            return None;
        }
        self.file.as_ref().map(KernelFile::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(monotonic_ns: i64) -> Moment {
        Moment { t_ns: 0, monotonic_ns }
    }

    #[test]
    fn it_is_found_when_it_appears() {
        let folder = tempfile::tempdir().unwrap();
        let mut awaited = AwaitedFile::new(folder.path().join("cpuacct.usage"));
        assert_eq!(awaited.read(at(1)), None);
        std::fs::write(awaited.path(), "7\n").unwrap();
        assert_eq!(awaited.read(at(2)), None, "not looked for at every tick");
        assert_eq!(awaited.read(at(RETRY_NS + 1)), Some(&b"7\n"[..]));
        assert!(awaited.is_open());
    }

    #[test]
    fn it_is_closed_when_it_goes() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut stat = AwaitedFile::new(format!("/proc/{}/stat", child.id()).into());
        assert!(stat.read(at(1)).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(stat.read(at(2)), None);
        assert!(!stat.is_open());
    }
}
