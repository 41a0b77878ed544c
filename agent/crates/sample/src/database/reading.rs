//! What a database server says of itself at one poll, whatever its software.

/// `None` is what it does not tell. What the columns mean is at the table (`docs/reference`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// What goes up and down.
    pub levels: Levels,
    /// What only grows.
    pub counters: Counters,
}

/// As they are at the poll; without the poll's own connection and statement.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Levels {
    pub threads_connected: Option<i64>,
    pub threads_running: Option<i64>,
    pub idle_in_transaction: Option<i64>,
    pub row_lock_waiting: Option<i64>,
    pub table_lock_waiting: Option<i64>,
    pub pending_fsyncs: Option<i64>,
    pub pending_reads: Option<i64>,
    pub pending_writes: Option<i64>,
    pub checkpoints_running: Option<i64>,
    pub checkpoint_age: Option<i64>,
    pub vacuums_running: Option<i64>,
    pub workers_running: Option<i64>,
}

/// Since the server's start.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Counters {
    pub row_lock_waits: Option<u64>,
    pub row_lock_time_ms: Option<u64>,
    pub table_lock_waits: Option<u64>,
    pub log_waits: Option<u64>,
    pub data_reads: Option<u64>,
    pub data_writes: Option<u64>,
    pub data_fsyncs: Option<u64>,
    pub buffer_pool_hits: Option<u64>,
    pub buffer_pool_waits: Option<u64>,
    pub temporary_bytes: Option<u64>,
    pub pages_flushed: Option<u64>,
    pub aborted_connections: Option<u64>,
    pub refused_connections: Option<u64>,
}
