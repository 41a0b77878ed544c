"""Strategies for experiment files that load."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tierlab.values.quantities import format_duration, format_size


def durations(least: int, most: int, step: int = 1) -> st.SearchStrategy[str]:
    return st.integers(least // step, most // step).map(lambda n: format_duration(n * step))


def some(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A table with any of the keys."""
    return st.fixed_dictionaries({}, optional=keys)


S = 10**9
MAPPING = some(
    pus=st.lists(st.integers(0, 4095), min_size=1, max_size=4, unique=True),
    weight=st.integers(16, 100_000),
)
MEMORY = st.integers(2**24, 2**46).map(format_size)
EVEN_THREADS = st.integers(1, 64) | st.integers(9, 2500).map(lambda n: 8 * n)
"""What httpd can share out over processes."""
USERS = st.fixed_dictionaries(
    {"users": st.integers(1, 10**6)},
    optional={
        # Within the shortest ramp-up, which is of no length, there is no other.
        "start": st.sampled_from(["staggered", "at once"]),
    },
)
WAITING = some(think=durations(0, 3600 * S)) | some(cycle=durations(10**6, 3600 * S))
CLOSED = st.tuples(USERS, WAITING).map(lambda parts: parts[0] | parts[1])
OPEN = st.fixed_dictionaries(
    {"rate": st.floats(0.01, 10**6)},
    optional={"arrivals": st.sampled_from(["poisson", "constant"])},
)
LEVELS = st.lists(st.floats(0.01, 1), min_size=2, max_size=5)
SHAPE = (
    st.just({})
    | st.fixed_dictionaries(
        {"kind": st.just("day")}, optional={"low": st.floats(0, 1), "count": st.integers(1, 100)}
    )
    | st.fixed_dictionaries(
        {"kind": st.just("steps")}, optional={"low": st.floats(0, 1), "count": st.integers(2, 100)}
    )
    | st.just({"kind": "bursts", "count": 2, "length": "100ms"})
    | LEVELS.map(lambda of: {"points": [[f"{hour}h", level] for hour, level in enumerate(of)]})
)
LOAD = st.tuples(
    CLOSED | OPEN,
    some(
        mix=st.sampled_from(["browse-only", "author"]),
        connection=st.sampled_from(["per-request", "keep-alive"]),
        images=st.booleans(),
        shape=SHAPE,
        phases=some(ramp_up=durations(0, 3600 * S), runtime=durations(S, 86_400 * S)),
        timeouts=some(connect=durations(10**6, 600 * S), request=durations(10**6, 600 * S)),
    ),
).map(lambda parts: parts[0] | parts[1])
SYSTEM = some(
    scale=st.floats(0.0005, 10),
    fidelity=st.sampled_from(["published", "corrected"]),
    web=some(
        mpm=st.sampled_from(["event", "prefork"]),
        connector=st.sampled_from(["ajp", "http"]),
        soft=some(threads=EVEN_THREADS, keep_alive_timeout=durations(S, 3600 * S, S)),
        mapping=MAPPING,
    ),
    app=some(heap=st.integers(32, 2**20).map(lambda n: format_size(n * 2**20)), memory=MEMORY),
    lb=some(soft=some(backlog=st.integers(1, 65_535))),
    db=some(
        count=st.integers(1, 4),
        memory=MEMORY,
        mapping=MAPPING,
        soft=some(buffer_pool=st.integers(5 * 2**20, 2**40).map(format_size)),
    ),
).map(lambda table: {"workload": "rubbos"} | table)
OBSERVE = some(
    interval=durations(10**7, 10 * S),
    samplers=st.sampled_from(["all", "none", ["cpu"], ["disk", "cpu"]]),
    messages=st.booleans(),
)
OBJECTIVE = some(
    p99=durations(1000, 3600 * S), errors=st.floats(0, 1), throughput=st.floats(0, 1e7)
)
TEXT = st.text(max_size=60).filter(lambda text: "\ud800" not in text)
FILES = st.fixed_dictionaries(
    {
        "experiment": st.fixed_dictionaries(
            {"name": st.from_regex(r"[a-z0-9][a-zA-Z0-9._-]{0,20}", fullmatch=True)},
            optional={"question": TEXT, "seed": st.integers(0, 2**32 - 1)},
        ),
        "system": SYSTEM,
        "load": LOAD,
    },
    optional={"observe": OBSERVE, "objective": OBJECTIVE},
)
