//! What the threads of one control group do at the moment, and whether the group is frozen.

use crate::awaited_file::AwaitedFile;
use crate::keyed::Keyed;
use std::fs::File;
use std::path::{Path, PathBuf};
use tierlab_record::Cgroups;
use tierlab_record::clock::Moment;

/// Where a group's state is told.
pub struct GroupState {
    /// Of version 1, whose threads the kernel counts; opened once the group is there.
    folder: Option<PathBuf>,
    opened: Option<File>,
    freezer: Option<Freezer>,
}

enum Freezer {
    /// `freezer.state`
    V1(AwaitedFile),
    /// `cgroup.events`
    V2(AwaitedFile, Keyed<1>),
}

impl GroupState {
    /// Of the group in these folders.
    pub fn of(groups: &Cgroups) -> Self {
        let file = |folder: &PathBuf, name| AwaitedFile::new(folder.join(name));
        let freezer = match (&groups.freezer, &groups.unified) {
            (Some(folder), _) => Some(Freezer::V1(file(folder, "freezer.state"))),
            (None, Some(folder)) => {
                Some(Freezer::V2(file(folder, "cgroup.events"), Keyed::new(["frozen"])))
            }
            (None, None) => None,
        };
        Self { folder: groups.version1().map(Path::to_owned), opened: None, freezer }
    }

    /// True where the kernel can count its threads.
    pub fn counts_threads(&self) -> bool {
        self.folder.is_some()
    }

    /// Its folder, of which the kernel counts the threads; `None` while it is not there.
    pub fn counted(&mut self) -> Option<&File> {
        if self.opened.is_none() {
            self.opened = File::open(self.folder.as_ref()?).ok();
        }
        self.opened.as_ref()
    }

    /// Whether it is frozen.
    pub fn is_frozen(&mut self, now: Moment) -> Option<bool> {
        match self.freezer.as_mut()? {
            Freezer::V1(state) => state.read(now).map(|text| text == b"FROZEN\n"),
            Freezer::V2(events, keyed) => {
                let [frozen] = keyed.read(events.read(now)?);
                frozen.map(|frozen| frozen == 1)
            }
        }
    }

    /// The group is gone; another may come in its place.
    pub fn close(&mut self) {
        self.opened = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_is_read_of_either_version() {
        let folder = tempfile::tempdir().unwrap();
        let here = || Some(folder.path().to_owned());
        let v1 = Cgroups { freezer: here(), ..Cgroups::default() };
        let v2 = Cgroups { unified: here(), ..Cgroups::default() };
        let files = [(v1, "freezer.state"), (v2, "cgroup.events")];
        let texts =
            [["THAWED\n", "FROZEN\n"], ["populated 1\nfrozen 0\n", "populated 1\nfrozen 1\n"]];
        let now = Moment { t_ns: 0, monotonic_ns: 0 };
        for ((groups, name), [thawed, frozen]) in files.into_iter().zip(texts) {
            let mut state = GroupState::of(&groups);
            let path = folder.path().join(name);
            std::fs::write(&path, thawed).unwrap();
            assert_eq!(state.is_frozen(now), Some(false));
            std::fs::write(&path, frozen).unwrap();
            assert_eq!(state.is_frozen(now), Some(true));
        }
        assert_eq!(GroupState::of(&Cgroups::default()).is_frozen(now), None);
    }
}
