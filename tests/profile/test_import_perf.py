"""Profiles of perf's, imported; `perf report` on the same files is the oracle."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path, PurePath

import numpy as np
import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

import tierlab
from tierlab.cli.main import app
from tierlab.errors import UserError
from tierlab.report import build
from tierlab.tables.run import Run

WORK = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; ls -R /usr/lib >/dev/null"
RECORDINGS = {
    "several events, with stacks, compressed": (
        *("--sample-cpu", "-z", "-k", "CLOCK_MONOTONIC", "-F", "999", "-g"),
        *("-e", "cpu-clock,page-faults,context-switches"),
    ),
    "one command, each so many events": (
        "-k",
        "CLOCK_MONOTONIC",
        "-c",
        "500000",
        "-e",
        "cpu-clock",
    ),
}
GUEST_RECORDING = Path(__file__).with_name("guest.data")
LONGEST = 1000
Sums = Mapping[tuple[str, str, str], tuple[int, int]]
"""Samples and events, by event, binary and symbol."""


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("perf")
    made = {}
    for number, (name, options) in enumerate(RECORDINGS.items()):
        made[name] = folder / f"{number}.data"
        argv = ["perf", "record", "-q", *options, "-o", str(made[name]), "--", "sh", "-c", WORK]
        subprocess.run(argv, check=True, capture_output=True)
    return made


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made_run.manifest().write(tmp_path)
    return tmp_path


def imported(*arguments: object) -> None:
    result = CliRunner().invoke(app, ["import", "perf", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output


def reported(recording: Path, *perf: str) -> Sums:
    """What perf itself sums up; functions whose names it does not know are one."""
    argv = [
        *("perf", *perf, "report", "-i", str(recording), "--stdio", "-t", "|", "--no-children"),
        *("-g", "none", "--no-inline", "-F", "sample,period,dso,sym"),
    ]
    said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    event, sums = "", dict[tuple[str, str, str], tuple[int, int]]()
    for line in said.splitlines():
        if line.startswith("# Samples:"):
            event = line.partition("'")[2].rstrip("'")
        elif line and not line.startswith("#"):
            samples, period, binary, symbol = (part.strip() for part in line.split("|", 3))
            name = symbol[4:]
            key = (event, short(binary), "" if name.startswith("0x") else name)
            before = sums.get(key, (0, 0))
            sums[key] = before[0] + int(samples), before[1] + int(period)
    return sums


def short(binary: str | None) -> str:
    """As `perf report` has it."""
    if binary is None or binary == "[unknown]" or binary.startswith("[JIT]"):
        return "[unknown]"
    return PurePath(binary).name


def counted(run: Path) -> Sums:
    with closing(Run(run).connect()) as db:
        rows = db.execute(
            'SELECT event, "binary", symbol, count(*), sum(count) FROM counters GROUP BY ALL'
        ).fetchall()
    sums = dict[tuple[str, str, str], tuple[int, int]]()
    for event, binary, symbol, samples, events in rows:
        # Of longer names `perf report` shows the address.
        key = (event, short(binary), symbol if len(symbol or "") <= LONGEST else "")
        before = sums.get((key[0], key[1], key[2] or ""), (0, 0))
        sums[key[0], key[1], key[2] or ""] = before[0] + samples, before[1] + int(events)
    return sums


@pytest.mark.parametrize("name", RECORDINGS)
def test_sums_by_event_and_symbol_are_those_of_perf_report(
    name: str, recordings: dict[str, Path], run: Path
) -> None:
    imported(recordings[name], "--into", run)

    expected, found = reported(recordings[name]), counted(run)

    assert sum(samples for samples, _ in expected.values()) > 100
    assert found.keys() == expected.keys()
    for key, (samples, events) in expected.items():
        assert found[key] == (samples, pytest.approx(events, rel=0.001)), key


def test_what_was_sampled_in_a_guest_is_imported_as_well(run: Path) -> None:
    """Of 1,020 samples of a guest and its hypervisor 962 were lost without a word: `perf script`
    leaves out what it was told nothing of. The recording is perf's own (record_guest.py).
    """
    imported(GUEST_RECORDING, "--into", run, "--domain", "app.1")

    expected, found = reported(GUEST_RECORDING, "kvm", "--host", "--guest"), counted(run)

    assert sum(samples for samples, _ in expected.values()) == 1020
    assert found == expected
    with closing(Run(run).connect()) as db:
        domains = db.execute("SELECT DISTINCT domain FROM counters").fetchall()
    assert domains == [("app.1",)]


def test_an_import_again_replaces_its_own_events_only(
    recordings: dict[str, Path], run: Path
) -> None:
    several, one = recordings.values()
    imported(several, "--into", run)
    first = counted(run)
    imported(several, "--into", run)
    assert counted(run) == first
    imported(one, "--into", run, "--domain", "app.1")

    with closing(Run(run).connect()) as db:
        domains = db.execute("SELECT domain, count(*) FROM counters GROUP BY ALL").fetchall()
        orphans = db.execute(
            "SELECT (SELECT count(*) FROM counters c ANTI JOIN stacks s ON s.stack = c.stack"
            " WHERE c.stack IS NOT NULL), (SELECT count(*) FROM stacks ANTI JOIN counters"
            " USING (stack)), (SELECT count(DISTINCT stack) - count(*) FROM stacks)"
        ).fetchall()

    assert {name for name, _ in domains} - {"idle"} == {"app.1", "host"}
    assert sum(count for name, count in domains if name != "app.1") == sum(
        samples for samples, _ in first.values()
    )
    assert orphans == [(0, 0, 0)]


def test_times_are_those_of_the_day(recordings: dict[str, Path], run: Path) -> None:
    several = next(iter(recordings.values()))
    imported(several, "--into", run)
    argv = ["perf", "script", "-i", str(several), "-G", "-F", "tod,event", "--ns"]
    line = subprocess.run(argv, check=True, capture_output=True, text=True, env={"TZ": "UTC"})
    day, time, *_ = line.stdout.split()
    nanoseconds = np.datetime64(f"{day}T{time}", "ns").astype(int)

    with closing(Run(run).connect()) as db:
        ((first,),) = db.execute("SELECT min(t_ns) FROM counters").fetchall()

    assert first == nanoseconds


def test_text_that_perf_script_printed_gives_the_same(
    recordings: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    recording = list(recordings.values())[1]
    imported(recording, "--into", run)
    expected = counted(run)
    text = tmp_path / "perf.txt"
    argv = ["perf", "script", "-i", str(recording), "--ns", "--no-inline"]
    text.write_bytes(subprocess.run(argv, check=True, capture_output=True).stdout)

    imported(text, "--into", run, "--first-at", "2026-01-02T03:04:05.5")

    # The period that it was recorded with is not in the text's usual fields.
    assert {k: n for k, (n, _) in counted(run).items()} == {k: n for k, (n, _) in expected.items()}
    with closing(Run(run).connect()) as db:
        ((first,),) = db.execute("SELECT min(t_ns) FROM counters").fetchall()
    assert first == 1767323045_500_000_000


def test_what_is_no_recording_is_refused_in_a_sentence(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("nothing of perf's\n")
    with pytest.raises(UserError, match="neither a recording of perf's"):
        imported(other, "--into", run)
    other.write_text("sh 1/1 [000] 5.000000001: 1000 cycles: ffff schedule ([kernel.kallsyms])\n")
    with pytest.raises(UserError, match="--first-at"):
        imported(other, "--into", run)
    assert not (run / "counters.parquet").exists()


def test_figures_of_before_an_import_are_not_those_of_after_it(run: Path, tmp_path: Path) -> None:
    """A run's `summary.profile` stayed empty: its last report had seen none."""
    build(run)
    assert tierlab.open(run).summary.profile == []
    text = tmp_path / "perf.txt"
    text.write_text("sh 1/1 [000] 5.000000001: 1000 cycles: ffff schedule ([kernel.kallsyms])\n")
    begin = datetime.fromtimestamp(made_run.START_NS // 10**9 + 6, UTC)

    imported(text, "--into", run, "--first-at", begin.strftime("%Y-%m-%dT%H:%M:%S"))

    (found,) = tierlab.open(run).summary.profile
    assert found.event == "cycles"
