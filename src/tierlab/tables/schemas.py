"""The columns of every table in a run folder (``docs/reference/run-folder.md``).

Times are int64 nanoseconds since the epoch (UTC), sizes are bytes, shares are 0..1. A column that
may hold null says "not measured" with it; zero always means a measured zero. The agent declares
the tables that it writes in ``agent/crates/record/src/tables.rs``; a contract test compares the
two. A sampled row's ``host`` is not among its columns: whoever gathers a machine's streams knows by
which name the trial calls it, and a column that is the same in every row costs no tick anything.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

_TYPES: Final[dict[str, pa.DataType]] = {
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f64": pa.float64(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
}


def _schema(columns: str) -> pa.Schema:
    """Build a schema from ``name:type`` words; ``?`` after a type allows null."""
    fields = []
    for word in columns.split():
        name, kind = word.split(":")
        fields.append(pa.field(name, _TYPES[kind.rstrip("?")], nullable=kind.endswith("?")))
    return pa.schema(fields)


SCHEMAS: Final[dict[str, pa.Schema]] = {
    name: _schema(columns)
    for name, columns in {
        "requests": """user:i32 session:i64 interaction:text request_id:text? intended_ns:i64
            start_ns:i64 connected_ns:i64? first_byte_ns:i64? end_ns:i64 status:i16? bytes:i64
            error:text? attempts:i16 system:text? delay_ns:i64? steps:text? images_named:i32?
            images:i32? image_bytes:i64? statics:i32? protocol:text?""",
        "visits": """visit:i64 server:text protocol:text connection:i64 arrival_ns:i64
            request_end_ns:i64 reply_start_ns:i64? departure_ns:i64? closed_ns:i64?
            may_wait_ns:i64? label:text status:i32? bytes_in:i64 bytes_out:i64 parent:i64?
            link:text? confidence:f64? process:i64? thread:i64? queued_ns:i64? cpu_ns:i64?
            runnable_ns:i64? throttled_ns:i64? stopped_ns:i64? disk_ns:i64? lock_ns:i64?
            calls_ns:i64? connecting_ns:i64? other_ns:i64? other_call:text? sending_ns:i64?""",
        "events": "t_ns:i64 duration_ns:i64 kind:text subject:text detail:text",
        "cpu": """t_ns:i64 dt_ns:i64 subject:text busy:f64? user:f64? system:f64? iowait:f64?
            irq:f64? steal:f64?""",
        "memory": """t_ns:i64 dt_ns:i64 subject:text total:i64? free:i64? available:i64?
            cached:i64? anonymous:i64? dirty:i64? writeback:i64? swap_used:i64? minor_faults:i64?
            major_faults:i64? paged_in:i64? paged_out:i64? swapped_in:i64? swapped_out:i64?
            refaults:i64?""",
        "disk": """t_ns:i64 dt_ns:i64 subject:text reads:i64 writes:i64 bytes_read:i64
            bytes_written:i64 read_time_ns:i64 write_time_ns:i64 in_flight:i64 busy:f64
            queue_length:f64""",
        "net": """t_ns:i64 dt_ns:i64 subject:text bytes_in:i64 packets_in:i64 drops_in:i64
            errors_in:i64 bytes_out:i64 packets_out:i64 drops_out:i64 errors_out:i64
            queued_packets:i64? queued_bytes:i64? queue_drops:i64?""",
        "tcp": """t_ns:i64 dt_ns:i64 subject:text established:i64? active_opens:i64?
            passive_opens:i64? attempt_fails:i64? resets_in:i64? resets_out:i64? segments_in:i64?
            segments_out:i64? retransmissions:i64? syn_retransmissions:i64? listen_overflows:i64?
            listen_drops:i64? timeouts:i64? spurious_retransmissions:i64?""",
        "listen": """t_ns:i64 dt_ns:i64 subject:text address:text port:i32 accept_queue:i64
            backlog:i64 drops:i64?""",
        "pressure": "t_ns:i64 dt_ns:i64 subject:text resource:text some:f64? full:f64?",
        "process": """t_ns:i64 dt_ns:i64 subject:text process:i64 thread:i64? name:text run_ns:i64?
            wait_ns:i64? resident:i64? threads:i64? minor_faults:i64? major_faults:i64?
            state:text?""",
        "domain": """t_ns:i64 dt_ns:i64 subject:text cpu_ns:i64? throttled_ns:i64? memory:i64?
            memory_limit:i64? major_faults:i64? bytes_read:i64? bytes_written:i64?
            processes:i64? throttled_periods:i64? refaults:i64? threads_running:i64?
            threads_blocked:i64? threads_stopped:i64? frozen:i64? limit_hits:i64? weight:i64?""",
        "database": """t_ns:i64 dt_ns:i64 subject:text poll_ns:i64 threads_connected:i64?
            threads_running:i64? idle_in_transaction:i64? row_lock_waiting:i64?
            row_lock_waits:i64? row_lock_time_ns:i64? table_lock_waiting:i64? table_lock_waits:i64?
            log_waits:i64? pending_fsyncs:i64? pending_reads:i64? pending_writes:i64?
            data_reads:i64? data_writes:i64? data_fsyncs:i64? buffer_pool_hits:i64?
            buffer_pool_waits:i64? temporary_bytes:i64? checkpoints_running:i64?
            checkpoint_age:i64? pages_flushed:i64? vacuums_running:i64? workers_running:i64?
            aborted_connections:i64? refused_connections:i64?""",
        "cache": """t_ns:i64 dt_ns:i64 subject:text poll_ns:i64 connections:i64? blocked:i64?
            items:i64? memory:i64? memory_limit:i64? commands:i64? hits:i64? misses:i64?
            evictions:i64? expired:i64? bytes_in:i64? bytes_out:i64? refused_connections:i64?""",
        "soft": """t_ns:i64 dt_ns:i64 subject:text resource:text in_use:i64? waiting:i64?
            limit:i64?""",
    }.items()
}
"""What the agents write, by table, in the order of docs/reference/run-folder.md."""

_SEEN_INSIDE: Final = ("cpu", "memory", "disk", "net", "tcp", "pressure", "process")

INSIDE: Final[dict[str, pa.Schema]] = {f"inside_{name}": SCHEMAS[name] for name in _SEEN_INSIDE}
"""The same, as they are seen inside domains that have a kernel of their own; ``subject`` is the
server for what is about its own processes, else the server, a slash, and whom it is about there."""

OUTSIDE: Final[dict[str, pa.Schema]] = {
    "hypervisor_disk": _schema(
        """t_ns:i64 dt_ns:i64 subject:text reads:i64 writes:i64 bytes_read:i64 bytes_written:i64
        read_time_ns:i64 write_time_ns:i64 queue_length:f64"""
    )
}
"""What only a hypervisor can tell of such domains; ``subject`` is as in ``inside_disk``."""

PROFILE: Final[dict[str, pa.Schema]] = {
    "counters": _schema(
        """t_ns:i64 dt_ns:i64 cpu:i32? domain:text binary:text? symbol:text? event:text count:i64
        source:text period:i64? stack:i64?"""
    ),
    "stacks": _schema("stack:i64 frames:texts"),
}
"""Where events happened that a processor, a kernel or a simulated cache counts: a row is one sample
(``dt_ns`` is 0), or what was counted in ``dt_ns``. ``source`` is ``pmu``, ``software`` or
``simulated``; ``frames`` are symbols, the outermost first."""

THREADS: Final[dict[str, pa.Schema]] = {
    "threads": _schema(
        """t_ns:i64 dt_ns:i64 subject:text process:i64 thread:i64 cpu_ns:i64 runnable_ns:i64
        throttled_ns:i64 stopped_ns:i64 disk_ns:i64 lock_ns:i64 asleep_ns:i64"""
    )
}
"""What threads did that had several requests under way. Where none had, there are no rows."""

INSTANTS: Final[dict[str, str]] = {
    "t_ns": "time",
    "intended_ns": "intended_time",
    "start_ns": "start_time",
    "connected_ns": "connected_time",
    "first_byte_ns": "first_byte_time",
    "end_ns": "end_time",
    "arrival_ns": "arrival_time",
    "request_end_ns": "request_end_time",
    "reply_start_ns": "reply_start_time",
    "departure_ns": "departure_time",
    "closed_ns": "closed_time",
}
"""The columns that hold a moment (the other ``*_ns`` are durations), and what each is called as a
timestamp."""

STREAMS: Final = SCHEMAS | INSIDE | OUTSIDE | PROFILE | THREADS
"""The columns of what is written while a trial runs."""


def _with_host(schema: pa.Schema) -> pa.Schema:
    """The schema in a run folder: a sampled row says of which machine it is."""
    if "dt_ns" not in schema.names:
        return schema
    return schema.insert(schema.names.index("dt_ns") + 1, pa.field("host", pa.string()))


TABLES: Final = {name: _with_host(schema) for name, schema in STREAMS.items()}
"""All that a run folder may have."""

SQL_TYPES: Final[dict[pa.DataType, str]] = {
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.list_(pa.string()): "VARCHAR[]",
}
"""DuckDB's name of each column type."""
