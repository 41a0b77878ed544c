//! Frames out of a pcap or pcapng file, through the same path as those of a ring.

use crate::chunk::{Chunk, Frame};
use crate::memory;
use crate::pcap::Frames;
use crate::plan::FilePlan;
use crate::salt;
use crate::side_by_side;
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::Result;
use std::io::Write;
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
        side_by_side::run(frames, threads, dissector, &mut tables)?
    };
    summary.visits = tables.visit_count();
    tables.finish()?;
    if let Some(sentence) = not_read(&summary) {
        // Not eprintln!, which panics when the log's disk is full.
        let _ = writeln!(std::io::stderr(), "tierlab-agent: {} {sentence}", plan.file.display());
    }
    summary.last();
    Ok(())
}

/// A sentence about what was not read of the file.
fn not_read(summary: &Summary) -> Option<String> {
    match summary {
        Summary { unread_bytes: 0, cut_bytes: 0, .. } => None,
        Summary { unread_bytes: 0, cut_bytes, .. } => Some(format!(
            "ends within a record, as when its capture was killed: {cut_bytes} bytes were not read"
        )),
        Summary { unread_bytes, .. } => Some(format!(
            "is damaged: a record is longer than any can be, and its {unread_bytes} bytes from there \
             on were not read"
        )),
    }
}

/// One thread takes every frame to its end before the next.
fn alone(mut frames: Frames, mut dissector: Dissector, tables: &mut Tables) -> Result<Summary> {
    let mut summary = Summary::default();
    let mut chunk = Chunk::new(1);
    while frames.next(&mut chunk)? {
        for Frame { at_ns, link, bytes, .. } in chunk.frames(0) {
            dissector.frame_at(at_ns, link, bytes, tables);
        }
        summary.add(&chunk);
    }
    summary.connections = dissector.open_connections() as u64;
    summary.crowded_out = dissector.crowded_out();
    summary.add_unread(frames.unread());
    dissector.finish(tables);
    Ok(summary)
}
