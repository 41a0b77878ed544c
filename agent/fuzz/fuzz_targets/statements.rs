#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use tierlab_drive::answer::Progress;
use tierlab_drive::failure::Failure;
use tierlab_drive::sql::{Dialogue, Key, Login};

/// A row's message: its head, and how many columns it has.
const SHORTEST_ROW: u64 = 5;

/// How an answer ends, what is known of it then, and what is said after it.
type End = (Result<Progress, Failure>, u64, u64, Option<Key>, bool);

// What a database answers, in pieces of any size, to whom it knows (the first byte) or not.
fuzz_target!(|answer: (bool, u8, Vec<u8>)| {
    let (known, size, bytes) = answer;
    let whole = told(known, &bytes, bytes.len().max(1));
    let pieces = told(known, &bytes, usize::from(size).max(1));
    if whole.0 != Ok(Progress::Send) {
        assert_eq!(whole.0, pieces.0, "the pieces in which bytes come change nothing");
        assert_eq!(whole.2, pieces.2);
        assert_eq!(whole.3, pieces.3);
    }
});

fn told(known: bool, bytes: &[u8], size: usize) -> End {
    let login = Login { user: "u".into(), password: "p".into(), database: "d".into() };
    let mut dialogue = Dialogue::new(Arc::new(login), known);
    let mut progress = Ok(Progress::More);
    let mut said = Vec::new();
    for piece in bytes.chunks(size) {
        progress = dialogue.feed(piece);
        if progress == Ok(Progress::Send) {
            dialogue.write(b"SELECT 1", Some(1), &mut said);
            assert!(!said.is_empty());
        }
        if !matches!(progress, Ok(Progress::More | Progress::Send)) {
            break;
        }
    }
    assert!(dialogue.received() <= bytes.len() as u64);
    assert!(dialogue.rows() * SHORTEST_ROW <= dialogue.received());
    if let Some(failure) = dialogue.failure() {
        let name = failure.name();
        assert!(name.len() == "sqlstate_".len() + 5 && name.is_ascii(), "{name}");
    }
    let found = (dialogue.rows(), dialogue.key(), dialogue.persistent());
    let _ = dialogue.end();
    assert!(!dialogue.persistent());
    (progress, dialogue.received(), found.0, found.1, found.2)
}
