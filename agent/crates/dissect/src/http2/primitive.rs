//! How HPACK writes integers and strings (RFC 7541 section 5).

use httlib_huffman::{DecoderSpeed, decode};

/// A length or index of more bytes than this is none.
const MOST_BYTES: usize = 4;

/// Marks a string that is written in Huffman's code.
const HUFFMAN: u8 = 0x80;

/// Takes an integer of which the first byte has `bits` bits; none if it does not end, or is too large
/// to be true.
pub(super) fn integer(rest: &mut &[u8], bits: u32) -> Option<usize> {
    let (&first, mut tail) = rest.split_first()?;
    let largest = (1_usize << bits) - 1;
    let mut value = usize::from(first) & largest;
    if value == largest {
        for at in 0..=MOST_BYTES {
            if at == MOST_BYTES {
                return None;
            }
            let (&next, after) = tail.split_first()?;
            tail = after;
            value += usize::from(next & 0x7f) << (7 * at);
            if next & 0x80 == 0 {
                break;
            }
        }
    }
    *rest = tail;
    Some(value)
}

/// A string as it stands there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    is_coded: bool,
}

/// Takes a string; none if it does not end.
pub(super) fn text<'a>(rest: &mut &'a [u8]) -> Option<Text<'a>> {
    let is_coded = rest.first()? & HUFFMAN != 0;
    let length = integer(rest, 7)?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(Text { bytes, is_coded })
}

impl<'a> Text<'a> {
    /// Its bytes, decoded into `decoded` if that is necessary; none if it is no code.
    pub(super) fn read<'d>(self, decoded: &'d mut Vec<u8>) -> Option<&'d [u8]>
    where
        'a: 'd,
    {
        if !self.is_coded {
            return Some(self.bytes);
        }
        decoded.clear();
        // A read of four bits gives one character at most: codes have five and more.
        decode(self.bytes, decoded, DecoderSpeed::FourBits).ok()?;
        Some(decoded)
    }

    /// How long it is as it stands there; a coded one is as a rule longer when decoded.
    pub(super) fn length(self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_as_in_the_examples() {
        // RFC 7541 appendix C.1.
        for (mut bytes, bits, expected) in
            [(&b"\x0a"[..], 5, 10), (b"\x1f\x9a\x0a", 5, 1337), (b"\x2a", 8, 42)]
        {
            assert_eq!(integer(&mut bytes, bits), Some(expected));
            assert!(bytes.is_empty());
        }
        for mut bytes in [&b""[..], b"\x1f", b"\x1f\x9a", b"\x1f\xff\xff\xff\xff\x01"] {
            assert_eq!(integer(&mut bytes, 5), None, "{bytes:?}");
        }
    }

    #[test]
    fn strings_are_as_in_the_examples() {
        // RFC 7541 appendix C.2.1 and C.4.1.
        let mut decoded = Vec::new();
        let mut bytes = &b"\x0acustom-key"[..];
        assert_eq!(text(&mut bytes).unwrap().read(&mut decoded), Some(&b"custom-key"[..]));
        let mut bytes = &b"\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff."[..];
        assert_eq!(text(&mut bytes).unwrap().read(&mut decoded), Some(&b"www.example.com"[..]));
        assert_eq!(bytes, b".");
        assert!(text(&mut &b"\x0acustom"[..]).is_none(), "it does not end");
        let mut no_code = &b"\x84\xff\xff\xff\xff"[..];
        assert!(text(&mut no_code).unwrap().read(&mut decoded).is_none());
    }
}
