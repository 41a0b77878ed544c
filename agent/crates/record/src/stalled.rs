//! A disk that stands still, for tests: what is written goes to a pipe that nobody reads.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Makes a pipe of this name: writing to it stops when what it holds (64 KiB) is not read.
pub fn pipe(path: &Path) -> File {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: `name` is a text that ends with 0 and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    // Who has both ends keeps it open: its creation then does not wait.
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
}

/// Reads what is in the pipe now.
pub fn read_all(pipe: &mut File) -> Vec<u8> {
    let mut read = Vec::new();
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut part) {
        read.extend(&part[..count]);
    }
    read
}
