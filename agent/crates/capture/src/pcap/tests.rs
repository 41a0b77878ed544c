use super::interface::{nanoseconds, units_per_second};
use super::*;

#[test]
fn parts_of_a_second_become_nanoseconds() {
    assert_eq!(nanoseconds(1, 500_000, 1_000_000), 1_500_000_000);
    assert_eq!(nanoseconds(1, 5, 1_000_000_000), 1_000_000_005);
    assert_eq!(nanoseconds(0, 1, 1 << 20), 953);
}

#[test]
fn resolutions_are_powers_of_ten_or_two() {
    assert_eq!(units_per_second(6).expect("valid"), 1_000_000);
    assert_eq!(units_per_second(0x80 | 20).expect("valid"), 1 << 20);
    assert_eq!(units_per_second(0x80).expect("valid"), 1);
    assert!(units_per_second(20).is_err() && units_per_second(0x80 | 64).is_err());
}

fn pcap(magic: u32, link: u32, part: u32, frame: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [magic, 0x0004_0002, 0, 0, 65_535, link, 10, part] {
        file.extend(word.to_le_bytes());
    }
    for _ in 0..2 {
        file.extend((frame.len() as u32).to_le_bytes());
    }
    file.extend(frame);
    file
}

/// Times and contents.
type Read = Vec<(i64, Vec<u8>)>;

fn read(content: &[u8]) -> Result<Read> {
    Ok(read_to_the_end(content)?.0)
}

/// The frames, and what was not read.
fn read_to_the_end(content: &[u8]) -> Result<(Read, FileEnd)> {
    let name = format!("tierlab-test-{}-{:p}.pcap", std::process::id(), content);
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, content)?;
    let mut frames = Frames::open(&path)?;
    std::fs::remove_file(&path)?;
    let (mut chunk, mut seen) = (Chunk::new(1), Vec::new());
    while frames.next(&mut chunk)? {
        seen.extend(chunk.frames(0).map(|it| (it.at_ns, it.frame.bytes.to_vec())));
    }
    Ok((seen, frames.end()))
}

#[test]
fn micro_and_nanosecond_files_are_read() {
    let micro = read(&pcap(0xa1b2_c3d4, 1, 7, b"frame")).expect("valid");
    assert_eq!(micro, [(10_000_007_000, b"frame".to_vec())]);
    let nano = read(&pcap(0xa1b2_3c4d, 101, 7, b"frame")).expect("valid");
    assert_eq!(nano, [(10_000_000_007, b"frame".to_vec())]);
}

#[test]
fn a_file_cut_short_ends_there_and_its_bytes_are_counted() {
    let mut content = pcap(0xa1b2_c3d4, 1, 7, b"frame");
    content.extend([0; 9]);
    let (frames, end) = read_to_the_end(&content).expect("valid");
    assert_eq!((frames.len(), end), (1, FileEnd { cut_bytes: 9, damaged_bytes: 0 }));
    let whole = pcap(0xa1b2_c3d4, 1, 7, b"frame");
    assert_eq!(read_to_the_end(&whole).expect("valid").1, FileEnd::default());
    let cut = &whole[..whole.len() - 1];
    let cut_bytes = 16 + b"fram".len() as u64;
    let (frames, end) = read_to_the_end(cut).expect("valid");
    assert_eq!((frames.len(), end), (0, FileEnd { cut_bytes, damaged_bytes: 0 }));
}

/// Changes the captured length of a record of `file` that has this place among all of its length.
fn damage(file: &mut [u8], record: usize, length: u32) {
    let at = 24 + record * (16 + b"frame".len()) + 8;
    file[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

#[test]
fn what_is_behind_a_record_with_a_damaged_length_is_counted_as_not_read() {
    let whole = pcap(0xa1b2_c3d4, 1, 7, b"frame");
    let records = 1_000;
    for length in [u32::MAX, 2_000_000_000, 70_000] {
        let mut content = whole.clone();
        (1..records).for_each(|_| content.extend(&whole[24..]));
        damage(&mut content, 10, length);
        let (frames, end) = read_to_the_end(&content).expect("what is before is read");
        let damaged_bytes = (records - 10) * (16 + b"frame".len());
        assert_eq!(frames.len(), 10, "{length}");
        let damaged = FileEnd { cut_bytes: 0, damaged_bytes: damaged_bytes as u64 };
        assert_eq!(end, damaged, "{length}");
    }
}

#[test]
fn other_files_are_refused_in_words() {
    for (content, words) in [
        (b"#!/bin/sh is a script, not a capture".to_vec(), "no pcap"),
        (Vec::new(), "empty"),
        (pcap(0xa1b2_c3d4, 105, 7, b"frame"), "link type 105"),
    ] {
        let error = format!("{:#}", read(&content).expect_err("refused"));
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_frame_longer_than_what_is_read_at_once_is_read() {
    let frame = vec![7; 3 * CHUNK_BYTES];
    let seen = read(&pcap(0xa1b2_c3d4, 1, 7, &frame)).expect("valid");
    assert!(seen == [(10_000_007_000, frame)]);
    let frame = vec![7; LONGEST_BLOCK];
    let error = read(&pcap(0xa1b2_c3d4, 1, 7, &frame));
    assert!(format!("{:#}", error.expect_err("refused")).contains("larger than 8 MiB"));
}
