//! The protocol's integers and strings.

/// A packet's fields, one after the other; none once they are used up.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A little-endian integer of up to 8 bytes.
    pub(super) fn integer(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.bytes(bytes)?;
        Some(taken.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// A length-encoded integer.
    pub(super) fn length(&mut self) -> Option<u64> {
        match self.integer(1)? {
            0xfc => self.integer(2),
            0xfd => self.integer(3),
            0xfe => self.integer(8),
            0xfb | 0xff => None,
            small => Some(small),
        }
    }

    /// A string with its length before it.
    pub(super) fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// A string that ends with a zero.
    pub(super) fn terminated(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_little_endian_and_lengths_grow() {
        let mut fields = Fields(b"\x01\x02\xfa\xfc\x01\x02\xfd\x01\x02\x03\xfe\x01\0\0\0\0\0\0\0");
        assert_eq!(fields.integer(2), Some(0x0201));
        assert_eq!(fields.length(), Some(0xfa));
        assert_eq!(fields.length(), Some(0x0201));
        assert_eq!(fields.length(), Some(0x0003_0201));
        assert_eq!(fields.length(), Some(1));
        assert_eq!(fields.length(), None);
    }

    #[test]
    fn strings_end() {
        let mut fields = Fields(b"\x03abcdef\0\x05x");
        assert_eq!(fields.counted(), Some(&b"abc"[..]));
        assert_eq!(fields.terminated(), Some(&b"def"[..]));
        assert_eq!(fields.counted(), None);
    }
}
