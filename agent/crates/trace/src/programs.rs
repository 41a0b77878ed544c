//! Which processes are written in Go: their requests are worked on by goroutines, which change threads.

use object::read::{ReadCache, ReadRef};
use object::{FileKind, Object, ObjectSection};
use rustc_hash::FxHashMap;
use std::fs::{File, metadata};
use std::os::unix::fs::MetadataExt;

/// The programs that were met, by device and inode.
#[derive(Default)]
pub struct Programs {
    is_go: FxHashMap<(u64, u64), bool>,
}

impl Programs {
    /// True if the program that a process runs now is written in Go; false if that cannot be told.
    pub fn is_go(&mut self, process: i32) -> bool {
        let path = format!("/proc/{process}/exe");
        let Ok(about) = metadata(&path) else { return false };
        let program = (about.dev(), about.ino());
        *self.is_go.entry(program).or_insert_with(|| {
            File::open(&path).is_ok_and(|file| has_build_information(&ReadCache::new(file)))
        })
    }
}

/// Go's linker writes its version and the modules into a section of its own, stripped or not
/// (package debug/buildinfo).
fn has_build_information<'a>(data: impl ReadRef<'a>) -> bool {
    if !matches!(FileKind::parse(data), Ok(FileKind::Elf32 | FileKind::Elf64)) {
        return false;
    }
    object::File::parse(data)
        .is_ok_and(|file| file.sections().any(|section| section.name() == Ok(".go.buildinfo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_not_written_in_go() {
        let mut programs = Programs::default();
        assert!(!programs.is_go(std::process::id() as i32));
        assert!(!programs.is_go(-1), "no process");
        assert!(!has_build_information(&b"#!/bin/sh"[..]));
    }
}
