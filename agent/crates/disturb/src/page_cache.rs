//! What the kernel keeps of a server's files in memory.

use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The folder that the server which listens at a socket works in, wherever it is mounted.
pub fn served_from(socket: &Path) -> Result<PathBuf> {
    let stream = UnixStream::connect(socket)
        .with_context(|| format!("nobody listens at {}", socket.display()))?;
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` has room for `length` bytes.
    let told = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    ensure!(told == 0, "{}: {}", socket.display(), io::Error::last_os_error());
    Ok(PathBuf::from(format!("/proc/{}/cwd", peer.pid)))
}

/// Writes what has changed of a folder's files to the disk.
pub fn write_back(folder: &Path) -> Result<()> {
    each(folder, |_, file| file.sync_data())
}

/// Drops a folder's files from the kernel's cache, but those whose name begins with `but`.
pub fn drop_all(folder: &Path, but: Option<&str>) -> Result<()> {
    each(
        folder,
        |name, file| if but.is_some_and(|but| is_part(name, but)) { Ok(()) } else { dropped(file) },
    )
}

/// Has this process read the files whose name begins with `first`, and be charged for their pages.
pub fn reread(folder: &Path, first: &str) -> Result<()> {
    each(folder, |name, mut file| {
        if is_part(name, first) {
            file.sync_data()?;
            dropped(file)?;
            io::copy(&mut file, &mut io::sink())?;
        }
        Ok(())
    })
}

/// A table has files of one name, with endings.
fn is_part(name: &str, first: &str) -> bool {
    name.split(['.', '_']).next() == Some(first)
}

fn dropped(file: &File) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Does something with each file of a folder. A table may be removed meanwhile.
fn each(folder: &Path, what: impl Fn(&str, &File) -> io::Result<()>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match File::open(&path).and_then(|file| what(name, &file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("cannot use {}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tables_parts_are_known_by_its_files_name() {
        for part in ["16400", "16400.1", "16400_fsm"] {
            assert!(is_part(part, "16400"), "{part}");
        }
        assert!(!is_part("164001", "16400"));
    }
}
