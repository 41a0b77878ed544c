//! Frames out of a pcap or pcapng file, through the same path as those of a ring.

use crate::memory;
use crate::pcap::{Chunk, Frames};
use crate::plan::FilePlan;
use crate::salt;
use crate::shards::{Shards, Sharing};
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use tierlab_dissect::{Dissector, Server};

/// Reads, dissects and writes.
pub(crate) fn run(plan: FilePlan, out: &Path) -> Result<()> {
    let servers: Arc<[Server]> = plan.servers.into();
    let mut tables = Tables::create(out, "dissect", &servers, plan.messages)?;
    let salt = salt::draw()?;
    let dissector = |count| {
        let memory_bytes = memory::of_each(count);
        Dissector::within(memory_bytes, Arc::clone(&servers), salt)
    };
    let frames = Frames::open(&plan.file)?;
    let threads = plan.threads.get();
    let mut summary = if threads == 1 {
        alone(frames, dissector(1), &mut tables)?
    } else {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let shards = Shards::new(threads, dissector);
        pool.context("cannot start a thread")?
            .install(|| side_by_side(frames, shards, &mut tables))?
    };
    summary.visits = tables.visit_count();
    tables.finish()?;
    summary.last();
    Ok(())
}

/// One thread takes every frame to its end before the next.
fn alone(mut frames: Frames, mut dissector: Dissector, tables: &mut Tables) -> Result<Summary> {
    let mut summary = Summary::default();
    let mut chunk = Chunk::default();
    while frames.next(&mut chunk)? {
        for (at_ns, link, bytes) in chunk.frames() {
            dissector.frame_at(at_ns, link, bytes, tables);
        }
        summary.add(&chunk);
    }
    summary.connections = dissector.open_connections() as u64;
    summary.crowded_out = dissector.crowded_out();
    dissector.finish(tables);
    Ok(summary)
}

/// Some threads dissect a part of the file; meanwhile the next part is read and what was said of the
/// one before is told.
fn side_by_side(mut frames: Frames, mut shards: Shards, tables: &mut Tables) -> Result<Summary> {
    let mut summary = Summary::default();
    let (mut now, mut next) = (Sharing::default(), Sharing::default());
    let (count, mut goes_on) = (shards.count(), true);
    while goes_on {
        let read;
        (read, ()) = rayon::join(
            || next.read(&mut frames, count, summary.packets),
            || shards.dissect(&now, tables),
        );
        goes_on = read?;
        summary.add(&next.chunk);
        std::mem::swap(&mut now, &mut next);
    }
    (summary.connections, summary.crowded_out) = shards.finish(tables);
    Ok(summary)
}
