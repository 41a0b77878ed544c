//! From frames to connections: finds whose connection a segment belongs to.

use crate::clock::Clock;
use crate::closed::Closed;
use crate::connection::Connection;
use crate::context::{Context, Place, Shared};
use crate::copies::Copies;
use crate::frame::{CapturedFrame, Parsed, Segment};
use crate::left_out::LeftOut;
use crate::link::LinkType;
use crate::memory::{MEMORY_BYTES, Memory, of_map};
use crate::order::{Entry, Order};
use crate::sink::{EventKind, Peer, Side, Sink};
use crate::{Salt, Server};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// The part of the memory that connections may take which were closed a moment ago.
const CLOSED_PART: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Flow {
    server: u32,
    client: Peer,
}

/// Takes captured frames in the order of their capture; gives visits, messages and events.
pub struct Dissector {
    listeners: HashMap<Peer, u32, RandomState>,
    flows: HashMap<Flow, Box<Connection>, RandomState>,
    shared: Shared,
    closed: Closed<Flow>,
    /// Which connections go first when memory is short: those that never said anything, which have
    /// least to lose, then the others.
    silent: Order<Flow>,
    spoken: Order<Flow>,
    clock: Clock,
    /// The number of the last frame.
    number: i64,
    filtered: bool,
    copies: Option<Copies>,
    crowded_out: u64,
    left_out: LeftOut,
}

impl Dissector {
    /// A dissector for these servers' connections. `salt` keys the hashes of ids and literals.
    pub fn new(servers: impl Into<Arc<[Server]>>, salt: Salt) -> Self {
        Self::within(MEMORY_BYTES, servers, salt)
    }

    /// A dissector that remembers no more than this many bytes; at least 4 MiB are of use.
    pub fn within(memory_bytes: usize, servers: impl Into<Arc<[Server]>>, salt: Salt) -> Self {
        let servers = servers.into();
        let listeners =
            servers.iter().zip(0..).map(|(server, number)| (server.endpoint(), number)).collect();
        let memory = Memory::new(memory_bytes);
        Self {
            listeners,
            flows: HashMap::default(),
            closed: Closed::new(memory.part(CLOSED_PART)),
            shared: Shared::new(servers, salt, memory),
            silent: Order::new(),
            spoken: Order::new(),
            clock: Clock::default(),
            number: -1,
            filtered: false,
            copies: None,
            crowded_out: 0,
            left_out: LeftOut::default(),
        }
    }

    /// Takes frames that a filter has cut as [`crate::filter`] says.
    pub fn behind_filter(self) -> Self {
        Self { filtered: true, ..self }
    }

    /// Leaves out packets that were captured more than once.
    pub fn without_copies(self) -> Self {
        Self { copies: Some(Copies::new()), ..self }
    }

    /// The next frame's number, if it is not the last one's and one: where others take frames too,
    /// all of them together must number theirs without repeating one.
    pub fn number_next(&mut self, frame: i64) {
        self.number = frame - 1;
    }

    /// Takes a frame captured whole at `at_ns`. What is not a TCP segment of a known server is counted.
    pub fn frame(&mut self, at_ns: i64, link: LinkType, frame: &[u8], sink: &mut dyn Sink) {
        self.captured(at_ns, CapturedFrame::whole(link, frame), sink);
    }

    /// Takes a frame that may have been cut, as [`Dissector::frame`] does a whole one.
    pub fn captured(&mut self, at_ns: i64, frame: CapturedFrame<'_>, sink: &mut dyn Sink) {
        let at_ns = self.clock.time(at_ns);
        self.frame_at(at_ns, frame, sink);
    }

    /// Takes a frame as [`Dissector::captured`] does, but at a time that a [`Clock`] has told: where
    /// frames are shared out among several dissectors, one clock is for all.
    pub fn frame_at(&mut self, at_ns: i64, frame: CapturedFrame<'_>, sink: &mut dyn Sink) {
        let why = match frame.parse() {
            Parsed::Segment(segment) => return self.segment_at(at_ns, segment, sink),
            Parsed::Other => None,
            Parsed::Unread(why) => Some(why),
        };
        self.number += 1;
        match why {
            Some(why) => *self.left_out.unread.entry(why).or_default() += 1,
            None => self.left_out.not_tcp += 1,
        }
    }

    /// Takes a segment as [`Dissector::frame_at`] does a frame: of a source that has no frames.
    pub fn segment_at(&mut self, at_ns: i64, segment: Segment<'_>, sink: &mut dyn Sink) {
        self.number += 1;
        let Some((flow, from)) = self.flow(&segment) else {
            self.left_out.of_no_server += 1;
            return;
        };
        if self.copies.as_mut().is_some_and(|it| it.is_copy(at_ns, &segment)) {
            self.left_out.copies += 1;
            return;
        }
        let segment = if self.filtered { self.told_by_filter(segment, flow) } else { segment };
        let is_its = |it: &Connection| !it.is_of_another(from, &segment);
        if self.take(flow, from, at_ns, &segment, sink, is_its) {
            return;
        }
        // What is left of one that is over neither ends a connection nor begins one.
        if !segment.syn && self.closed.may_have_sent(&flow, from, &segment) {
            return;
        }
        let may_be_its = |it: &Connection| it.may_go_on_with(from, at_ns, &segment);
        if self.take(flow, from, at_ns, &segment, sink, may_be_its) {
            return;
        }
        if may_be_first(&segment) {
            // Without a handshake it may be the same connection: nobody saw it end.
            self.close(flow, None, segment.syn.then_some(at_ns), sink);
            self.open(flow, &segment, sink);
            self.take(flow, from, at_ns, &segment, sink, |_| true);
        }
    }

    /// The capture is over: hands out every visit that is still open.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        let mut open: Vec<(i64, Flow)> =
            self.flows.iter().map(|(flow, it)| (it.place.connection, *flow)).collect();
        open.sort_unstable_by_key(|&(connection, _)| connection);
        for (_, flow) in open {
            self.close(flow, None, None, sink);
        }
    }

    /// Connections that are open.
    pub fn open_connections(&self) -> usize {
        self.flows.len()
    }

    /// Connections that were forgotten because memory was needed for others.
    pub fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// Frames that brought nothing, and why.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    fn flow(&self, segment: &Segment<'_>) -> Option<(Flow, Side)> {
        let (source, destination) = (segment.source, segment.destination);
        if let Some(&server) = self.listeners.get(&destination) {
            return Some((Flow { server, client: source }, Side::Client));
        }
        let &server = self.listeners.get(&source)?;
        Some((Flow { server, client: destination }, Side::Server))
    }

    /// The segment, and whether our filter told that a reply ends in what it cut off.
    fn told_by_filter<'a>(&self, segment: Segment<'a>, flow: Flow) -> Segment<'a> {
        let is_cut = (segment.payload.len() as u64) < u64::from(segment.length);
        let protocol = self.shared.servers[flow.server as usize].protocol;
        let kept_of_last = || protocol.bulk().and_then(|bulk| bulk.kept_of_last);
        let tells_end = is_cut && kept_of_last() == Some(segment.payload.len());
        Segment { tells_end, ..segment }
    }

    fn open(&mut self, flow: Flow, first: &Segment<'_>, sink: &mut dyn Sink) {
        let Flow { server, client } = flow;
        let place = Place { connection: self.number, server: server as usize, client };
        let cx = &mut Context { place, shared: &mut self.shared, sink, closed_ns: None };
        self.flows.insert(flow, Box::new(Connection::new(place, first, cx)));
        let flows = &self.flows;
        self.silent.tidy(flows.len(), |entry| last_seen(flows, entry, false));
        self.spoken.tidy(flows.len(), |entry| last_seen(flows, entry, true));
        self.silent.add(Entry { last_seen: self.number, connection: place.connection, key: flow });
        self.make_room(sink);
    }

    /// Takes a segment if there is a connection that it belongs to, or returns false.
    fn take(
        &mut self,
        flow: Flow,
        from: Side,
        at_ns: i64,
        segment: &Segment<'_>,
        sink: &mut dyn Sink,
        is_its: impl FnOnce(&Connection) -> bool,
    ) -> bool {
        let known = self.flows.get_mut(&flow);
        let Some(connection) = known.filter(|it| is_its(it)) else { return false };
        let (had_spoken, held) = (connection.has_spoken(), connection.held_bytes());
        connection.last_seen = self.number;
        let place = connection.place;
        let cx = &mut Context { place, shared: &mut self.shared, sink, closed_ns: None };
        let goes_on = connection.segment(from, at_ns, segment, cx);
        let grew = connection.held_bytes() > held;
        if connection.has_spoken() && !had_spoken {
            let (last_seen, connection) = (self.number, place.connection);
            self.spoken.add(Entry { last_seen, connection, key: flow });
        }
        if !goes_on {
            self.close(flow, segment.rst.then_some(from), Some(at_ns), sink);
        } else if grew {
            self.make_room(sink);
        }
        true
    }

    /// Takes a connection out; `reset` is the side that broke it off. It was over at `closed_ns`, if
    /// it was.
    fn close(
        &mut self,
        flow: Flow,
        reset: Option<Side>,
        closed_ns: Option<i64>,
        sink: &mut dyn Sink,
    ) {
        if let Some(mut connection) = self.flows.remove(&flow) {
            self.closed.add(flow, connection.ends(reset));
            let (place, shared) = (connection.place, &mut self.shared);
            connection.finish(&mut Context { place, shared, sink, closed_ns });
        }
    }

    /// Forgets connections until memory is not short any more.
    fn make_room(&mut self, sink: &mut dyn Sink) {
        while self.shared.memory.is_short(self.tables_bytes()) {
            let flows = &self.flows;
            let oldest = self
                .silent
                .oldest(|entry| last_seen(flows, entry, false))
                .or_else(|| self.spoken.oldest(|entry| last_seen(flows, entry, true)));
            let Some(mut connection) = oldest.and_then(|flow| self.flows.remove(&flow)) else {
                return;
            };
            self.crowded_out += 1;
            let (place, shared) = (connection.place, &mut self.shared);
            let cx = &mut Context { place, shared, sink, closed_ns: None };
            connection.finish(cx);
            if connection.has_spoken() {
                cx.event(connection.last_seen_ns, EventKind::Forgotten);
            }
        }
    }

    fn tables_bytes(&self) -> usize {
        let orders = self.silent.held_bytes() + self.spoken.held_bytes();
        of_map(&self.flows) + orders + self.closed.held_bytes() + self.shared.held_bytes()
    }
}

/// When the connection of an entry was seen last, if it is still there and has spoken, or not yet.
fn last_seen(
    flows: &HashMap<Flow, Box<Connection>, RandomState>,
    entry: &Entry<Flow>,
    spoken: bool,
) -> Option<i64> {
    let connection = flows.get(&entry.key)?;
    let is_it = connection.place.connection == entry.connection;
    (is_it && connection.has_spoken() == spoken).then_some(connection.last_seen)
}

/// True if a connection may begin with this segment. The last acknowledgments of one that is over
/// begin none.
fn may_be_first(segment: &Segment<'_>) -> bool {
    !segment.rst && (segment.syn || segment.length > 0)
}

#[cfg(test)]
mod tests;
