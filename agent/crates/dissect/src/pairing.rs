//! Which connection at a pass-through server is carried on by which connection behind it.
//!
//! A MySQL server greets each connection with random bytes (the scramble); the pass-through server
//! hands them on, so that equal greetings pair two connections exactly. A connection whose greeting
//! was not seen is paired by content: its request equals the open request of just one connection
//! in front. Such a pair is checked against the requests that follow, and dissolved if they differ.

use crate::Server;
use foldhash::fast::RandomState;
use std::collections::HashMap;

type Map<V> = HashMap<u64, V, RandomState>;

/// A pair found by content is believed after this many equal requests.
const ENOUGH: u8 = 8;

/// What a connection may take here: its greeting, its request, its partner.
const CONNECTION_BYTES: usize = 512;

#[derive(Clone, Copy, Debug)]
struct Front {
    connection: i64,
    equal: u8,
}

/// Something seen on a connection that helps to pair it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clue {
    /// A server greeted the connection with random bytes, here as a hash.
    Greeted {
        /// Its place in the list of servers.
        server: usize,
        /// As in [`crate::Visit::connection`].
        connection: i64,
        /// The hash.
        scramble: u64,
    },
    /// A request came, here as a hash.
    Requested {
        /// Its place in the list of servers.
        server: usize,
        /// As in [`crate::Visit::connection`].
        connection: i64,
        /// The hash.
        content: u64,
    },
    /// The connection is gone.
    Closed {
        /// As in [`crate::Visit::connection`].
        connection: i64,
    },
}

impl Clue {
    /// The connection that it is about.
    pub fn connection(&self) -> i64 {
        let (Self::Greeted { connection, .. }
        | Self::Requested { connection, .. }
        | Self::Closed { connection }) = *self;
        connection
    }
}

/// The pairs, and what may still become one. It takes the clues and visits of all connections in
/// the order of their capture, also where several dissectors read a part of the connections each.
#[derive(Debug)]
pub struct Pairing {
    /// For each server: does it pass through?
    passes: Vec<bool>,
    /// Greetings and requests that never found a partner are forgotten beyond this many.
    most: usize,
    /// Back connections by greeting, and their greetings.
    greeted: Map<i64>,
    greetings: Map<u64>,
    /// Fronts with an open request, by its content.
    asked: Map<Vec<i64>>,
    /// Each front's open request.
    open: Map<u64>,
    /// Back to front.
    fronts: Map<Front>,
    /// Fronts that have their back.
    taken: Map<()>,
}

impl Pairing {
    /// No pairs yet. The servers are those of the dissectors, in the same order. Pairs, and what may
    /// still become one, take no more than these bytes.
    pub fn new(servers: &[Server], most_bytes: usize) -> Self {
        let any = servers.iter().any(|server| server.pass_through);
        let passes = servers.iter().map(|server| server.pass_through).filter(|_| any).collect();
        Self {
            passes,
            most: most_bytes / CONNECTION_BYTES,
            greeted: Map::default(),
            greetings: Map::default(),
            asked: Map::default(),
            open: Map::default(),
            fronts: Map::default(),
            taken: Map::default(),
        }
    }

    /// Takes a clue.
    pub fn clue(&mut self, clue: Clue) {
        match clue {
            Clue::Greeted { server, connection, scramble } => {
                self.greeted(server, connection, scramble);
            }
            Clue::Requested { server, connection, content } => {
                if self.wants_request(server, connection) {
                    self.requested(server, connection, content);
                }
            }
            Clue::Closed { connection } => self.closed(connection),
        }
    }

    fn greeted(&mut self, server: usize, connection: i64, greeting: u64) {
        match self.passes.get(server) {
            Some(false) => {
                if self.greeted.len() >= self.most || self.greetings.len() >= self.most {
                    self.greeted.clear();
                    self.greetings.clear();
                }
                self.greeted.insert(greeting, connection);
                self.greetings.insert(connection as u64, greeting);
            }
            Some(true) => {
                if let Some(back) = self.greeted.remove(&greeting) {
                    self.greetings.remove(&(back as u64));
                    self.pair(back, connection, ENOUGH);
                }
            }
            None => {}
        }
    }

    /// True if a request's content would help to pair this connection.
    fn wants_request(&self, server: usize, connection: i64) -> bool {
        let connection = connection as u64;
        match self.passes.get(server) {
            Some(true) => !self.taken.contains_key(&connection),
            Some(false) => self.fronts.get(&connection).is_none_or(|front| front.equal < ENOUGH),
            None => false,
        }
    }

    /// A request came on a connection that [`Pairing::wants_request`].
    fn requested(&mut self, server: usize, connection: i64, content: u64) {
        match self.passes.get(server) {
            Some(true) => self.asked_in_front(connection, content),
            Some(false) => self.asked_behind(connection, content),
            None => {}
        }
    }

    /// A visit ended on this connection. Returns the front that it carries on, if known.
    pub fn visited(&mut self, connection: i64) -> Option<i64> {
        if self.passes.is_empty() {
            return None;
        }
        self.forget_request(connection);
        self.fronts.get(&(connection as u64)).map(|front| front.connection)
    }

    fn closed(&mut self, connection: i64) {
        if self.passes.is_empty() {
            return;
        }
        self.forget_request(connection);
        if let Some(greeting) = self.greetings.remove(&(connection as u64)) {
            self.greeted.remove(&greeting);
        }
        self.taken.remove(&(connection as u64));
        if let Some(front) = self.fronts.remove(&(connection as u64)) {
            self.taken.remove(&(front.connection as u64));
        }
    }

    fn pair(&mut self, back: i64, front: i64, equal: u8) {
        self.fronts.insert(back as u64, Front { connection: front, equal });
        if equal >= ENOUGH {
            self.taken.insert(front as u64, ());
        }
    }

    fn asked_in_front(&mut self, front: i64, content: u64) {
        self.forget_request(front);
        if self.open.len() < self.most {
            self.open.insert(front as u64, content);
            self.asked.entry(content).or_default().push(front);
        }
    }

    fn asked_behind(&mut self, back: i64, content: u64) {
        if let Some(&front) = self.fronts.get(&(back as u64)) {
            if self.open.get(&(front.connection as u64)) == Some(&content) {
                self.pair(back, front.connection, front.equal + 1);
                return;
            }
            self.fronts.remove(&(back as u64));
        }
        if let Some(&[front]) = self.asked.get(&content).map(Vec::as_slice) {
            self.pair(back, front, 1);
        }
    }

    fn forget_request(&mut self, front: i64) {
        let Some(content) = self.open.remove(&(front as u64)) else { return };
        if let Some(fronts) = self.asked.get_mut(&content) {
            fronts.retain(|&other| other != front);
            if fronts.is_empty() {
                self.asked.remove(&content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    const LB: usize = 0;
    const DB: usize = 1;

    fn pairing() -> Pairing {
        let server = |name: &str, pass_through| Server {
            name: name.into(),
            address: [127, 0, 0, 1].into(),
            port: 3306,
            protocol: Protocol::Mysql,
            pass_through,
        };
        Pairing::new(&[server("lb.1", true), server("db.1", false)], 1 << 20)
    }

    #[test]
    fn equal_greetings_pair() {
        let mut pairing = pairing();
        pairing.greeted(DB, 10, 0xaaaa);
        pairing.greeted(DB, 11, 0xbbbb);
        pairing.greeted(LB, 20, 0xbbbb);
        assert_eq!((pairing.visited(10), pairing.visited(11)), (None, Some(20)));
        assert!(!pairing.wants_request(DB, 11));
        assert!(!pairing.wants_request(LB, 20));
        assert!(pairing.wants_request(DB, 10));
        pairing.closed(11);
        assert_eq!(pairing.visited(11), None);
    }

    #[test]
    fn equal_content_pairs_only_if_there_is_no_choice() {
        let mut pairing = pairing();
        pairing.requested(LB, 20, 1);
        pairing.requested(LB, 21, 1);
        pairing.requested(DB, 10, 1);
        assert_eq!(pairing.visited(10), None);
        pairing.requested(LB, 21, 2);
        pairing.requested(DB, 10, 2);
        assert_eq!(pairing.visited(10), Some(21));
    }

    #[test]
    fn a_pair_by_content_is_dissolved_when_requests_differ() {
        let mut pairing = pairing();
        pairing.requested(LB, 20, 1);
        pairing.requested(DB, 10, 1);
        assert_eq!(pairing.visited(10), Some(20));
        pairing.requested(LB, 20, 2);
        pairing.requested(DB, 10, 3);
        assert_eq!(pairing.visited(10), None);
    }

    #[test]
    fn an_answered_request_pairs_no_more() {
        let mut pairing = pairing();
        pairing.requested(LB, 20, 1);
        assert_eq!(pairing.visited(20), None);
        pairing.requested(DB, 10, 1);
        assert_eq!(pairing.visited(10), None);
    }

    #[test]
    fn enough_equal_requests_settle_a_pair() {
        let mut pairing = pairing();
        for content in 0..u64::from(ENOUGH) {
            assert!(pairing.wants_request(DB, 10) && pairing.wants_request(LB, 20));
            pairing.requested(LB, 20, content);
            pairing.requested(DB, 10, content);
        }
        assert!(!pairing.wants_request(DB, 10) && !pairing.wants_request(LB, 20));
    }
}
