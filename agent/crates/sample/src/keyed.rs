//! Files of `key value` lines (meminfo, vmstat, memory.stat, cpu.stat): a few keys out of many.

use crate::text::{lines, number, words};

/// Finds `N` keys. Their line numbers are learned, since a running kernel does not reorder its
/// lines; the file is searched again when a line does not hold what it held.
pub struct Keyed<const N: usize> {
    keys: [&'static str; N],
    /// (line number, index of the key), in the order of the lines.
    places: Vec<(usize, usize)>,
    /// Bytes up to the end of the last line that is needed, at the last reading.
    reach: usize,
}

impl<const N: usize> Keyed<N> {
    /// A reader of these keys, none of which is a prefix of a line with a colon or blank after it
    /// other than its own.
    pub fn new(keys: [&'static str; N]) -> Self {
        Self { keys, places: Vec::with_capacity(N), reach: 0 }
    }

    /// The value of every key; `None` where the text does not have it.
    pub fn read(&mut self, text: &[u8]) -> [Option<u64>; N] {
        if !self.places.is_empty()
            && let Some(values) = self.read_places(text)
        {
            return values;
        }
        self.search(text)
    }

    /// The keys that the text did not have when it was last searched.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        (0..N).filter(|key| self.places.iter().all(|(_, found)| found != key))
    }

    /// How many bytes of the text are needed to read all keys that it has.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// True when values were not found that once were: the text was cut off before them.
    pub fn lacks(&self, values: &[Option<u64>; N]) -> bool {
        self.places.iter().any(|(_, key)| values[*key].is_none())
    }

    fn read_places(&mut self, text: &[u8]) -> Option<[Option<u64>; N]> {
        let mut values = [None; N];
        let mut places = self.places.iter();
        let (mut wanted, mut key) = *places.next()?;
        for (at, line) in lines(text).enumerate() {
            if at == wanted {
                values[key] = Some(value(line, self.keys[key])?);
                match places.next() {
                    Some(place) => (wanted, key) = *place,
                    None => {
                        self.reach = end_of(line, text);
                        return Some(values);
                    }
                }
            }
        }
        None
    }

    fn search(&mut self, text: &[u8]) -> [Option<u64>; N] {
        let mut values = [None; N];
        let mut places = Vec::with_capacity(N);
        let mut reach = 0;
        for (at, line) in lines(text).enumerate() {
            for (index, key) in self.keys.iter().enumerate() {
                if let Some(found) = value(line, key) {
                    values[index] = Some(found);
                    places.push((at, index));
                    reach = end_of(line, text);
                }
            }
        }
        // A text that was cut off must not make us forget where the rest will be again.
        if places.len() >= self.places.len() {
            (self.places, self.reach) = (places, reach);
        }
        values
    }
}

/// Bytes of the text up to the end of one of its lines.
fn end_of(line: &[u8], text: &[u8]) -> usize {
    line.as_ptr_range().end as usize - text.as_ptr() as usize + 1
}

fn value(line: &[u8], key: &str) -> Option<u64> {
    let rest = line.strip_prefix(key.as_bytes())?;
    let rest = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b" "))?;
    number(words(rest).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] =
        b"MemTotal:   100 kB\nCached:  7 kB\nSwapCached: 3 kB\nDirty: 0 kB\nrest 1\n";

    #[test]
    fn keys_are_found_whatever_their_order() {
        let mut keyed = Keyed::new(["Dirty", "MemTotal", "Cached", "Absent"]);
        for _ in 0..2 {
            assert_eq!(keyed.read(TEXT), [Some(0), Some(100), Some(7), None]);
        }
        assert_eq!(keyed.missing().collect::<Vec<_>>(), [3]);
        assert_eq!(&TEXT[..keyed.reach()], TEXT.strip_suffix(b"rest 1\n").unwrap());
    }

    #[test]
    fn moved_lines_are_found_again() {
        let mut keyed = Keyed::new(["a", "b"]);
        assert_eq!(keyed.read(b"a 1\nb 2\n"), [Some(1), Some(2)]);
        assert_eq!(keyed.read(b"new 9\na 3\nb 4\n"), [Some(3), Some(4)]);
        assert_eq!(keyed.read(b"b 5\n"), [None, Some(5)]);
    }

    #[test]
    fn the_reach_follows_numbers_that_become_longer() {
        let mut keyed = Keyed::new(["b"]);
        for text in ["a 9\nb 1\nc 1\n", "a 1000000\nb 20\nc 1\n"] {
            keyed.read(text.as_bytes());
            assert!(
                text[..keyed.reach()].ends_with(&text[text.find('b').unwrap()..text.len() - 4])
            );
        }
    }

    #[test]
    fn a_cut_text_gives_what_it_still_has() {
        let mut keyed = Keyed::new(["a", "b"]);
        assert_eq!(keyed.read(b"a 1\nb 2\n"), [Some(1), Some(2)]);
        let cut = keyed.read(b"a 1\nb 2");
        assert_eq!(cut, [Some(1), None]);
        assert!(keyed.lacks(&cut));
        assert_eq!(keyed.read(b""), [None, None]);
        assert_eq!(keyed.read(b"a 1\nb 2\n"), [Some(1), Some(2)]);
    }
}
