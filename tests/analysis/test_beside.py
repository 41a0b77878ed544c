"""Which trials tell how those compared vary: of the same programs, in groups of repetitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_run
import pytest

from tierlab.analysis.comparing.beside import beside
from tierlab.analysis.comparing.groups import Group
from tierlab.tables.run import Run

SERVER = {"command": "node server.js", "folder": "/home/me/shop"}


def own(sessions: dict[str, Any] | None = None, **server: Any) -> dict[str, Any]:
    """A manifest's plan of a user's own application."""
    return {
        "workload": "own",
        "plan": {
            "system": {
                "workload": "own",
                "scale": 0.02,
                "front": SERVER | server,
                "sessions": sessions or {"start": ["/"]},
            }
        },
    }


def trial(folder: Path, **changes: Any) -> Run:
    """A trial with one request."""
    folder.mkdir(parents=True)
    phase = {"name": "runtime", "start_ns": 0, "end_ns": 10**10}
    made_run.write_tables(folder, {"requests": [{"status": 200, "end_ns": 1}]})
    made_run.manifest(**{"phases": [phase], **changes}).write(folder)
    return Run(folder)


def found(runs: Path, compared: dict[str, Any], *others: dict[str, Any]) -> list[list[str]]:
    """The trials of each group that is found among others of one experiment."""
    run = trial(runs / "mine/001", **compared)
    for number, each in enumerate(others, start=1):
        trial(runs / f"other/00{number}", **each)
    return [[each.path.name for each in group.runs] for group in beside([Group("mine", (run,))])]


@pytest.mark.parametrize(
    "other",
    [
        own(command="python noisy.py"),
        own(folder="/home/me/blog"),
        own(image="docker.io/library/blog:1"),
        own(sessions={"start": ["/search"]}),
        own(sessions={"har": ["/home/me/long.har"]}),
        {"workload": "own", "servers": {}},
    ],
    ids=["command", "folder", "image", "start", "recording", "servers"],
)
def test_another_application_does_not_tell_how_this_one_varies(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    """Each user's own has the same workload's name, and often the same load."""
    assert found(tmp_path, own(), other, other) == []


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (own(), own(folder="/builds/7/shop", environment={"DEBUG": "1"})),
        (own(), {"workload": "own"}),
        (
            own(sessions={"har": ["/home/me/visit.har"]}),
            own(sessions={"har": ["/builds/7/visit.har"]}),
        ),
    ],
    ids=["a copy elsewhere", "an older folder", "the same recording elsewhere"],
)
def test_the_same_application_does(
    tmp_path: Path, mine: dict[str, Any], other: dict[str, Any]
) -> None:
    assert found(tmp_path, mine, other, other) == [["001", "002"]]


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("system", {"scale": 1}, {"scale": 2}),
        ("observe", {"interval": "50ms"}, {"interval": "10ms"}),
        ("change", [], [{"at": "2s", "on": "one", "weight": 16}]),
    ],
)
def test_trials_before_and_after_an_edit_are_two_groups(
    tmp_path: Path, key: str, before: object, after: object
) -> None:
    """As one, what the edit did counted as how alike trials vary."""
    plans = [{"plan": {key: value}} for value in (before, before, after, after)]
    assert sorted(found(tmp_path, {}, *plans)) == [["001", "002"], ["003", "004"]]
