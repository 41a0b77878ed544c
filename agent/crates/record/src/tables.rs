//! The tables that the agent writes, each declared once. The Python side declares the same in
//! `tierlab.tables.schemas`; a contract test compares the two through `tierlab-agent schema`.
//!
//! Times are nanoseconds since the epoch (UTC); sizes are bytes; shares are 0..1; a value that was
//! not measured is null. Counts and byte sums of a sampler's row are what happened during `dt_ns`.

use crate::column::{Hashes, Text};
use crate::declaration::tables;

tables! {
    /// Interactions as their users saw them. `end_ns` is the end of its pages and what is in them.
    Requests / RequestRow = "requests" {
        user: i32,
        session: i64,
        interaction: Text,
        request_id: Option<Text>,
        intended_ns: i64,
        start_ns: i64,
        connected_ns: Option<i64>,
        first_byte_ns: Option<i64>,
        end_ns: i64,
        status: Option<i16>,
        bytes: i64,
        error: Option<Text>,
        attempts: i16,
        system: Option<Text>,
        delay_ns: Option<i64>,
        steps: Option<Text>,
        images_named: Option<i32>,
        images: Option<i32>,
        image_bytes: Option<i64>,
        statics: Option<i32>,
        protocol: Option<Text>,
    }

    /// Visits as the tracer saw them, before they are linked. `id_hash` is the salted hash of the
    /// request id that the message carried; `literals` are the salted hashes of its parameters or
    /// SQL literals. Both exist only until the visits are linked.
    RawVisits / RawVisitRow = "raw_visits" {
        visit: i64,
        server: Text,
        protocol: Text,
        connection: i64,
        arrival_ns: i64,
        request_end_ns: i64,
        reply_start_ns: Option<i64>,
        departure_ns: Option<i64>,
        closed_ns: Option<i64>,
        may_wait_ns: Option<i64>,
        label: Text,
        status: Option<i32>,
        bytes_in: i64,
        bytes_out: i64,
        upstream: Option<Text>,
        id_hash: Option<u64>,
        literals: Hashes,
        endpoints: u64,
    }

    /// Turns of threads at sockets, as the system-call tracer saw them: a request that a thread read
    /// (`kind` is `served`), or a call that it sent (`called`); and times in which a thread was held back
    /// (`throttled`, `stopped`). `endpoints` is the connection, hashed
    /// as in `raw_visits`. `worker` is who works on requests: the thread or, of a server in Go, the
    /// goroutine that it ran. `serves` is the turn that the worker worked on when it called. `shared` is
    /// 1 where the worker had another request under way, 2 of a call after the reply, 3 where another
    /// one replied to the request: `replied_by`, until `replied_ns`. `overlaps` is 1 where the thread
    /// called or replied while another call of its own had no reply. `before` and
    /// `after` are the thread's times by state (`tierlab_trace::State`), in nanoseconds since it was
    /// first seen, when it read the request and when it last wrote of the reply.
    RawTurns / RawTurnRow = "raw_turns" {
        turn: i64,
        kind: Text,
        server: Text,
        endpoints: u64,
        process: i64,
        thread: i64,
        worker: i64,
        begin_ns: i64,
        end_ns: Option<i64>,
        replied_by: Option<i64>,
        replied_ns: Option<i64>,
        overlaps: i16,
        serves: Option<i64>,
        shared: i16,
        before: Hashes,
        after: Hashes,
        other_call: Option<Text>,
    }

    /// What threads did that had several requests under way, as the system-call tracer saw them: how
    /// long each was in each state (`tierlab_trace::State`) during `dt_ns`. A row ends with a read or
    /// write of the thread's.
    Threads / ThreadRow = "threads" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        process: i64,
        thread: i64,
        cpu_ns: i64,
        runnable_ns: i64,
        throttled_ns: i64,
        stopped_ns: i64,
        disk_ns: i64,
        lock_ns: i64,
        asleep_ns: i64,
    }

    /// Linked visits. From `process` to `sending_ns` is what is known of the thread that worked on the
    /// request: null where no thread had it to itself, or where threads were not traced.
    Visits / VisitRow = "visits" {
        visit: i64,
        server: Text,
        protocol: Text,
        connection: i64,
        arrival_ns: i64,
        request_end_ns: i64,
        reply_start_ns: Option<i64>,
        departure_ns: Option<i64>,
        closed_ns: Option<i64>,
        may_wait_ns: Option<i64>,
        label: Text,
        status: Option<i32>,
        bytes_in: i64,
        bytes_out: i64,
        parent: Option<i64>,
        link: Option<Text>,
        confidence: Option<f64>,
        process: Option<i64>,
        thread: Option<i64>,
        queued_ns: Option<i64>,
        cpu_ns: Option<i64>,
        runnable_ns: Option<i64>,
        throttled_ns: Option<i64>,
        stopped_ns: Option<i64>,
        disk_ns: Option<i64>,
        lock_ns: Option<i64>,
        calls_ns: Option<i64>,
        connecting_ns: Option<i64>,
        other_ns: Option<i64>,
        other_call: Option<Text>,
        sending_ns: Option<i64>,
    }

    /// Something that happened.
    Events / EventRow = "events" {
        t_ns: i64,
        duration_ns: i64,
        kind: Text,
        subject: Text,
        detail: Text,
    }

    /// CPU time by core (`cpu0`, ...) as shares of the interval. `busy` comes from the source that
    /// the manifest names; the rest is the kernel's tick accounting.
    Cpu / CpuRow = "cpu" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        busy: Option<f64>,
        user: Option<f64>,
        system: Option<f64>,
        iowait: Option<f64>,
        irq: Option<f64>,
        steal: Option<f64>,
    }

    /// Memory of the host (`host`): levels at `t_ns`, faults and paging during `dt_ns`.
    Memory / MemoryRow = "memory" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        total: Option<i64>,
        free: Option<i64>,
        available: Option<i64>,
        cached: Option<i64>,
        anonymous: Option<i64>,
        dirty: Option<i64>,
        writeback: Option<i64>,
        swap_used: Option<i64>,
        minor_faults: Option<i64>,
        major_faults: Option<i64>,
        paged_in: Option<i64>,
        paged_out: Option<i64>,
        swapped_in: Option<i64>,
        swapped_out: Option<i64>,
        refaults: Option<i64>,
    }

    /// Block devices.
    Disk / DiskRow = "disk" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        reads: i64,
        writes: i64,
        bytes_read: i64,
        bytes_written: i64,
        read_time_ns: i64,
        write_time_ns: i64,
        in_flight: i64,
        busy: f64,
        queue_length: f64,
    }

    /// Network interfaces.
    Net / NetRow = "net" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        bytes_in: i64,
        packets_in: i64,
        drops_in: i64,
        errors_in: i64,
        bytes_out: i64,
        packets_out: i64,
        drops_out: i64,
        errors_out: i64,
        queued_packets: Option<i64>,
        queued_bytes: Option<i64>,
        queue_drops: Option<i64>,
    }

    /// TCP of the sampled network namespace.
    Tcp / TcpRow = "tcp" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        established: Option<i64>,
        active_opens: Option<i64>,
        passive_opens: Option<i64>,
        attempt_fails: Option<i64>,
        resets_in: Option<i64>,
        resets_out: Option<i64>,
        segments_in: Option<i64>,
        segments_out: Option<i64>,
        retransmissions: Option<i64>,
        syn_retransmissions: Option<i64>,
        listen_overflows: Option<i64>,
        listen_drops: Option<i64>,
        timeouts: Option<i64>,
        spurious_retransmissions: Option<i64>,
    }

    /// Listening sockets: connections that wait to be accepted, and how many may.
    Listen / ListenRow = "listen" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        address: Text,
        port: i32,
        accept_queue: i64,
        backlog: i64,
        drops: Option<i64>,
    }

    /// Pressure stall information: the share of the interval in which some or all tasks waited.
    Pressure / PressureRow = "pressure" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        resource: Text,
        some: Option<f64>,
        full: Option<f64>,
    }

    /// Processes and threads of the servers. `run_ns` and `wait_ns` (runnable, not running) are
    /// what happened during `dt_ns`; a row with a `thread` is that thread, one without is the whole
    /// process.
    Process / ProcessRow = "process" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        process: i64,
        thread: Option<i64>,
        name: Text,
        run_ns: Option<i64>,
        wait_ns: Option<i64>,
        resident: Option<i64>,
        threads: Option<i64>,
        minor_faults: Option<i64>,
        major_faults: Option<i64>,
        state: Option<Text>,
    }

    /// Domains (servers' control groups) as the host sees them.
    Domain / DomainRow = "domain" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        cpu_ns: Option<i64>,
        throttled_ns: Option<i64>,
        memory: Option<i64>,
        memory_limit: Option<i64>,
        major_faults: Option<i64>,
        bytes_read: Option<i64>,
        bytes_written: Option<i64>,
        processes: Option<i64>,
        throttled_periods: Option<i64>,
        refaults: Option<i64>,
        threads_running: Option<i64>,
        threads_blocked: Option<i64>,
        threads_stopped: Option<i64>,
        frozen: Option<i64>,
        limit_hits: Option<i64>,
        weight: Option<i64>,
    }

    /// A database server's own counters: one row a poll. `poll_ns` is how long the answer took; where there
    /// was none the rest is null.
    Database / DatabaseRow = "database" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        poll_ns: i64,
        threads_connected: Option<i64>,
        threads_running: Option<i64>,
        idle_in_transaction: Option<i64>,
        row_lock_waiting: Option<i64>,
        row_lock_waits: Option<i64>,
        row_lock_time_ns: Option<i64>,
        table_lock_waiting: Option<i64>,
        table_lock_waits: Option<i64>,
        log_waits: Option<i64>,
        pending_fsyncs: Option<i64>,
        pending_reads: Option<i64>,
        pending_writes: Option<i64>,
        data_reads: Option<i64>,
        data_writes: Option<i64>,
        data_fsyncs: Option<i64>,
        buffer_pool_hits: Option<i64>,
        buffer_pool_waits: Option<i64>,
        temporary_bytes: Option<i64>,
        checkpoints_running: Option<i64>,
        checkpoint_age: Option<i64>,
        pages_flushed: Option<i64>,
        vacuums_running: Option<i64>,
        workers_running: Option<i64>,
        aborted_connections: Option<i64>,
        refused_connections: Option<i64>,
    }

    /// What a cache or store of keys and values counts of itself: one row a poll, as in `database`.
    Cache / CacheRow = "cache" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        poll_ns: i64,
        connections: Option<i64>,
        blocked: Option<i64>,
        items: Option<i64>,
        memory: Option<i64>,
        memory_limit: Option<i64>,
        commands: Option<i64>,
        hits: Option<i64>,
        misses: Option<i64>,
        evictions: Option<i64>,
        expired: Option<i64>,
        bytes_in: Option<i64>,
        bytes_out: Option<i64>,
        refused_connections: Option<i64>,
    }

    /// Events that the processor or the kernel counted in `dt_ns`, by core and domain; samples of where in
    /// the programs they happened are added by the Python side.
    Counters / CountersRow = "counters" {
        t_ns: i64,
        dt_ns: i64,
        cpu: Option<i32>,
        domain: Text,
        binary: Option<Text>,
        symbol: Option<Text>,
        event: Text,
        count: i64,
        source: Text,
        period: Option<i64>,
        stack: Option<i64>,
    }

    /// Use of soft resources, as the server itself says (written by the Python side).
    Soft / SoftRow = "soft" {
        t_ns: i64,
        dt_ns: i64,
        subject: Text,
        resource: Text,
        in_use: Option<i64>,
        waiting: Option<i64>,
        limit: Option<i64>,
    }
}
