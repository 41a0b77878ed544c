//! Block devices that stand on others (LVM, LUKS, md): the kernel counts what is read of such a one
//! for the device below as well.
//!
//! Neither alone is all. Of a plain partition beside the one of LVM only the disk below knows; what
//! LUKS and md's levels with parity write below is written by threads of the kernel, whom it counts
//! for: only the device above has it as the group's. What a mirror writes counts for each of its disks.

use crate::text::{number, words};
use std::fs;
use std::path::{Path, PathBuf};

/// Major and minor number.
type Id = [u64; 2];
/// Read and written.
type Bytes = [u64; 2];

/// The major number of loop devices: their bytes are a file's, which count where that file is.
const LOOP: u64 = 7;

/// The devices that a control group has used.
pub struct StackedDisks {
    /// `/sys/dev/block`.
    folder: PathBuf,
    disks: Vec<Disk>,
}

struct Disk {
    id: Id,
    stands: bool,
    /// The disks that it stands on; partitions have no counts of their own.
    below: Vec<Id>,
    /// As listed this time.
    bytes: Option<Bytes>,
}

impl StackedDisks {
    /// No devices yet, of the machine whose `/sys` this is.
    pub fn of(sys: &Path) -> Self {
        Self { folder: sys.join("dev/block"), disks: Vec::new() }
    }

    /// The bytes of all together, each once: those of the lowest devices or of the highest,
    /// whichever are more. `None` when there is no line.
    pub fn total<'a>(&mut self, lines: impl Iterator<Item = (&'a [u8], Bytes)>) -> Option<Bytes> {
        self.disks.iter_mut().for_each(|disk| disk.bytes = None);
        for (line, bytes) in lines {
            let Some(id) = device(line) else { continue };
            let sum = self.disk(id).bytes.get_or_insert_default();
            *sum = added(*sum, bytes);
        }
        let listed = || self.disks.iter().filter(|disk| disk.bytes.is_some());
        listed().next()?;
        let counted = || listed().filter(|disk| disk.id[0] != LOOP);
        let lowest = sum(counted().filter(|disk| !disk.stands));
        let highest =
            sum(counted().filter(|disk| !listed().any(|upper| upper.below.contains(&disk.id))));
        Some([lowest[0].max(highest[0]), lowest[1].max(highest[1])])
    }

    /// The one with this number; what it stands on is looked up once.
    fn disk(&mut self, id: Id) -> &mut Disk {
        let at = self.disks.iter().position(|disk| disk.id == id).unwrap_or_else(|| {
            self.disks.push(Disk::of(&self.folder, id));
            self.disks.len() - 1
        });
        &mut self.disks[at]
    }
}

impl Disk {
    fn of(folder: &Path, id: Id) -> Self {
        let slaves = fs::read_dir(folder.join(format!("{}:{}/slaves", id[0], id[1])));
        let slaves: Vec<PathBuf> = slaves
            .map_or_else(|_| Vec::new(), |slaves| slaves.flatten().map(|it| it.path()).collect());
        let below = slaves.iter().filter_map(|slave| {
            // A link to a partition leads into its disk's folder.
            let is_part = slave.join("partition").exists();
            let disk = if is_part { slave.join("..") } else { slave.clone() };
            device(fs::read(disk.join("dev")).ok()?.strip_suffix(b"\n")?)
        });
        Self { id, stands: !slaves.is_empty(), below: below.collect(), bytes: None }
    }
}

/// The number that a line begins with.
fn device(line: &[u8]) -> Option<Id> {
    let mut numbers = words(line).next()?.split(|byte| *byte == b':').map(number);
    Some([numbers.next()??, numbers.next()??])
}

fn added(sum: Bytes, bytes: Bytes) -> Bytes {
    [sum[0] + bytes[0], sum[1] + bytes[1]]
}

fn sum<'a>(disks: impl Iterator<Item = &'a Disk>) -> Bytes {
    disks.filter_map(|disk| disk.bytes).fold([0; 2], added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A machine with a disk 8:0, its partition `sda2`, LUKS (253:0) on that, and two LVM volumes
    /// (253:1, 253:2) on it.
    fn machine() -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let disk = |path: &str, id: &str, slave: Option<&str>| {
            let folder = sys.path().join("devices").join(path);
            let block = sys.path().join("dev/block");
            fs::create_dir_all(folder.join("slaves")).unwrap();
            fs::create_dir_all(&block).unwrap();
            fs::write(folder.join("dev"), format!("{id}\n")).unwrap();
            symlink(&folder, block.join(id)).unwrap();
            if let Some(slave) = slave {
                let below = sys.path().join("devices").join(slave);
                symlink(&below, folder.join("slaves").join(below.file_name().unwrap())).unwrap();
            }
        };
        disk("pci/sda", "8:0", None);
        disk("pci/sda/sda2", "8:2", None);
        fs::write(sys.path().join("devices/pci/sda/sda2/partition"), "2\n").unwrap();
        disk("dm-0", "253:0", Some("pci/sda/sda2"));
        disk("dm-1", "253:1", Some("dm-0"));
        disk("dm-2", "253:2", Some("dm-0"));
        sys
    }

    fn total(lines: &[(&str, Bytes)]) -> Option<Bytes> {
        let machine = machine();
        let lines = lines.iter().map(|(line, bytes)| (line.as_bytes(), *bytes));
        StackedDisks::of(machine.path()).total(lines)
    }

    #[test]
    fn what_a_volume_and_the_disk_below_both_count_counts_once() {
        let read = [("8:0", [5, 0]), ("253:0", [5, 0]), ("253:1", [4, 0]), ("253:2", [1, 0])];
        assert_eq!(total(&read), Some([5, 0]));
        let beside = [("8:0", [9, 9]), ("253:0", [2, 2])];
        assert_eq!(total(&beside), Some([9, 9]), "another partition of the disk was used too");
    }

    #[test]
    fn what_the_kernel_writes_for_an_encrypted_volume_is_still_the_groups() {
        let read = [("8:0", [6, 0]), ("253:0", [6, 3]), ("253:1", [2, 1]), ("253:2", [4, 2])];
        assert_eq!(total(&read), Some([6, 3]));
        assert_eq!(total(&[("253:0", [0, 3]), ("253:1", [0, 3])]), Some([0, 3]));
    }

    #[test]
    fn a_loop_device_counts_where_its_file_is() {
        assert_eq!(total(&[("7:3", [4, 4]), ("8:0", [4, 4])]), Some([4, 4]));
        assert_eq!(total(&[("7:3", [4, 4])]), Some([0, 0]));
        assert_eq!(total(&[]), None);
    }

    #[test]
    fn disks_of_which_nothing_is_known_add_up() {
        assert_eq!(total(&[("254:0", [1, 2]), ("259:0", [3, 4])]), Some([4, 6]));
    }
}
