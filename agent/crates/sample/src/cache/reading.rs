//! What a cache says of itself at one poll, whatever its software.

/// `None` is what it does not tell. What the columns mean is at the table (`docs/reference`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What goes up and down.
    pub levels: Levels,
    /// What only grows.
    pub counters: Counters,
}

/// As they are at the poll; without the poll's own connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Levels {
    pub connections: Option<i64>,
    pub blocked: Option<i64>,
    pub items: Option<i64>,
    pub memory: Option<i64>,
    pub memory_limit: Option<i64>,
}

/// Since the server's start; without the poll's own commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counters {
    pub commands: Option<u64>,
    pub hits: Option<u64>,
    pub misses: Option<u64>,
    pub evictions: Option<u64>,
    pub expired: Option<u64>,
    pub bytes_in: Option<u64>,
    pub bytes_out: Option<u64>,
    pub refused_connections: Option<u64>,
}
