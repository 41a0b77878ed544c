"""The agent and the Python side declare the same tables."""

from __future__ import annotations

import json
import subprocess

import pyarrow as pa

from tierlab.observe.agent import binary
from tierlab.tables.schemas import PROFILE, SCHEMAS, THREADS

ARROW_NAMES = {
    pa.int16(): "Int16",
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.float64(): "Float64",
    pa.string(): "Utf8",
}


def test_agent_and_python_declare_the_same_columns() -> None:
    printed = subprocess.run([binary(), "schema"], check=True, capture_output=True, text=True)
    agent = json.loads(printed.stdout)
    ours = {
        name: {f.name: ARROW_NAMES[f.type] + ("?" if f.nullable else "") for f in schema}
        for name, schema in (SCHEMAS | THREADS | {"counters": PROFILE["counters"]}).items()
    }
    assert {name: agent.get(name) for name in ours} == ours
    assert set(agent) - set(ours) == {"raw_visits", "raw_turns"}, "only what is not linked yet"
