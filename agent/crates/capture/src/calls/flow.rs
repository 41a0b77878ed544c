//! A connection: whose it is, and what is said first on it.

use tierlab_dissect::{Segment, Spoken, spoken};

/// Of each side no more is looked at.
const MOST_WORDS: usize = 512;
/// A connection whose owner was not found so often has none that can be known.
const MOST_LOOKS: u8 = 5;

/// What one side says first.
#[derive(Default)]
struct Words {
    bytes: Vec<u8>,
    /// The number of the byte that comes next; the first that is seen begins a message.
    next: Option<u32>,
}

impl Words {
    fn take(&mut self, segment: &Segment<'_>) {
        let first = segment.sequence.wrapping_add(u32::from(segment.syn));
        // A packet that is seen once more is not what comes next.
        if *self.next.get_or_insert(first) == first {
            let room = MOST_WORDS - self.bytes.len();
            self.bytes.extend_from_slice(&segment.payload[..segment.payload.len().min(room)]);
            self.next = Some(first.wrapping_add(segment.length));
        }
    }
}

/// A connection from a client to a server.
#[derive(Default)]
pub(super) struct Flow {
    client: Words,
    server: Words,
    spoken: Option<Spoken>,
    has_spoken: bool,
    /// The server spoke last.
    server_spoke: bool,
    answered: bool,
    refused: bool,
    /// Nothing more comes from the client, or from the server.
    ended: [bool; 2],
    /// The process that holds the client's end, and those above it, nearest first.
    pub owner: Option<Vec<i32>>,
    looks: u8,
    /// The last search for its owner was cut.
    is_cut: bool,
}

impl Flow {
    /// Takes a segment.
    pub(super) fn segment(&mut self, from_client: bool, segment: &Segment<'_>) {
        if !from_client {
            self.refused |= segment.rst && !self.answered;
            self.answered |= !segment.rst;
        }
        self.ended[usize::from(!from_client)] |= segment.fin;
        if segment.rst {
            self.ended = [true; 2];
        }
        if segment.payload.is_empty() || self.spoken.is_some() {
            return;
        }
        self.has_spoken = true;
        if from_client && std::mem::take(&mut self.server_spoke) && !self.client.bytes.is_empty() {
            // The next question: what was seen before may have been the end of an answer.
            (self.client, self.server) = <(Words, Words)>::default();
        }
        self.server_spoke = !from_client;
        let words = if from_client { &mut self.client } else { &mut self.server };
        words.take(segment);
        self.spoken = spoken(&self.client.bytes, &self.server.bytes);
    }

    /// Whether it is worth another look whose it is.
    pub(super) fn is_sought(&self) -> bool {
        self.owner.is_none() && self.looks < MOST_LOOKS
    }

    /// Its owner was searched for. A search that was cut does not show that there is none.
    pub(super) fn looked(&mut self, owner: Option<Vec<i32>>, is_cut: bool) {
        self.looks += u8::from(!is_cut);
        self.is_cut = is_cut;
        self.owner = self.owner.take().or(owner);
    }

    /// Its owner is not known because the search for it was cut.
    pub(super) fn is_unattributed(&self) -> bool {
        self.owner.is_none() && self.is_cut
    }

    /// What is spoken, if that is known.
    pub(super) fn protocol(&self) -> Option<&'static str> {
        self.spoken.map(Spoken::name)
    }

    /// Nobody answered it.
    pub(super) fn was_refused(&self) -> bool {
        self.refused
    }

    /// Nothing more is said on it, and nobody holds it any more.
    pub(super) fn is_over(&self) -> bool {
        self.ended == [true; 2]
    }

    /// Something was said on it.
    pub(super) fn has_spoken(&self) -> bool {
        self.has_spoken
    }
}
