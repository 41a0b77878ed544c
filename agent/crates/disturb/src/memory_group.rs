//! A control group's memory, in either version: what it has, what is free, what is needed.

use anyhow::{Context, Result};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Version 1 shows "no limit" as a number near 2^63.
const UNLIMITED: u64 = 1 << 62;

/// A memory control group whose files are open.
pub struct MemoryGroup {
    /// The control file of its limit.
    pub limit_file: PathBuf,
    /// Where version 1 is told that processes wait for memory instead of being killed: `1`.
    pub patience_file: Option<PathBuf>,
    version: Version,
    usage: File,
    stat: File,
}

/// What a group has left.
#[derive(Debug, PartialEq)]
pub struct Room {
    /// What is free, or would be if every file page were dropped. Pages on their way from the disk
    /// count, but cannot be dropped.
    pub free_bytes: u64,
    /// File pages that processes have mapped: the server's program and libraries.
    pub mapped_bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

impl MemoryGroup {
    /// Opens the group's files.
    pub fn open(group: &Path) -> Result<Self> {
        let open = |name: &str| {
            let path = group.join(name);
            File::open(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let (version, limit, usage) = if group.join("memory.max").exists() {
            (Version::Two, "memory.max", "memory.current")
        } else {
            (Version::One, "memory.limit_in_bytes", "memory.usage_in_bytes")
        };
        Ok(Self {
            limit_file: group.join(limit),
            patience_file: Some(group.join("memory.oom_control")).filter(|file| file.exists()),
            version,
            usage: open(usage)?,
            stat: open("memory.stat")?,
        })
    }

    /// What the group may have; null without a limit.
    pub fn limit_bytes(&self) -> Result<Option<u64>> {
        let text = fs::read_to_string(&self.limit_file)
            .with_context(|| format!("cannot read {}", self.limit_file.display()))?;
        Ok(text.trim().parse().ok().filter(|limit| *limit < UNLIMITED))
    }

    /// What to write to the limit's file for a limit, or for none.
    pub fn word(&self, limit: Option<u64>) -> String {
        match (limit, self.version) {
            (Some(limit), _) => limit.to_string(),
            (None, Version::One) => "-1".to_owned(),
            (None, Version::Two) => "max".to_owned(),
        }
    }

    /// What is left at this moment.
    pub fn room(&self) -> Result<Room> {
        let limit = self.limit_bytes()?.unwrap_or(u64::MAX);
        let stat = text(&self.stat)?;
        let unused = limit.saturating_sub(self.usage()?);
        let free_bytes = unused.saturating_add(self.file_pages(&stat));
        Ok(Room { free_bytes, mapped_bytes: self.mapped(&stat) })
    }

    /// What its processes need at the least to run well: all that cannot be dropped, and the file
    /// pages that they have mapped.
    pub fn needed_bytes(&self) -> Result<u64> {
        let stat = text(&self.stat)?;
        Ok(self.usage()?.saturating_sub(self.file_pages(&stat)) + self.mapped(&stat))
    }

    fn mapped(&self, stat: &str) -> u64 {
        let key = match self.version {
            Version::One => "total_mapped_file",
            Version::Two => "file_mapped",
        };
        value(stat, key)
    }

    fn file_pages(&self, stat: &str) -> u64 {
        let keys = match self.version {
            Version::One => ["total_inactive_file", "total_active_file"],
            Version::Two => ["inactive_file", "active_file"],
        };
        keys.into_iter().map(|key| value(stat, key)).sum()
    }

    fn usage(&self) -> Result<u64> {
        text(&self.usage)?.trim().parse().context("the group's memory usage is no number")
    }
}

fn value(stat: &str, key: &str) -> u64 {
    let found = stat.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == key);
    found.and_then(|(_, bytes)| bytes.parse().ok()).unwrap_or(0)
}

fn text(file: &File) -> Result<String> {
    let mut buffer = [0u8; 8192];
    let length = file.read_at(&mut buffer, 0)?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_pages_count_as_room_in_both_versions() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("memory.limit_in_bytes", "1000\n");
        write("memory.usage_in_bytes", "900\n");
        write(
            "memory.stat",
            "active_file 7\nfile_mapped 5\ntotal_inactive_file 30\ntotal_active_file 40\n\
             total_mapped_file 20\n",
        );
        let open = || MemoryGroup::open(folder.path()).unwrap();
        assert_eq!(open().room().unwrap(), Room { free_bytes: 170, mapped_bytes: 20 });
        assert_eq!(open().needed_bytes().unwrap(), 850);
        write("memory.max", "max\n");
        write("memory.current", "900\n");
        assert_eq!(open().limit_bytes().unwrap(), None);
        assert_eq!(open().word(None), "max");
        write("memory.max", "1000\n");
        assert_eq!(open().room().unwrap(), Room { free_bytes: 107, mapped_bytes: 5 });
        assert_eq!(open().needed_bytes().unwrap(), 898);
    }
}
