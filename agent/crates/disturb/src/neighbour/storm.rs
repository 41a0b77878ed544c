//! Writes that go to the disk at once, one after the other.

use super::{Job, Worked};
use crate::neighbour::pages::PAGE;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use tierlab_record::clock::{realtime_ns, steady_ns};

/// What to write, and where.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Storm {
    /// An existing file, which is written over and over.
    pub file: PathBuf,
    /// Its size.
    pub file_bytes: u64,
    /// One write, a multiple of 4096.
    pub write_bytes: usize,
    /// Threads that write at the same time.
    pub writers: usize,
}

/// The file is open, and there is something to write.
pub struct Ready {
    storm: Storm,
    file: File,
    /// Whether the page cache is passed by; else each write is followed by fdatasync.
    direct: bool,
    data: Vec<Block>,
}

/// O_DIRECT wants the memory aligned as the disk's blocks are.
#[repr(C, align(4096))]
#[derive(Clone)]
struct Block([u8; PAGE]);

fn bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: a block is a page of bytes and nothing else, without padding.
    unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
}

impl Storm {
    /// Opens the file.
    pub fn prepare(&self) -> Result<Ready> {
        let data = vec![Block([1; PAGE]); self.write_bytes.div_ceil(PAGE)];
        let open = |flags| OpenOptions::new().write(true).custom_flags(flags).open(&self.file);
        // Only what passes by the cache is put down to this domain where version 1 accounts it.
        let direct = open(libc::O_DIRECT | libc::O_DSYNC);
        let (file, direct) = match direct {
            Ok(file) => (file, true),
            Err(_) => (open(0).with_context(|| format!("{}", self.file.display()))?, false),
        };
        Ok(Ready { storm: self.clone(), file, direct, data })
    }
}

impl Ready {
    /// One thread's writes. Returns how many, and when the last one was done.
    fn write(&self, first: u64, until_ns: i64) -> Result<(u64, i64)> {
        let places = (self.storm.file_bytes / self.storm.write_bytes as u64).max(1);
        let (mut count, mut longest_ns) = (0, 0);
        let mut now_ns = steady_ns();
        // A write cannot be broken off: the last one is the one that ends nearest to the end.
        while count == 0 || now_ns + longest_ns / 2 < until_ns {
            let place = (first + count * self.storm.writers as u64) % places;
            self.file.write_all_at(bytes(&self.data), place * self.storm.write_bytes as u64)?;
            if !self.direct {
                self.file.sync_data()?;
            }
            count += 1;
            let after_ns = steady_ns();
            longest_ns = longest_ns.max(after_ns - now_ns);
            now_ns = after_ns;
        }
        Ok((count, realtime_ns()))
    }
}

impl Job for Ready {
    fn work(&mut self, until_ns: i64, began: &mut dyn FnMut(i64)) -> Result<Worked> {
        began(realtime_ns());
        let done: Vec<Result<(u64, i64)>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.storm.writers as u64)
                .map(|first| {
                    scope.spawn({
                        let this = &*self;
                        move || this.write(first, until_ns)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| anyhow::bail!("a writer panicked")))
                .collect()
        });
        let (mut writes, mut ended_ns) = (0, 0);
        for thread in done {
            let (count, last_ns) = thread.context("cannot write")?;
            writes += count;
            ended_ns = ended_ns.max(last_ns);
        }
        let effect = [
            ("writes".to_owned(), writes.into()),
            ("bytes".to_owned(), (writes * self.storm.write_bytes as u64).into()),
            ("direct".to_owned(), self.direct.into()),
        ];
        Ok(Worked { ended_ns, effect: Map::from_iter(effect) })
    }
}
