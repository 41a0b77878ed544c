//! Compressed packets
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_compression_packet.html>),
//! by which a connection is known to be compressed that was seen from its middle.

/// The lengths of what is inside, compressed and not, with a sequence number between them.
const HEADER: usize = 7;
const ZLIB: u8 = 0x78;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether bytes in the middle of a stream are a compressed packet, and maybe more behind it. What is
/// short is sent as it is, but with the header.
pub(super) fn is_compressed(bytes: &[u8]) -> bool {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else { return false };
    // A packet that is not compressed has a shorter header: it ends before its length.
    let Some(inside) = rest.get(..number(&header[..3])) else { return false };
    match number(&header[4..]) {
        0 => is_packets(inside),
        _ => is_stream(inside),
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte))
}

/// Whether it begins as zlib's (RFC 1950) or zstd's (RFC 8878) compressed data.
fn is_stream(bytes: &[u8]) -> bool {
    match bytes {
        [ZLIB, flags, ..] => u16::from_be_bytes([ZLIB, *flags]).is_multiple_of(31),
        _ => bytes.starts_with(&ZSTD),
    }
}

fn is_packets(mut bytes: &[u8]) -> bool {
    if bytes.is_empty() {
        return false;
    }
    while let Some((header, rest)) = bytes.split_first_chunk::<4>() {
        let Some(behind) = rest.get(number(&header[..3])..) else { return false };
        bytes = behind;
    }
    bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: [u8; 5] = [1, 0, 0, 0, 0x0e];

    #[test]
    fn compressed_packets_are_known_and_others_are_not() {
        let zlib = [&[12, 0, 0, 0, 11, 0, 0][..], &[0x78, 0x9c], &[7; 10]].concat();
        let zstd = [&[12, 0, 0, 1, 90, 0, 0][..], &ZSTD, &[7; 8]].concat();
        let short = [&[5, 0, 0, 0, 0, 0, 0][..], &PING].concat();
        for known in [&zlib, &zstd, &short, &[short.clone(), zlib.clone()].concat()] {
            assert!(is_compressed(known), "{known:?}");
        }
        let select = [&[9, 0, 0, 0, 3][..], b"SELECT 1"].concat();
        let empty = [0, 0, 0, 0, 0, 0, 0];
        for other in [&select[..], &PING, &empty, &zlib[..14], &short[..11], &[]] {
            assert!(!is_compressed(other), "{other:?}");
        }
    }
}
