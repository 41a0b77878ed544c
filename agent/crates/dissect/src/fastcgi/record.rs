//! Records: a header of 8 bytes, content, padding.

use super::Record;

/// The header's size.
pub(super) const HEADER: usize = 8;

/// The first byte of every record.
const VERSION: u8 = 1;

pub(super) const BEGIN_REQUEST: u8 = 1;
pub(super) const ABORT_REQUEST: u8 = 2;
pub(super) const END_REQUEST: u8 = 3;
pub(super) const PARAMS: u8 = 4;
pub(super) const STDIN: u8 = 5;
pub(super) const STDOUT: u8 = 6;
pub(super) const STDERR: u8 = 7;
pub(super) const DATA: u8 = 8;
pub(super) const GET_VALUES: u8 = 9;
pub(super) const GET_VALUES_RESULT: u8 = 10;
pub(super) const UNKNOWN_TYPE: u8 = 11;

/// The content of a BEGIN_REQUEST, an END_REQUEST and an UNKNOWN_TYPE.
const BODY: usize = 8;

/// The protocol's name for a type.
pub(super) fn name(kind: u8) -> &'static str {
    match kind {
        BEGIN_REQUEST => "BEGIN_REQUEST",
        ABORT_REQUEST => "ABORT_REQUEST",
        END_REQUEST => "END_REQUEST",
        PARAMS => "PARAMS",
        STDIN => "STDIN",
        STDOUT => "STDOUT",
        STDERR => "STDERR",
        DATA => "DATA",
        GET_VALUES => "GET_VALUES",
        GET_VALUES_RESULT => "GET_VALUES_RESULT",
        UNKNOWN_TYPE => "UNKNOWN_TYPE",
        _ => "unknown",
    }
}

/// The length of what follows a header: content and padding.
pub(super) fn measure(header: [u8; HEADER]) -> Option<usize> {
    (header[0] == VERSION).then(|| content_length(header) + usize::from(header[6]))
}

/// The same of a client's record, where that is not certain to be one: it is none if no client sends
/// one like it.
pub(super) fn measure_request(header: [u8; HEADER]) -> Option<usize> {
    let is_request = request_id(header) > 0;
    let may_be_one = match header[1] {
        BEGIN_REQUEST => is_request && content_length(header) == BODY,
        ABORT_REQUEST => is_request && content_length(header) == 0,
        PARAMS | STDIN | DATA => is_request,
        GET_VALUES => !is_request,
        _ => false,
    };
    measure(header).filter(|_| may_be_one && header[7] == 0)
}

fn content_length(header: [u8; HEADER]) -> usize {
    usize::from(u16::from_be_bytes([header[4], header[5]]))
}

pub(super) fn request_id(header: [u8; HEADER]) -> u32 {
    u32::from(u16::from_be_bytes([header[2], header[3]]))
}

/// The content, as far as it was captured.
pub(super) fn content<'a>(record: &Record<'a>) -> &'a [u8] {
    &record.prefix[..content_length(record.header).min(record.prefix.len())]
}

/// True if the record says that its stream is over.
pub(super) fn ends_stream(record: &Record<'_>) -> bool {
    content_length(record.header) == 0
}

/// True if a client's bytes in the middle of a stream may begin a request: one of the roles 1 to 3, no
/// flag but the one that keeps the connection, what is reserved zero, and its parameters next, as far
/// as they are in the same packet.
pub(super) fn begins_request(bytes: &[u8]) -> bool {
    let Some((begun, rest)) = bytes.split_first_chunk::<{ HEADER + BODY }>() else {
        return begins_values(bytes);
    };
    let [VERSION, BEGIN_REQUEST, a, b, 0, 8, padding, 0, body @ ..] = begun else {
        return begins_values(bytes);
    };
    let params = rest.get(usize::from(*padding)..).unwrap_or(&[]);
    let expected = [VERSION, PARAMS, *a, *b];
    matches!(body, [0, 1..=3, 0 | 1, 0, 0, 0, 0, 0])
        && expected.starts_with(&params[..params.len().min(expected.len())])
}

fn begins_values(bytes: &[u8]) -> bool {
    matches!(bytes, [VERSION, GET_VALUES, 0, 0, _, _, _, 0, ..])
}

/// True if a server's bytes in the middle of a stream are records: one after the other to the end,
/// with lengths that their types may have.
pub(super) fn looks_like_replies(mut bytes: &[u8]) -> bool {
    let mut count = 0;
    loop {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            // The rest of a header is in the next packet.
            return count > 0;
        };
        count += 1;
        let length = content_length(*header);
        let is_record = header[0] == VERSION
            && header[7] == 0
            && match header[1] {
                STDOUT | STDERR => true,
                END_REQUEST => length == BODY,
                UNKNOWN_TYPE => length == BODY && request_id(*header) == 0,
                GET_VALUES_RESULT => request_id(*header) == 0,
                _ => false,
            };
        if !is_record {
            return false;
        }
        match rest.get(length + usize::from(header[6])..) {
            None | Some([]) => return true,
            Some(next) => bytes = next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STDOUT_OF_3: &[u8] = b"\x01\x06\0\x01\0\x03\x05\0abc.....";
    const END: &[u8] = b"\x01\x03\0\x01\0\x08\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn replies_are_told_from_content() {
        assert!(looks_like_replies(STDOUT_OF_3));
        assert!(looks_like_replies(&[STDOUT_OF_3, END].concat()));
        for cut in 8..STDOUT_OF_3.len() + END.len() {
            let bytes = [STDOUT_OF_3, END].concat();
            assert!(looks_like_replies(&bytes[..cut]), "the rest is in the next packet");
        }
        assert!(!looks_like_replies(b"\x01\x06"));
        assert!(!looks_like_replies(&[STDOUT_OF_3, b"some text"].concat()));
        assert!(!looks_like_replies(b"\x01\x03\0\x01\0\x09\0\0 no END_REQUEST"));
    }

    #[test]
    fn requests_are_told_from_content() {
        assert!(begins_request(b"\x01\x01\0\x01\0\x08\0\0\0\x01\x01\0\0\0\0\0\x01\x04"));
        assert!(!begins_request(b"\x01\x01\0\x01\0\x08\0\0\0\x04\x01\0\0\0\0\0"));
        assert!(!begins_request(b"\x01\x04\0\x01\0\x08\0\0\x01\x01ab...."));
        let begun = b"\x01\x01\0\x01\0\x08\0\0\0\x01\x01\0\0\0\0\0";
        assert!(begins_request(begun), "the parameters are in the next packet");
        assert!(!begins_request(&[&begun[..], b"some content"].concat()));
        assert!(!begins_request(&[&begun[..], b"\x01\x04\0\x02"].concat()), "of another request");
    }
}
