//! Where a message's content ends (RFC 9112 sections 6 and 7).

/// What is left of a message's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// This many bytes; 0 when there is none.
    Length(u64),
    /// Chunks until an empty one.
    Chunked(Chunk),
    /// Everything until the connection closes.
    UntilClose,
}

/// Where in the chunked coding the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// In the size, with what was read of it.
    Size(u64),
    /// After the size, before the line's end.
    Extension(u64),
    /// In the data, with what is left of it.
    Data(u64),
    /// In the line end after the data.
    DataEnd,
    /// At the start of a trailer line.
    TrailerStart,
    /// In a trailer line.
    Trailer,
}

/// How far the content reached in some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It took all of them and goes on.
    Beyond,
    /// It ended after this many.
    Ended(usize),
    /// They are not what the coding allows.
    Broken,
}

impl Body {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Reach {
        match self {
            Self::UntilClose => Reach::Beyond,
            Self::Length(left) => {
                let taken = (bytes.len() as u64).min(*left);
                *left -= taken;
                if *left == 0 { Reach::Ended(taken as usize) } else { Reach::Beyond }
            }
            Self::Chunked(chunk) => chunk.take(bytes),
        }
    }

    /// What is left after bytes that were not captured; none if it cannot be told. A packet that
    /// was only cut may end in the line end after a chunk's data.
    pub(super) fn after_loss(self, lost: u64, cut: bool) -> Option<Self> {
        match self {
            Self::UntilClose => Some(self),
            Self::Length(left) => left.checked_sub(lost).map(Self::Length),
            Self::Chunked(Chunk::Data(left)) if lost < left => {
                Some(Self::Chunked(Chunk::Data(left - lost)))
            }
            Self::Chunked(Chunk::Data(left)) if cut && lost == left + 2 => {
                Some(Self::Chunked(Chunk::Size(0)))
            }
            Self::Chunked(_) => None,
        }
    }
}

impl Chunk {
    fn take(&mut self, bytes: &[u8]) -> Reach {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match *self {
                Self::Size(size) => match (byte as char).to_digit(16) {
                    Some(digit) if size < 1 << 56 => {
                        *self = Self::Size(size << 4 | u64::from(digit))
                    }
                    Some(_) => return Reach::Broken,
                    None if byte == b'\n' => *self = Self::after_size(size),
                    None if matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                        *self = Self::Extension(size);
                    }
                    None => return Reach::Broken,
                },
                Self::Extension(size) if byte == b'\n' => *self = Self::after_size(size),
                Self::Extension(_) => {}
                Self::Data(left) => {
                    let taken = ((bytes.len() - at + 1) as u64).min(left);
                    at += taken as usize - 1;
                    *self = if taken == left { Self::DataEnd } else { Self::Data(left - taken) };
                }
                Self::DataEnd if byte == b'\n' => *self = Self::Size(0),
                Self::DataEnd if byte == b'\r' => {}
                Self::DataEnd => return Reach::Broken,
                Self::TrailerStart if byte == b'\n' => return Reach::Ended(at),
                Self::TrailerStart if byte == b'\r' => {}
                Self::TrailerStart => *self = Self::Trailer,
                Self::Trailer if byte == b'\n' => *self = Self::TrailerStart,
                Self::Trailer => {}
            }
        }
        Reach::Beyond
    }

    fn after_size(size: u64) -> Self {
        if size == 0 { Self::TrailerStart } else { Self::Data(size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &[u8] = b"4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\nTrailer: 1\r\n\r\nNEXT";

    #[test]
    fn chunks_end_where_they_end_however_they_are_cut() {
        for cut in 0..CHUNKED.len() - 4 {
            let mut body = Body::Chunked(Chunk::Size(0));
            assert_eq!(body.take(&CHUNKED[..cut]), Reach::Beyond, "cut at {cut}");
            let rest = &CHUNKED[cut..];
            assert_eq!(body.take(rest), Reach::Ended(rest.len() - 4), "cut at {cut}");
        }
    }

    #[test]
    fn a_length_ends_exactly() {
        let mut body = Body::Length(5);
        assert_eq!(body.take(b"abc"), Reach::Beyond);
        assert_eq!(body.take(b"deNEXT"), Reach::Ended(2));
    }

    #[test]
    fn what_is_not_a_chunk_is_broken() {
        assert_eq!(Body::Chunked(Chunk::Size(0)).take(b"xyz"), Reach::Broken);
        assert_eq!(Body::Chunked(Chunk::Size(0)).take(&[b'f'; 20]), Reach::Broken);
        assert_eq!(Body::Chunked(Chunk::DataEnd).take(b"x"), Reach::Broken);
    }

    #[test]
    fn known_lengths_reach_over_lost_bytes() {
        assert_eq!(Body::Length(10).after_loss(4, false), Some(Body::Length(6)));
        assert_eq!(Body::Length(10).after_loss(11, false), None);
        let in_data = |left| Body::Chunked(Chunk::Data(left));
        let in_size = Body::Chunked(Chunk::Size(0));
        assert_eq!(in_data(10).after_loss(9, false), Some(in_data(1)));
        assert_eq!(in_data(10).after_loss(10, false), None, "the next size may be lost with it");
        assert_eq!(in_data(10).after_loss(12, false), None);
        assert_eq!(in_data(10).after_loss(12, true), Some(in_size), "a whole chunk was cut");
        assert_eq!(in_size.after_loss(1, true), None);
    }
}
