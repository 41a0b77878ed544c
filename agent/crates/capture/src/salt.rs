//! A run's salt.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::Read;
use tierlab_dissect::Salt;

/// A new random salt, which is never written down.
///
/// # Errors
/// When the kernel's source of random numbers cannot be read.
pub fn draw() -> Result<Salt> {
    let mut random = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut random))
        .context("cannot read /dev/urandom")?;
    Ok(Salt::new(random))
}
