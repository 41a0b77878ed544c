//! Disk: a neighbour in the server's domain writes to the server's disk, every write synchronous.

use crate::class::Preparation;
use crate::disturbance::Disturbance;
use crate::neighbour::{Orders, Storm, Work};
use crate::plan::Planned;
use crate::undo::Undo;
use crate::worker::{Employed, Worker};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Its keys.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Bytes of one write.
    #[serde(default = "four_mib")]
    write: usize,
    /// Threads that write at the same time.
    #[serde(default = "four")]
    writers: usize,
}

fn four_mib() -> usize {
    4 << 20
}
fn four() -> usize {
    4
}

/// What O_DIRECT demands of sizes and offsets, on any disk.
const BLOCK: usize = 4096;
/// Large enough for all writers to write to places of their own.
const FILE_BYTES: u64 = 64 << 20;

impl Disk {
    /// Lays out the file, and puts a neighbour into the domain.
    pub fn prepare(
        &self,
        planned: &Planned,
        preparation: &Preparation,
    ) -> Result<Box<dyn Disturbance>> {
        ensure!(self.write > 0 && self.writers > 0, "`write` and `writers` are 1 or more");
        let target = &planned.target;
        let folder = target.folder.as_deref().context("it needs the domain's `folder`")?;
        let write_bytes = self.write.next_multiple_of(BLOCK);
        let file_bytes = FILE_BYTES.max((write_bytes * self.writers) as u64);
        let file = folder.join(format!("neighbour-{}.dat", planned.what.id));
        let changes = vec![preparation.keeper.hold(Undo::RemoveFile(file.clone()))?];
        lay_out(&file, file_bytes).with_context(|| format!("cannot write {}", file.display()))?;
        let storm = Storm { file, file_bytes, write_bytes, writers: self.writers };
        let orders =
            Orders { cgroups: target.cgroups.folders(), nice: 0, work: Work::Storm(storm) };
        Ok(Box::new(Employed::new(Worker::prepare(&orders)?, changes)))
    }
}

/// Every block is written, so that the storm needs none from the file system.
fn lay_out(file: &Path, bytes: u64) -> std::io::Result<()> {
    let mut file = File::create(file)?;
    let block = vec![0; 1 << 20];
    for _ in 0..bytes.div_ceil(block.len() as u64) {
        file.write_all(&block)?;
    }
    file.sync_all()
}
