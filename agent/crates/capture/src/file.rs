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
use std::io::Write;
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
    if let Some(sentence) = not_read(&summary) {
        // Not eprintln!, which panics when the log's disk is full.
        let _ = writeln!(std::io::stderr(), "tierlab-agent: {} {sentence}", plan.file.display());
    }
    summary.last_of_file(&left_out);
    refuse_unread(&plan.file, &summary, &left_out)
}

/// An error where most frames could not be read: what there is of the others would pass for all.
fn refuse_unread(file: &Path, summary: &Summary, left_out: &LeftOut) -> Result<()> {
    let (unread, packets) = (left_out.unread_count(), summary.packets);
    if summary.unread_bytes > summary.bytes {
        bail!("{}: most of it cannot be read, as it is damaged; copy it again", file.display());
    }
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

/// A sentence about what was not read of the file.
fn not_read(summary: &Summary) -> Option<String> {
    match summary {
        Summary { unread_bytes: 0, cut_bytes: 0, .. } => None,
        Summary { unread_bytes: 0, cut_bytes, .. } => Some(format!(
            "ends within a record, as when its capture was killed: {cut_bytes} bytes were not read"
        )),
        Summary { unread_bytes, .. } => Some(format!(
            "is damaged: a record has a length that cannot be right; from there to the end of the file \
             {unread_bytes} bytes were not read"
        )),
    }
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
    summary.add_end(frames.end());
    dissector.finish(tables);
    Ok((summary, dissector.left_out().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierlab_dissect::Protocol;

    /// A pcap file with two records of four bytes; the second states this length.
    fn file(folder: &Path, length: u32) -> Frames {
        let mut content = Vec::new();
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101] {
            content.extend(u32::to_le_bytes(word));
        }
        for length in [4, length] {
            content
                .extend([10, 0, length, length, 0x45].iter().flat_map(|word| word.to_le_bytes()));
        }
        let path = folder.join("it.pcap");
        std::fs::write(&path, content).expect("room on the disk");
        Frames::open(&path).expect("it is there")
    }

    #[test]
    fn the_summary_has_what_was_not_read_however_many_threads_read() {
        let servers: Arc<[Server]> = Arc::new([Server {
            name: "web.1".into(),
            address: [127, 0, 1, 1].into(),
            port: 8080,
            protocol: Protocol::Http1,
            pass_through: false,
        }]);
        let salt = salt::draw().expect("the kernel has random numbers");
        let dissector =
            |count| Dissector::within(memory::of_each(count), Arc::clone(&servers), salt);
        for (length, cut_bytes, unread_bytes) in [(4, 0, 0), (5, 20, 0), (2_000_000_000, 0, 20)] {
            let folder = tempfile::tempdir().expect("a folder");
            let create = || Tables::create(folder.path(), "dissect", &servers, false);
            let mut tables = create().expect("room on the disk");
            let one = alone(file(folder.path(), length), dissector(1), &mut tables);
            let frames = file(folder.path(), length);
            let two = side_by_side::run(frames, 2, dissector, &mut tables);
            tables.finish().expect("room on the disk");
            for (summary, _) in [one, two].map(|done| done.expect("what is whole is read")) {
                let not_read_bytes = (summary.cut_bytes, summary.unread_bytes);
                assert_eq!(not_read_bytes, (cut_bytes, unread_bytes), "{length}");
                let sentence = not_read(&summary).unwrap_or_default();
                assert_eq!(sentence.contains("20 bytes were not read"), length != 4, "{sentence}");
            }
        }
    }
}
