//! Frames out of a pcap or pcapng file, through the same path as those of a ring.

use crate::chunk::{Chunk, Placed};
use crate::memory;
use crate::pcap::Frames;
use crate::plan::FilePlan;
use crate::salt;
use crate::side_by_side;
use crate::summary::Summary;
use crate::tables::Tables;
use anyhow::{Result, bail};
use std::path::Path;
use std::sync::Arc;
use tierlab_dissect::{Dissector, LeftOut, Server, Unread};

/// Reads, dissects and writes.
pub(crate) fn run(plan: FilePlan, out: &Path) -> Result<()> {
    let servers: Arc<[Server]> = plan.servers.into();
    let mut tables = Tables::create(out, "dissect", &servers, plan.messages)?;
    let salt = salt::draw()?;
    let dissector = |count| {
        let memory_bytes = memory::of_each(count);
        Dissector::within(memory_bytes, Arc::clone(&servers), salt).without_copies()
    };
    let frames = Frames::open(&plan.file)?;
    let threads = plan.threads.get();
    let (mut summary, left_out) = if threads == 1 {
        alone(frames, dissector(1), &mut tables)?
    } else {
        side_by_side::run(frames, threads, dissector, &mut tables)?
    };
    summary.visits = tables.visit_count();
    tables.finish()?;
    summary.last_of_file(&left_out);
    refuse_unread(&plan.file, summary.packets, &left_out)
}

/// An error where most frames could not be read: what there is of the others would pass for all.
fn refuse_unread(file: &Path, packets: u64, left_out: &LeftOut) -> Result<()> {
    let unread = left_out.unread_count();
    if unread * 2 <= packets {
        return Ok(());
    }
    let mut reasons: Vec<_> = left_out.unread.iter().map(|(why, count)| (count, why)).collect();
    reasons.sort_unstable_by_key(|&(count, _)| std::cmp::Reverse(count));
    let of = |&(count, why): &(&u64, &Unread)| format!("{count}: {why}");
    let reasons = reasons.iter().take(3).map(of).collect::<Vec<_>>().join("; ");
    let file = file.display();
    bail!(
        "{file}: {unread} of {packets} frames cannot be read ({reasons}); what they carry is not known"
    )
}

/// One thread takes every frame to its end before the next.
fn alone(
    mut frames: Frames,
    mut dissector: Dissector,
    tables: &mut Tables,
) -> Result<(Summary, LeftOut)> {
    let mut summary = Summary::default();
    let mut chunk = Chunk::new(1);
    while frames.next(&mut chunk)? {
        for Placed { at_ns, frame, .. } in chunk.frames(0) {
            dissector.frame_at(at_ns, frame, tables);
        }
        summary.add(&chunk);
    }
    summary.connections = dissector.open_connections() as u64;
    summary.crowded_out = dissector.crowded_out();
    dissector.finish(tables);
    Ok((summary, dissector.left_out().clone()))
}
