//! What a dissector said while others worked beside it: kept until it can be told in order.

use std::mem::size_of;
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

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        fn of<T>(kept: &Vec<T>) -> usize {
            kept.capacity() * size_of::<T>()
        }
        let said = of(&self.said) + of(&self.visits) + of(&self.events) + of(&self.messages);
        size_of::<Self>() + said + of(&self.clues) + of(&self.literals) + self.labels.capacity()
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
    let upto = (end, i64::MIN);
    loop {
        let (mut first, mut next, mut after) = (0, upto, upto);
        for (place, it) in recordings.iter().enumerate() {
            let at = it.next();
            if at < next {
                (first, next, after) = (place, at, next);
            } else {
                after = after.min(at);
            }
        }
        if next == upto {
            return;
        }
        let first = &mut recordings[first];
        first.tell(sink);
        while first.next() < after {
            first.tell(sink);
        }
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
        client: visit.client,
        arrival_ns: visit.arrival_ns,
        request_end_ns: visit.request_end_ns,
        reply_start_ns: visit.reply_start_ns,
        departure_ns: visit.departure_ns,
        closed_ns: visit.closed_ns,
        may_wait_ns: visit.may_wait_ns,
        status: visit.status,
        bytes_in: visit.bytes_in,
        bytes_out: visit.bytes_out,
        id_hash: visit.id_hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierlab_dissect::Peer;

    struct Told(Vec<i64>);

    impl Sink for Told {
        fn visit(&mut self, visit: &Visit<'_>) {
            self.0.push(visit.arrival_ns);
        }
        fn event(&mut self, _: &Event) {}
        fn message(&mut self, _: &Message) {}
    }

    /// A recording of visits that began in this order, each said at that frame.
    fn recording(connection: i64, said: &[(i64, i64)]) -> Recording {
        let mut it = Recording::new(false);
        for &(frame, arrival_ns) in said {
            it.frame = frame;
            it.visit(&Visit {
                server: 0,
                connection,
                client: Peer { address: [127, 0, 0, 1].into(), port: 1 },
                arrival_ns,
                request_end_ns: 0,
                reply_start_ns: None,
                departure_ns: None,
                closed_ns: None,
                may_wait_ns: None,
                label: "",
                status: None,
                bytes_in: 0,
                bytes_out: 0,
                id_hash: None,
                literals: &[],
            });
        }
        it
    }

    #[test]
    fn what_was_said_is_told_by_frame_then_connection_then_recording() {
        let mut said = [
            recording(7, &[(1, 10), (2, 11), (2, 12), (5, 30)]),
            recording(7, &[(2, 13), (6, 31)]),
            recording(3, &[(2, 9), (4, 14)]),
        ];
        let mut told = Told(Vec::new());
        tell(&mut said, 5, &mut told);
        assert_eq!(told.0, [10, 9, 11, 12, 13, 14]);
        tell(&mut said, i64::MAX, &mut told);
        assert_eq!(told.0[6..], [30, 31]);
        assert!(said.iter().all(Recording::is_told));
    }
}
