//! TLS where another protocol was expected.

/// With what a client begins: the type of the record that carries its ClientHello, and the first byte
/// of the record's version (RFC 8446 section 5.1).
pub(crate) const HANDSHAKE: [u8; 2] = [22, 3];

/// What it is called where a protocol cannot be read for it.
pub(crate) const NAME: &str = "tls";

const APPLICATION_DATA: u8 = 23;
/// A record's type, version and length (RFC 8446 section 5.1).
const HEADER: usize = 5;
/// With what encryption may add (section 5.2).
const LONGEST: usize = (1 << 14) + 256;

/// Whether bytes in the middle of a stream are records of application data, the last of which ends
/// with them or is followed by the beginning of another.
pub(crate) fn is_records(mut bytes: &[u8]) -> bool {
    let mut some = false;
    while let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() {
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        let is_record = header[0] == APPLICATION_DATA
            && header[1] == 3
            && (1..=4).contains(&header[2])
            && (1..=LONGEST).contains(&length);
        match rest.get(length..) {
            _ if !is_record => return false,
            None => return some,
            Some(behind) => (bytes, some) = (behind, true),
        }
    }
    some && bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_records_are_known_and_others_are_not() {
        let record = [&[23, 3, 3, 0, 4][..], b"abcd"].concat();
        let two = [&record[..], &record].concat();
        assert!(is_records(&record) && is_records(&two));
        assert!(is_records(&[&record[..], &[23, 3, 3, 0x3f, 0, 1, 2]].concat()));
        for other in [&record[..8], &[&record[..], b"GET / "].concat(), b"GET / HTTP/1.1", b""] {
            assert!(!is_records(other), "{other:?}");
        }
    }
}
