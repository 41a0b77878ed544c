"""A recording and an access log of which nothing, half, or all but one item is understood: what was
not understood is counted on the terminal, in the report and in its JSON; or the file is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tests.own.made_logs import asked, combined
from tests.own.test_recorded import entry
from tierlab.cli.main import app
from tierlab.experiment import load
from tierlab.report import build
from tierlab.trial.describe import notes_on_inputs

ITEMS = 40


def log(folder: Path, unread: int) -> Path:
    lines = [combined(each) for each in asked()[:ITEMS]]
    lines[:unread] = ["203.0.113.1 GET /shop 200 12ms"] * unread
    file = folder / "access.log"
    file.write_text("\n".join(lines) + "\n")
    return file


def recording(folder: Path, unread: int) -> Path:
    pages = [entry({"url": f"http://h/p{number}"}) for number in range(ITEMS)]
    for number, each in enumerate(pages):
        each["startedDateTime"] = f"2026-01-01T00:{number:02d}:00Z"
    pages[1 : unread + 1] = [{"request": 7}] * unread if unread < ITEMS else [{}] * ITEMS
    if unread == ITEMS:
        pages = pages[1:]
    file = folder / "visit.har"
    file.write_text(json.dumps({"log": {"entries": pages[:ITEMS]}}))
    return file


def init(folder: Path, option: str, file: Path) -> tuple[int, str]:
    """The exit status and the output of `tierlab init`."""
    server = [
        "--command",
        "/usr/bin/python3 -m http.server {port}",
        "--port",
        "8000",
        "--ready",
        "/",
    ]
    words = ["init", str(folder / "mine.toml"), "--own", *server, option, str(file)]
    ended = CliRunner().invoke(app, words, catch_exceptions=True)
    return ended.exit_code, ended.output + str(ended.exception or "")


@pytest.mark.parametrize(
    ("option", "make", "unread", "said"),
    [
        ("--log", log, 1, f"1 of {ITEMS} lines of access.log that look like requests"),
        ("--har", recording, 1, f"1 of {ITEMS} entries"),
        ("--har", recording, ITEMS // 2, f"{ITEMS // 2} of {ITEMS} entries"),
    ],
)
def test_what_was_not_understood_is_counted_wherever_one_looks(
    tmp_path: Path, option: str, make: Callable[[Path, int], Path], unread: int, said: str
) -> None:
    status, output = init(tmp_path, option, make(tmp_path, unread))
    assert status == 0, output
    (line,) = [each for each in output.splitlines() if said in each]
    assert line.startswith("note   ")
    note = line.removeprefix("note   ")
    plan = load(tmp_path / "mine.toml").trials()[0]
    assert note in notes_on_inputs(plan)
    run = tmp_path / "run"
    run.mkdir()
    made_run.manifest(inputs=notes_on_inputs(plan)).write(run)
    build(run)
    assert said in (run / "report.html").read_text()
    printed = CliRunner().invoke(app, ["report", str(run), "--json"]).output
    assert note in json.loads(printed)["caveats"]


@pytest.mark.parametrize(
    ("option", "make", "unread", "said"),
    [
        ("--log", log, ITEMS, f"understood 0 of {ITEMS} lines"),
        ("--log", log, ITEMS // 2, f"{ITEMS // 2} of its {ITEMS} lines"),
        ("--har", recording, ITEMS, f"{ITEMS} of its {ITEMS} requests cannot be read"),
    ],
)
def test_a_file_of_which_too_much_was_not_understood_is_refused(
    tmp_path: Path, option: str, make: Callable[[Path, int], Path], unread: int, said: str
) -> None:
    status, output = init(tmp_path, option, make(tmp_path, unread))
    assert status != 0
    assert said in output
    assert not (tmp_path / "mine.toml").exists()
