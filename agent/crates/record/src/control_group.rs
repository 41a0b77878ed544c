//! Where a server's control group is, as the plans of several verbs say it.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders of one control group: one for each controller of version 1, and `unified` (version 2)
/// for the rest, pressure at the least.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Cgroups {
    pub unified: Option<PathBuf>,
    pub cpu: Option<PathBuf>,
    pub cpuacct: Option<PathBuf>,
    pub cpuset: Option<PathBuf>,
    pub memory: Option<PathBuf>,
    pub blkio: Option<PathBuf>,
    pub pids: Option<PathBuf>,
    pub freezer: Option<PathBuf>,
}

impl Cgroups {
    /// A folder of version 1, whichever controller's.
    pub fn version1(&self) -> Option<&Path> {
        self.of_version1().next()
    }

    /// The folder whose `cgroup.procs` lists the processes.
    pub fn members(&self) -> Option<&Path> {
        self.unified.as_deref().or(self.version1())
    }

    /// Every folder, each once though several controllers share it.
    pub fn folders(&self) -> Vec<PathBuf> {
        let each: BTreeSet<&Path> = self.of_version1().chain(self.unified.as_deref()).collect();
        each.into_iter().map(Path::to_owned).collect()
    }

    fn of_version1(&self) -> impl Iterator<Item = &Path> {
        let folders = [
            &self.cpuacct,
            &self.cpu,
            &self.memory,
            &self.cpuset,
            &self.pids,
            &self.blkio,
            &self.freezer,
        ];
        folders.into_iter().flatten().map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_controllers_share_is_listed_once() {
        let (shared, unified) = (Path::new("/c/cpu,cpuacct/web"), Path::new("/u/web"));
        let mut groups = Cgroups {
            cpu: Some(shared.to_owned()),
            cpuacct: Some(shared.to_owned()),
            ..Cgroups::default()
        };
        assert_eq!((groups.members(), groups.folders()), (Some(shared), vec![shared.to_owned()]));
        groups.unified = Some(unified.to_owned());
        assert_eq!((groups.members(), groups.version1()), (Some(unified), Some(shared)));
        assert_eq!(groups.folders(), [shared, unified]);
        assert_eq!(Cgroups::default().members(), None);
    }
}
