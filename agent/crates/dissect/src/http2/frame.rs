//! Frames: a header of 9 bytes, and a payload (RFC 9113 section 4.1).

use super::{Frame, LONGEST};

/// The header's size.
pub(super) const HEADER: usize = 9;

/// What a client says first on every connection (RFC 9113 section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const ACK: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const WITH_PRIORITY: u8 = 0x20;

/// Peers send no longer payloads unless they were allowed to, which hardly one is.
const USUAL_LONGEST: usize = 16_384;

/// The protocol's name for a type.
pub(super) fn name(kind: u8) -> &'static str {
    match kind {
        DATA => "DATA",
        HEADERS => "HEADERS",
        PRIORITY => "PRIORITY",
        RST_STREAM => "RST_STREAM",
        SETTINGS => "SETTINGS",
        PUSH_PROMISE => "PUSH_PROMISE",
        PING => "PING",
        GOAWAY => "GOAWAY",
        WINDOW_UPDATE => "WINDOW_UPDATE",
        CONTINUATION => "CONTINUATION",
        _ => "unknown",
    }
}

/// The length of what follows a header. Any 9 bytes are one.
pub(super) fn measure(header: [u8; HEADER]) -> Option<usize> {
    Some(u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize)
}

/// The same where it is not certain that a frame begins: it is none if no client sends one like it.
pub(super) fn measure_request(header: [u8; HEADER]) -> Option<usize> {
    measure(header).filter(|&length| is_frame(header, length))
}

/// How much of a reply's frame is kept where packets cut it: of content nothing is read.
pub(super) fn keep_of_reply(header: [u8; HEADER]) -> usize {
    if header[3] == DATA { 0 } else { LONGEST }
}

/// The stream that a frame belongs to; 0 is the connection itself.
pub(super) fn stream(header: [u8; HEADER]) -> u32 {
    u32::from_be_bytes([header[5], header[6], header[7], header[8]]) & !(1 << 31)
}

/// True if a DATA or a HEADERS is its side's last of the stream.
pub(super) fn ends_stream(header: [u8; HEADER]) -> bool {
    matches!(header[3], DATA | HEADERS) && header[4] & END_STREAM != 0
}

/// True if a header block ends with this frame.
pub(super) fn ends_headers(header: [u8; HEADER]) -> bool {
    header[4] & END_HEADERS != 0
}

/// A frame's content without its padding, as far as it was captured; none if its lengths contradict
/// each other.
pub(super) fn content<'a>(frame: &Frame<'a>) -> Option<&'a [u8]> {
    let (kind, flags) = (frame.header[3], frame.header[4]);
    let (mut payload, mut length) = (frame.prefix, frame.length);
    if matches!(kind, DATA | HEADERS | PUSH_PROMISE) && flags & PADDED != 0 {
        let (&padding, rest) = payload.split_first()?;
        length = length.checked_sub(1 + usize::from(padding))?;
        payload = rest;
    }
    let before = match kind {
        HEADERS if flags & WITH_PRIORITY != 0 => 5,
        PUSH_PROMISE => 4,
        _ => 0,
    };
    let length = length.checked_sub(before)?;
    let payload = payload.get(before..)?;
    Some(&payload[..length.min(payload.len())])
}

/// The last stream that the sender of a GOAWAY has taken up.
pub(super) fn last_stream(frame: &Frame<'_>) -> Option<u32> {
    let last = frame.prefix.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*last) & !(1 << 31))
}

/// True if a side's bytes in the middle of its stream are frames: one after the other to the end, with
/// the lengths, flags and streams that their types may have.
pub(super) fn looks_like_frames(mut bytes: &[u8]) -> bool {
    let mut count = 0;
    loop {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
            // The rest of a header is in the next packet.
            return count > 0;
        };
        let Some(length) = measure(*header).filter(|&length| is_frame(*header, length)) else {
            return false;
        };
        count += 1;
        match rest.get(length..) {
            None | Some([]) => return true,
            Some(next) => bytes = next,
        }
    }
}

fn is_frame(header: [u8; HEADER], length: usize) -> bool {
    let (kind, flags, stream) = (header[3], header[4], stream(header));
    // Clients' streams are odd; a pushed one is not followed.
    let (of_stream, of_connection) = (stream % 2 == 1, stream == 0);
    let (may_be, allowed) = match kind {
        DATA => (of_stream, END_STREAM | PADDED),
        HEADERS => (of_stream && length > 0, END_STREAM | END_HEADERS | PADDED | WITH_PRIORITY),
        PRIORITY => (of_stream && length == 5, 0),
        RST_STREAM => (of_stream && length == 4, 0),
        SETTINGS => (of_connection && length.is_multiple_of(6), ACK),
        PUSH_PROMISE => (of_stream && length > 4, END_HEADERS | PADDED),
        PING => (of_connection && length == 8, ACK),
        GOAWAY => (of_connection && length >= 8, 0),
        WINDOW_UPDATE => ((of_stream || of_connection) && length == 4, 0),
        CONTINUATION => (of_stream, END_HEADERS),
        _ => (false, 0),
    };
    may_be && flags & !allowed == 0 && header[5] >> 7 == 0 && length <= USUAL_LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame<'a>(kind: u8, flags: u8, prefix: &'a [u8], length: usize) -> Frame<'a> {
        let header = [0, 0, length as u8, kind, flags, 0, 0, 0, 1];
        Frame { start_ns: 0, end_ns: 0, header, length, prefix, whole: prefix.len() == length }
    }

    #[test]
    fn padding_and_priority_are_no_content() {
        let padded = |kind, flags, prefix: &'static [u8]| {
            content(&frame(kind, flags, prefix, prefix.len())).map(<[u8]>::to_vec)
        };
        assert_eq!(padded(DATA, PADDED, b"\x02abc\0\0"), Some(b"abc".to_vec()));
        assert_eq!(padded(HEADERS, WITH_PRIORITY, b"\0\0\0\0\x10ab"), Some(b"ab".to_vec()));
        assert_eq!(
            padded(HEADERS, WITH_PRIORITY | PADDED, b"\x01\0\0\0\0\x10ab\0"),
            Some(b"ab".to_vec())
        );
        assert_eq!(padded(PUSH_PROMISE, 0, b"\0\0\0\x02ab"), Some(b"ab".to_vec()));
        assert_eq!(padded(DATA, PADDED, b"\x09abc"), None, "more padding than there is");
        assert_eq!(padded(HEADERS, WITH_PRIORITY, b"\0\0"), None);
        let cut = frame(DATA, PADDED, b"\x02abcd", 9);
        assert_eq!(content(&cut), Some(&b"abcd"[..]), "of six bytes four were captured");
    }

    #[test]
    fn frames_are_told_from_content() {
        let ping = b"\0\0\x08\x06\0\0\0\0\0........";
        let data = b"\0\0\x03\0\x01\0\0\0\x05abc";
        assert!(looks_like_frames(ping));
        let both = [&data[..], ping].concat();
        for cut in HEADER..both.len() {
            assert!(looks_like_frames(&both[..cut]), "the rest is in the next packet");
        }
        assert!(!looks_like_frames(b"\0\0\x08"));
        assert!(!looks_like_frames(b"<p>text of a page, long enough for a header"));
        assert!(!looks_like_frames(&[0; 40]), "DATA of no stream");
        assert!(!looks_like_frames(&[&data[..], b"some more text"].concat()));
        assert!(
            !looks_like_frames(b"\0\0\x08\x06\x02\0\0\0\0........"),
            "a flag that PING has not"
        );
    }
}
