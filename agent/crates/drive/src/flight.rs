//! An interaction under way: its page, then the files and images in it, then its next page, one
//! exchange after the other.

use crate::answer::Answer;
use crate::failure::Failure;
use crate::script::{SITE, Script};
use crate::socket::Socket;
use crate::sql::Key;

/// What an interaction under way waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The connection, or room to send the rest of the request.
    Sending,
    /// The reply.
    Receiving,
    /// The time at which to open again.
    Pausing,
    /// Its user, who thinks: a kept connection.
    Idle,
}

/// A part of a page that is fetched after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// The static file of this number among the workload's.
    Static(u16),
    /// The image at this path.
    Image(Box<[u8]>),
}

/// What an HTTP exchange is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A page.
    Page,
    /// A static file.
    Static,
    /// An image.
    Image,
}

/// An interaction under way. Times are nanoseconds since the epoch.
pub struct Flight {
    /// Whose, by its place in the thread's share.
    pub user: u32,
    /// What it waits for.
    pub stage: Stage,
    /// The server that is asked.
    pub server: u8,
    /// Connections to others that are kept meanwhile.
    pub kept: Vec<Kept>,
    /// The connection, when there is one.
    pub socket: Option<Socket>,
    /// What cancels a statement on it, where it is logged in to a database.
    pub key: Option<Key>,
    /// Tells this connection's events from those of earlier ones in the same place.
    pub connection: u32,
    /// Tells this exchange's deadlines from those of earlier ones.
    pub exchange: u32,
    /// The connection has served an exchange before.
    pub reused: bool,
    /// Bytes of the request that are on their way.
    pub sent: usize,
    /// The id of the HTTP request under way.
    pub request_id: u64,
    /// The answer, as far as it is there.
    pub answer: Answer,
    /// The file or image that is fetched; `None` while it is a page.
    pub resource: Option<Resource>,
    /// Where a reply sent the browser for it.
    pub sent_to: Option<Box<[u8]>>,
    /// How often one did.
    pub hops: u8,
    /// Those to fetch after it, the last one first.
    pub resources: Vec<Resource>,
    /// Another page follows.
    pub more: bool,
    /// Pages that came before the present one, redirections included.
    pub pages: u16,
    /// How often the present page was asked for.
    pub opened: i16,
    /// When the last byte of the last exchange had come, or it had failed, by the monotonic clock.
    pub ended_ns: i64,
    /// Whether the user thinks afterwards.
    pub thinks: bool,
    /// What will be recorded.
    pub record: Record,
}

/// A connection to another server than the one that is asked.
pub struct Kept {
    server: u8,
    socket: Socket,
    connection: u32,
}

/// What is recorded of an interaction.
#[derive(Default)]
pub struct Record {
    /// The state.
    pub state: u8,
    /// The user's how-manieth session.
    pub session: u32,
    /// The first page's request id.
    pub request_id: u64,
    /// When it should have started.
    pub intended_ns: i64,
    /// When it did.
    pub start_ns: i64,
    /// When the first page's connection stood.
    pub connected_ns: Option<i64>,
    /// When the first page's first byte came.
    pub first_byte_ns: Option<i64>,
    /// The last page's status.
    pub status: Option<u16>,
    /// Bytes received, heads and images included.
    pub bytes: u64,
    /// Rows received, of a statement.
    pub rows: u64,
    /// How often the page was requested; of several, what any was requested again is added.
    pub attempts: i16,
    /// Why it failed, and what did.
    pub failure: Option<(Failure, Purpose)>,
    /// The states whose pages were asked for, where an operation may have several.
    pub steps: Vec<u8>,
    /// The delay drawn after the interaction before, where the workload has delays.
    pub delay_ns: Option<i64>,
    /// Images that its pages refer to, those in the cache and among the files included.
    pub images_named: i32,
    /// Images that came.
    pub images: i32,
    /// Bytes of their bodies.
    pub image_bytes: i64,
    /// Static files that came, or were said not to have changed.
    pub statics: i32,
}

impl Flight {
    /// An interaction that has not started.
    pub fn new(user: u32) -> Self {
        Self {
            user,
            stage: Stage::Idle,
            server: SITE,
            kept: Vec::new(),
            socket: None,
            key: None,
            connection: 0,
            exchange: 0,
            reused: false,
            sent: 0,
            request_id: 0,
            answer: Answer::default(),
            resource: None,
            sent_to: None,
            hops: 0,
            resources: Vec::new(),
            more: false,
            pages: 0,
            opened: 0,
            ended_ns: 0,
            thinks: true,
            record: Record::default(),
        }
    }

    /// Turns to a server. A connection to the one before is kept, and one that was kept before is
    /// used again.
    pub fn turn_to(&mut self, server: u8) {
        if self.server == server {
            return;
        }
        if let Some(socket) = self.socket.take() {
            let (server, connection) = (self.server, self.connection);
            self.kept.push(Kept { server, socket, connection });
        }
        self.server = server;
        if let Some(at) = self.kept.iter().position(|it| it.server == server) {
            let kept = self.kept.swap_remove(at);
            (self.socket, self.connection) = (Some(kept.socket), kept.connection);
        }
    }

    /// Whether it has a connection to any server.
    pub fn is_connected(&self) -> bool {
        self.socket.is_some() || !self.kept.is_empty()
    }

    /// Whether its user waits for it.
    pub fn is_under_way(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// What the present exchange is for.
    pub fn purpose(&self) -> Purpose {
        match self.resource {
            None => Purpose::Page,
            Some(Resource::Static(_)) => Purpose::Static,
            Some(Resource::Image(_)) => Purpose::Image,
        }
    }

    /// The target of the file or image that is fetched; `None` while it is a page.
    pub fn part<'a>(&'a self, script: &'a Script) -> Option<&'a [u8]> {
        let named: &[u8] = match self.resource.as_ref()? {
            Resource::Static(number) => script.resources[usize::from(*number)].as_bytes(),
            Resource::Image(path) => path,
        };
        Some(self.sent_to.as_deref().unwrap_or(named))
    }

    /// The next file or image is fetched, if there is one.
    pub fn turn_part(&mut self) -> bool {
        self.resource = self.resources.pop();
        (self.sent_to, self.hops) = (None, 0);
        self.resource.is_some()
    }

    /// Where the answer sends its user, as far as that is off all servers.
    pub fn sent_off(&self, script: &Script) -> Option<&[u8]> {
        let reply = self.answer.http().filter(|reply| reply.redirects())?;
        reply.told().location.as_deref().filter(|to| script.leaves(to))
    }

    /// Whether the present exchange is for the interaction's first page.
    pub fn is_first_page(&self) -> bool {
        self.resource.is_none() && self.pages == 0
    }

    /// Another page is next.
    pub fn turn_page(&mut self) {
        self.pages += 1;
        self.opened = 0;
    }

    /// Whether its connection does not stand yet.
    pub fn is_connecting(&self) -> bool {
        self.stage == Stage::Sending && self.sent == 0 && !self.reused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_connection_to_another_server_is_kept_and_used_again() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let at = listener.local_addr().expect("it is bound");
        let connected = || Socket::connect(at, None, true).ok();
        let mut flight = Flight { socket: connected(), connection: 7, ..Flight::new(0) };
        let first = flight.socket.as_ref().map(Socket::fd);
        flight.turn_to(1);
        assert!(flight.socket.is_none() && flight.is_connected());
        (flight.socket, flight.connection) = (connected(), 8);
        flight.turn_to(SITE);
        assert_eq!((flight.socket.as_ref().map(Socket::fd), flight.connection), (first, 7));
        flight.turn_to(1);
        assert_eq!((flight.socket.is_some(), flight.connection), (true, 8));
        flight.socket = None;
        flight.turn_to(2);
        assert!(flight.socket.is_none() && flight.is_connected(), "the site's is kept");
    }

    #[test]
    fn only_a_new_connection_without_a_byte_sent_is_being_made() {
        let connecting =
            |stage, sent, reused| Flight { stage, sent, reused, ..Flight::new(0) }.is_connecting();
        assert!(connecting(Stage::Sending, 0, false));
        assert!(!connecting(Stage::Sending, 1, false));
        assert!(!connecting(Stage::Sending, 0, true));
        assert!(!connecting(Stage::Receiving, 1, false));
    }
}
