//! A limit on what a domain may do on the disk below its folder, for the whole trial: where the
//! device is so fast that no neighbour could be felt.

use crate::keeper::{Held, Keeper};
use crate::plan::Target;
use crate::undo::Undo;
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is limited, by its name in either version of the control groups.
#[derive(Clone, Copy, Debug)]
pub enum Share {
    /// Bytes written per second.
    WrittenBytes,
    /// Reads per second.
    Reads,
}

impl Share {
    fn version1(self) -> &'static str {
        match self {
            Self::WrittenBytes => "blkio.throttle.write_bps_device",
            Self::Reads => "blkio.throttle.read_iops_device",
        }
    }

    fn version2(self) -> &'static str {
        match self {
            Self::WrittenBytes => "wbps",
            Self::Reads => "riops",
        }
    }
}

/// Limits the domain. The limit goes when the answer is dropped.
pub fn put(target: &Target, share: Share, limit: u64, keeper: &Keeper) -> Result<Held> {
    let folder = target.folder.as_deref().context("a limit needs the domain's `folder`")?;
    let device = disk_below(folder)?;
    let (file, set, unset) = words(target, share, &device, limit)?;
    let held = keeper.hold(Undo::Write(file.clone(), unset))?;
    fs::write(&file, &set).with_context(|| format!("{}: '{set}' is refused", file.display()))?;
    Ok(held)
}

/// The control file, and what sets and unsets the limit there.
fn words(
    target: &Target,
    share: Share,
    device: &str,
    limit: u64,
) -> Result<(PathBuf, String, String)> {
    if let Some(folder) = &target.cgroups.blkio {
        let file = folder.join(share.version1());
        return Ok((file, format!("{device} {limit}"), format!("{device} 0")));
    }
    let file = target.cgroups.unified.as_ref().map(|folder| folder.join("io.max"));
    match file.filter(|file| file.exists()) {
        Some(file) => {
            let key = share.version2();
            Ok((file, format!("{device} {key}={limit}"), format!("{device} {key}=max")))
        }
        None => bail!("a limit needs the domain's `blkio` (or version 2's `io`) control group"),
    }
}

/// `major:minor` of the whole disk that holds a folder: partitions cannot be limited.
fn disk_below(folder: &Path) -> Result<String> {
    let number =
        fs::metadata(folder).with_context(|| format!("cannot look at {}", folder.display()))?.dev();
    let own = format!("{}:{}", libc::major(number), libc::minor(number));
    let device = Path::new("/sys/dev/block").join(&own);
    if !device.exists() {
        bail!("{} lies on no disk of this machine's", folder.display());
    }
    if !device.join("partition").exists() {
        return Ok(own);
    }
    let disk = fs::canonicalize(&device)?.join("../dev");
    Ok(fs::read_to_string(&disk)?.trim().to_owned())
}
