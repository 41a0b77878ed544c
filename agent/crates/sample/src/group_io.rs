//! What a control group's threads read from and wrote to block devices: version 1's file where it
//! has the controller, else version 2's.

use crate::awaited_file::AwaitedFile;
use crate::stacked_disks::StackedDisks;
use crate::text::{lines, number, words};
use std::path::Path;
use tierlab_record::Cgroups;
use tierlab_record::clock::Moment;

/// Bytes to and from block devices.
pub struct IoFile {
    file: AwaitedFile,
    /// Bytes read and written, of one line.
    of_line: fn(&[u8]) -> Option<[u64; 2]>,
    /// The same of a text without lines.
    of_none: Option<[u64; 2]>,
    disks: StackedDisks,
    counts: bool,
    last: [Option<u64>; 2],
}

impl IoFile {
    /// The one that the plan gives, if any, on the machine whose `/sys` this is.
    pub fn of(groups: &Cgroups, sys: &Path) -> Option<Self> {
        const V1: &str = "blkio.throttle.io_service_bytes_recursive";
        match (&groups.blkio, &groups.unified) {
            (Some(folder), _) => Some(Self::new(folder, V1, sys, v1_bytes, None)),
            // A group has no line of a device that it has not used.
            (None, Some(folder)) => Some(Self::new(folder, "io.stat", sys, v2_bytes, Some([0, 0]))),
            (None, None) => None,
        }
    }

    fn new(
        folder: &Path,
        name: &str,
        sys: &Path,
        of_line: fn(&[u8]) -> Option<[u64; 2]>,
        of_none: Option<[u64; 2]>,
    ) -> Self {
        let file = AwaitedFile::new(folder.join(name));
        let disks = StackedDisks::of(sys);
        Self { file, of_line, of_none, disks, counts: false, last: [None; 2] }
    }

    /// Bytes read and written, all devices together and each byte once; nothing while version 1 lists
    /// no device. Read again only if they may have grown.
    pub fn read(&mut self, now: Moment, may_have_grown: bool) -> [Option<u64>; 2] {
        if may_have_grown {
            let (of_line, of_none, disks) = (self.of_line, self.of_none, &mut self.disks);
            let bytes = self.file.read(now).and_then(|text| match text {
                [] => of_none,
                _ => disks.total(lines(text).filter_map(|line| Some((line, of_line(line)?)))),
            });
            self.counts |= bytes.is_some();
            self.last = bytes.map_or([None; 2], |bytes| bytes.map(Some));
        }
        self.last
    }

    /// True once it was known what was read and written. Version 1 of recent kernels lists a device
    /// only once some group has had a blkio limit on it.
    pub fn counts(&self) -> bool {
        self.counts
    }
}

/// Of `254:0 Read 1024` and the like.
fn v1_bytes(line: &[u8]) -> Option<[u64; 2]> {
    let mut words = words(line).skip(1);
    match (words.next(), words.next().and_then(number)) {
        (Some(b"Read"), Some(bytes)) => Some([bytes, 0]),
        (Some(b"Write"), Some(bytes)) => Some([0, bytes]),
        _ => None,
    }
}

/// Of `254:0 rbytes=1024 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`, or of the device alone, which some
/// kernels list before it is used.
fn v2_bytes(line: &[u8]) -> Option<[u64; 2]> {
    if !line.contains(&b'=') {
        return Some([0, 0]);
    }
    let of = |key: &[u8]| words(line).find_map(|word| number(word.strip_prefix(key)?));
    Some([of(b"rbytes=")?, of(b"wbytes=")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment { t_ns: 0, monotonic_ns: 0 };

    /// What is read of each text, one after the other, and whether it counts then.
    fn read(io: &mut IoFile, texts: &[&str]) -> Vec<([Option<u64>; 2], bool)> {
        let read = |text: &&str| {
            std::fs::write(io.file.path(), text).unwrap();
            (io.read(NOW, true), io.counts())
        };
        texts.iter().map(read).collect()
    }

    #[test]
    fn a_group_of_version_2_that_has_used_no_device_has_read_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let unified = Some(folder.path().to_owned());
        let mut io = IoFile::of(&Cgroups { unified, ..Cgroups::default() }, folder.path()).unwrap();
        let used = "254:0 \n259:0 rbytes=4096 wbytes=512 rios=1 wios=1 dbytes=0 dios=0\n";
        let expected = [([Some(0); 2], true), ([Some(4096), Some(512)], true)];
        assert_eq!(read(&mut io, &["", used]), expected);
        assert_eq!(read(&mut io, &["254:0 \n"]), [([Some(0); 2], true)]);
        std::fs::remove_file(io.file.path()).unwrap();
        let mut io = IoFile::new(folder.path(), "io.stat", folder.path(), io.of_line, io.of_none);
        assert_eq!((io.read(NOW, true), io.counts()), ([None; 2], false));
    }

    #[test]
    fn version_1_counts_once_it_lists_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let blkio = Some(folder.path().to_owned());
        let mut io = IoFile::of(&Cgroups { blkio, ..Cgroups::default() }, folder.path()).unwrap();
        let used = "254:0 Read 1024\n254:0 Write 0\n254:0 Sync 1024\nTotal 1024\n";
        let expected = [([None; 2], false), ([None; 2], false), ([Some(1024), Some(0)], true)];
        assert_eq!(read(&mut io, &["", "Total 0\n", used]), expected);
    }

    #[test]
    fn what_goes_through_a_logical_volume_counts_once_in_either_version() {
        let folder = tempfile::tempdir().unwrap();
        let sda = folder.path().join("dev/block/253:0/slaves/sda");
        std::fs::create_dir_all(&sda).unwrap();
        std::fs::write(sda.join("dev"), "8:0\n").unwrap();
        let group = Some(folder.path().to_owned());
        let v1 = Cgroups { blkio: group.clone(), ..Cgroups::default() };
        let v2 = Cgroups { unified: group, ..Cgroups::default() };
        let listed = "8:0 Read 4096\n8:0 Write 512\n253:0 Read 4096\n253:0 Write 512\nTotal 9216\n";
        let counted = "8:0 rbytes=4096 wbytes=512 rios=1 wios=1 dbytes=0 dios=0\n\
                       253:0 rbytes=4096 wbytes=512 rios=1 wios=1 dbytes=0 dios=0\n";
        for (groups, text) in [(v1, listed), (v2, counted)] {
            let mut io = IoFile::of(&groups, folder.path()).unwrap();
            assert_eq!(read(&mut io, &[text]), [([Some(4096), Some(512)], true)]);
        }
    }
}
