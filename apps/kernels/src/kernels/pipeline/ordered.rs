//! What several threads have worked on, in the stream's order again.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

/// Numbered things as they come, handed out by their numbers from 0 on.
pub struct Ordered<T> {
    from: Receiver<(usize, T)>,
    early: BTreeMap<usize, T>,
    next: usize,
}

impl<T> Ordered<T> {
    /// Those that come from a stage.
    pub fn new(from: Receiver<(usize, T)>) -> Self {
        Self { from, early: BTreeMap::new(), next: 0 }
    }
}

impl<T> Iterator for Ordered<T> {
    type Item = (usize, T);

    fn next(&mut self) -> Option<(usize, T)> {
        loop {
            if let Some(what) = self.early.remove(&self.next) {
                self.next += 1;
                return Some((self.next - 1, what));
            }
            let (number, what) = self.from.recv().ok()?;
            self.early.insert(number, what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn they_come_out_by_their_numbers() {
        let (sender, receiver) = channel();
        for number in [2, 0, 3, 1] {
            sender.send((number, number * 10)).unwrap();
        }
        drop(sender);
        assert_eq!(Ordered::new(receiver).collect::<Vec<_>>(), [(0, 0), (1, 10), (2, 20), (3, 30)]);
    }
}
