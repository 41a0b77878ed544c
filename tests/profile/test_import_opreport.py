"""Tables of OProfile's, imported; the text is in the form that opreport(1) shows."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.tables.run import Run

TABLE = Path(__file__).with_name("opreport.txt")


def test_tables_of_opreport_are_counts_of_the_whole_runtime(tmp_path: Path) -> None:
    made_run.manifest().write(tmp_path)
    into = ["import", "opreport", str(TABLE), "--into", str(tmp_path), "--domain", "db.1"]
    assert CliRunner().invoke(app, into).exit_code == 0

    with closing(Run(tmp_path).connect()) as db:
        rows = db.execute(
            """SELECT event, "binary", symbol, count, count / period, dt_ns
               FROM counters ORDER BY ALL"""
        ).fetchall()
        ((domain, source),) = db.execute("SELECT DISTINCT domain, source FROM counters").fetchall()

    runtime = Run(tmp_path).manifest.phases[1]
    length = runtime.end_ns - runtime.start_ns
    clock, cache = "GLOBAL_POWER_EVENTS", "BSQ_CACHE_REFERENCE"
    assert rows == [
        (cache, "vmlinux", "operator new(unsigned long)", 195 * 6000, 195, length),
        (cache, "xen-syms", "do_page_fault", 5 * 6000, 5, length),
        (clock, "anon (tgid:42 range:0x1-0x2)", None, 80_000_000, 800, length),
        (clock, "xen-syms", "do_page_fault", 120_000_000, 1200, length),
    ]
    assert (domain, source) == ("db.1", "pmu")


def test_what_is_no_such_table_is_refused(tmp_path: Path) -> None:
    made_run.manifest().write(tmp_path)
    other = tmp_path / "other.txt"
    other.write_text("samples of nothing")
    with pytest.raises(UserError, match="opreport --symbols"):
        app(["import", "opreport", str(other), "--into", str(tmp_path)], standalone_mode=False)
