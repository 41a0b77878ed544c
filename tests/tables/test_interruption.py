"""Ctrl-C while DuckDB works, as while a report is made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tierlab.tables.interruption import interruptible_queries

QUERY = """
import duckdb, os, signal, threading
from tierlab.tables.interruption import interruptible_queries
signal.signal(signal.SIGINT, signal.default_int_handler)
query = "SELECT sum(hash(range) % 7) FROM range(1000000000000)"
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with interruptible_queries():
        duckdb.connect(config={"threads": 1}).execute(query).fetchall()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_within_a_query_is_ctrl_c_and_no_error_of_duckdbs() -> None:
    command = [sys.executable, "-c", QUERY]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    assert done.stdout == "interrupted\n"


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="another"), interruptible_queries():
        raise RuntimeError("another")
