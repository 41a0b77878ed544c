//! What a dissector said while others worked beside it: kept until it can be told in order.

use std::ops::Range;
use tierlab_dissect::{Clue, Event, Message, Sink, Visit};

/// What one dissector said about some frames.
#[derive(Default)]
pub(crate) struct Recording {
    /// Nobody asks for messages otherwise, and they are most of what is said.
    with_messages: bool,
    /// Of the frame that is being dissected: its number, or its time.
    pub frame: i64,
    said: Vec<Said>,
    /// So much was told already.
    told: usize,
    visits: Vec<KeptVisit>,
    labels: String,
    literals: Vec<u64>,
    events: Vec<Event>,
    messages: Vec<Message>,
    clues: Vec<Clue>,
}

/// When something was said, of which connection, and where it is kept.
#[derive(Clone, Copy)]
struct Said {
    frame: i64,
    connection: i64,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Visit(u32),
    Event(u32),
    Message(u32),
    Clue(u32),
}

/// A visit without its label and literals, and where these are kept.
struct KeptVisit {
    visit: Visit<'static>,
    label: Range<u32>,
    literals: Range<u32>,
}

impl Recording {
    /// Nothing is said yet. Messages are only kept if wanted.
    pub(crate) fn new(with_messages: bool) -> Self {
        Self { with_messages, ..Self::default() }
    }

    /// Forgets everything; the room stays.
    pub(crate) fn cleared(mut self) -> Self {
        self.said.clear();
        self.told = 0;
        self.visits.clear();
        self.labels.clear();
        self.literals.clear();
        self.events.clear();
        self.messages.clear();
        self.clues.clear();
        self
    }

    /// True once nothing is left to tell.
    pub(crate) fn is_told(&self) -> bool {
        self.told == self.said.len()
    }

    /// The frame and the connection of what is to be told next; at the end, one after all others.
    fn next(&self) -> (i64, i64) {
        self.said.get(self.told).map_or((i64::MAX, 0), |said| (said.frame, said.connection))
    }

    fn tell(&mut self, sink: &mut impl Sink) {
        let Some(said) = self.said.get(self.told) else { return };
        self.told += 1;
        match said.what {
            What::Visit(at) => self.visits[at as usize].tell(&self.labels, &self.literals, sink),
            What::Event(at) => sink.event(&self.events[at as usize]),
            What::Message(at) => sink.message(&self.messages[at as usize]),
            What::Clue(at) => sink.clue(self.clues[at as usize]),
        }
    }

    fn say(&mut self, connection: i64, what: What) {
        self.said.push(Said { frame: self.frame, connection, what });
    }
}

/// Tells what several dissectors said of frames before `end`, in the order of the frames: as one that
/// takes all of them says it. What is said of several connections at one frame, or at the end, is
/// in the connections' order.
pub(crate) fn tell(recordings: &mut [Recording], end: i64, sink: &mut impl Sink) {
    while let Some(first) = recordings.iter_mut().min_by_key(|it| it.next())
        && first.next().0 < end
    {
        first.tell(sink);
    }
}

impl Sink for Recording {
    fn visit(&mut self, visit: &Visit<'_>) {
        self.say(visit.connection, What::Visit(self.visits.len() as u32));
        let (label, literals) = (self.labels.len() as u32, self.literals.len() as u32);
        self.labels.push_str(visit.label);
        self.literals.extend_from_slice(visit.literals);
        self.visits.push(KeptVisit {
            visit: without_borrowed(visit),
            label: label..self.labels.len() as u32,
            literals: literals..self.literals.len() as u32,
        });
    }

    fn event(&mut self, event: &Event) {
        self.say(event.connection, What::Event(self.events.len() as u32));
        self.events.push(*event);
    }

    fn message(&mut self, message: &Message) {
        if !self.with_messages {
            return;
        }
        self.say(message.connection, What::Message(self.messages.len() as u32));
        self.messages.push(*message);
    }

    fn clue(&mut self, clue: Clue) {
        self.say(clue.connection(), What::Clue(self.clues.len() as u32));
        self.clues.push(clue);
    }
}

impl KeptVisit {
    fn tell(&self, labels: &str, literals: &[u64], sink: &mut impl Sink) {
        sink.visit(&Visit {
            label: &labels[self.label.start as usize..self.label.end as usize],
            literals: &literals[self.literals.start as usize..self.literals.end as usize],
            ..self.visit
        });
    }
}

fn without_borrowed(visit: &Visit<'_>) -> Visit<'static> {
    Visit {
        label: "",
        literals: &[],
        server: visit.server,
        connection: visit.connection,
        arrival_ns: visit.arrival_ns,
        request_end_ns: visit.request_end_ns,
        reply_start_ns: visit.reply_start_ns,
        departure_ns: visit.departure_ns,
        may_wait_ns: visit.may_wait_ns,
        status: visit.status,
        bytes_in: visit.bytes_in,
        bytes_out: visit.bytes_out,
        id_hash: visit.id_hash,
    }
}
