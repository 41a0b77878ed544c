use super::*;

const READY: &[u8] = b"Z\0\0\0\x05I";
const OK: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const SASL: &[u8] = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
const PARAMETER: &[u8] = b"S\0\0\0\x0bname\0v\0";
const COLUMNS: &[u8] = b"T\0\0\0\x06\0\0";
const ROW: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x01x";
const DONE: &[u8] = b"C\0\0\0\x0dSELECT 1\0";
const ERROR: &[u8] = b"E\0\0\0\x22SERROR\0C42P01\0Mit is missing\0\0";
const COPY: &[u8] = b"G\0\0\0\x07\0\0\0";

fn known(known: bool) -> Dialogue {
    let login = Login { user: "u".into(), password: "p".into(), database: "d".into() };
    Dialogue::new(Arc::new(login), known)
}

fn said(dialogue: &Dialogue, id: Option<u64>) -> String {
    let mut text = b"what was there before".to_vec();
    dialogue.write(b"SELECT 1", id, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_statement_s_rows_are_counted_however_its_bytes_come() {
    let answer = [COLUMNS, ROW, ROW, ROW, DONE, READY].concat();
    for size in 1..=answer.len() {
        let mut dialogue = known(true);
        let mut progress = Progress::More;
        for piece in answer.chunks(size) {
            assert_eq!(progress, Progress::More);
            progress = dialogue.feed(piece).unwrap();
        }
        assert_eq!(progress, Progress::Complete, "in pieces of {size}");
        assert_eq!((dialogue.rows(), dialogue.received()), (3, answer.len() as u64));
        assert!(dialogue.persistent() && dialogue.failure().is_none());
    }
}

#[test]
fn who_needs_no_proof_says_its_statement_at_once() {
    let mut dialogue = known(false);
    assert!(said(&dialogue, Some(1)).ends_with("\0user\0u\0database\0d\0\0"));
    let progress = dialogue.feed(&[OK, PARAMETER, READY].concat());
    assert_eq!(progress.unwrap(), Progress::Send);
    assert!(said(&dialogue, None).starts_with('Q'));
    assert!(said(&dialogue, Some(0xab)).ends_with("/*rid=00000000000000ab*/ SELECT 1\0"));
}

#[test]
fn who_is_asked_for_a_proof_begins_one() {
    let mut dialogue = known(false);
    assert_eq!(dialogue.feed(SASL).unwrap(), Progress::Send);
    let first = said(&dialogue, None);
    assert!(first.starts_with('p') && first.contains("SCRAM-SHA-256"), "{first}");
    // A server that proves nothing itself is not believed.
    let challenge = b"R\0\0\0\x0c\0\0\0\x0br=no";
    assert_eq!(dialogue.feed(challenge).unwrap_err().name(), "malformed");
}

#[test]
fn an_error_has_its_code_and_the_connection_goes_on() {
    let mut dialogue = known(true);
    assert_eq!(dialogue.feed(ERROR).unwrap(), Progress::More);
    assert_eq!(dialogue.feed(READY).unwrap(), Progress::Complete);
    assert_eq!(dialogue.failure().unwrap().name(), "sqlstate_42P01");
    assert!(dialogue.persistent());
}

#[test]
fn whom_it_does_not_let_in_it_tells_why() {
    let mut dialogue = known(false);
    assert_eq!(dialogue.feed(ERROR).unwrap(), Progress::Complete);
    assert!(!dialogue.persistent() && dialogue.failure().is_some());
}

#[test]
fn an_end_is_as_good_as_what_was_said_before() {
    let mut silent = known(true);
    assert_eq!(silent.end().unwrap_err().name(), "no_reply");
    let mut cut = known(true);
    cut.feed(ROW).unwrap();
    assert_eq!(cut.end().unwrap_err().name(), "truncated");
    let mut told = known(true);
    told.feed(ERROR).unwrap();
    assert!(told.end().is_ok() && !told.persistent());
}

#[test]
fn what_is_out_of_step_ends_the_connection() {
    let mut more = known(true);
    assert_eq!(more.feed(&[DONE, READY, DONE].concat()).unwrap(), Progress::Complete);
    assert!(!more.persistent());
    assert_eq!(known(true).feed(SASL).unwrap_err().name(), "malformed");
    assert_eq!(known(true).feed(COPY).unwrap_err().name(), "malformed");
}

#[test]
fn a_message_without_end_is_not_kept() {
    let mut long = b"E\x7f\xff\xff\xff".to_vec();
    assert_eq!(known(true).feed(&long).unwrap_err().name(), "too_large");
    long[0] = b'D';
    let mut passed = known(true);
    for _ in 0..100 {
        assert_eq!(passed.feed(&[7; 1 << 16]).ok().or(Some(Progress::More)), Some(Progress::More));
    }
}

#[test]
fn any_bytes_are_an_answer_or_none() {
    let answer = [PARAMETER, COLUMNS, ROW, ERROR, DONE, READY].concat();
    for at in 0..answer.len() {
        for byte in 0..=255 {
            let mut bytes = answer.clone();
            bytes[at] = byte;
            for is_known in [true, false] {
                let mut dialogue = known(is_known);
                let _ = bytes.chunks(7).try_for_each(|piece| dialogue.feed(piece).map(drop));
                assert!(dialogue.received() <= bytes.len() as u64);
            }
        }
    }
}
