"""`tierlab doctor`: the table, the JSON, and the exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tierlab.cli import doctor as module
from tierlab.cli import run_needs
from tierlab.cli.main import app
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.machine.check import Check, Verdict
from tierlab.observe import agent
from tierlab.workloads.rubbos import shape

GOOD = Check("group", "good", Verdict.WORKS, "seen to work", needed=True)
HALF = Check("group", "half", Verdict.PARTLY, "half seen", "something", "do this")
BAD = Check("other", "bad", Verdict.MISSING, "not seen", "everything", "do that", needed=True)
RUNNER = CliRunner()


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the checks of the machine will have found."""
    checks: list[Check] = []
    monkeypatch.setattr(module, "check_all", lambda *_: list(checks))
    monkeypatch.setattr(run_needs, "checks", lambda: iter(()))
    return checks


def test_nothing_needed_is_missing(found: list[Check]) -> None:
    found += [GOOD, HALF]

    result = RUNNER.invoke(app, ["doctor"])

    assert result.exit_code == 0
    assert [line.rstrip() for line in result.stdout.splitlines()] == [
        "group",
        "  works    good                seen to work",
        "  partly   half                half seen",
        "             lost              something",
        "             remedy            do this",
        "",
        "1 of 2 work in full.",
        "The demo can run here: tierlab demo",
    ]


def test_something_needed_is_missing(found: list[Check]) -> None:
    found += [GOOD, BAD]

    result = RUNNER.invoke(app, ["doctor"])

    assert result.exit_code == 1
    assert result.stdout.endswith("The demo cannot run here without: bad.\n")


def test_one_command_installs_all_programs_that_are_missing(
    found: list[Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    found.append(BAD)
    missing = {"no-such-program": "its-package", "nor-this": "its-package", "nor-that": "another"}
    monkeypatch.setattr(run_needs, "PROGRAMS", missing | {"sh": "dash"})

    result = RUNNER.invoke(app, ["doctor"])

    command = "Install: apt-get install --no-install-recommends its-package another\n"
    assert result.stdout.endswith(command)


def test_json_says_the_same(found: list[Check]) -> None:
    found += [GOOD, BAD]

    result = RUNNER.invoke(app, ["doctor", "--json"])

    said = json.loads(result.stdout)
    assert result.exit_code == 1
    assert said["demo"] is False
    assert said["checks"][1] == {
        "group": "other",
        "name": "bad",
        "verdict": "missing",
        "seen": "not seen",
        "lost": "everything",
        "remedy": "do that",
        "needed": True,
    }
    assert said["machine"]["kernel"]["machine"]
    assert set(said["machine"]["programs"]) == set(run_needs.PROGRAMS)
    assert said["machine"]["programs"]["setpriv"]["path"] == shutil.which("setpriv")


def test_markup_in_what_was_seen_is_shown_as_it_is(found: list[Check]) -> None:
    found.append(Check("group", "odd", Verdict.WORKS, "[red]not markup[/red] [link=x]"))

    assert "[red]not markup[/red] [link=x]" in RUNNER.invoke(app, ["doctor"]).stdout


def test_an_agent_that_is_not_built_stops_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise UserError("tierlab-agent is nowhere: build it with `make setup`.")

    monkeypatch.setattr(agent, "binary", missing)

    check = next(check for check in run_needs.checks() if check.name == "tierlab-agent")

    assert check.stops_the_demo
    assert check.seen == "tierlab-agent is nowhere"


def test_an_application_that_is_not_built_stops_the_demo(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shape, "APPLICATION_JAR", tmp_path / "rubbos.jar")

    check = next(check for check in run_needs.checks() if check.name == "workload rubbos")

    assert check.stops_the_demo
    assert check.seen == f"{tmp_path}/rubbos.jar is missing"


def test_what_the_environment_cannot_do_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cannot = {
        Capability.PIN: "control groups need root",
        Capability.WEIGHT: "control groups need root",
        Capability.MIGRATE: "a bare process cannot move",
        Capability.VCPUS: "it has the host's own",
    }
    can = frozenset(Capability) - frozenset(cannot)
    probe = Probe("native", can, cannot, pus=frozenset({0}), memory=1 << 30, nodes=frozenset({0}))
    monkeypatch.setattr(Native, "probe", lambda: probe)

    check = next(check for check in run_needs.checks() if check.name == "native")

    assert (check.verdict, check.seen, check.lost) == (
        Verdict.PARTLY,
        "without pin, weight",
        "control groups need root",
    )
