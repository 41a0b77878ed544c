"""`tierlab map`: the plan on a machine that is made up, the warnings, the JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tierlab.cli.main import app
from tierlab.errors import UserError

MACHINE = "pack:2 numa:1 core:4 pu:2"
"""PUs 0 to 7 on the first package, two to a core."""
Shown = Callable[..., str]
RUNNER = CliRunner(env={"COLUMNS": "120"})
HEAD = """
[experiment]
name = "mapped"
[load]
users = 1
[system]
workload = "rubbos"
"""


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    """What `tierlab map` prints of an experiment file with these lines."""

    def run(lines: str, *options: str) -> str:
        file = tmp_path / "mapped.toml"
        file.write_text(HEAD + lines)
        result = RUNNER.invoke(app, ["map", str(file), "--machine", MACHINE, *options])
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


def test_each_vcpu_has_its_place_its_share_and_its_pace(shown: Shown) -> None:
    lines = shown(
        """
[system.web]
mapping = { place = "package:0.core:0.pu:0" }
[system.app]
mapping = { place = "package:0.core:0-1.pu:0", weight = 3072 }
"""
    ).splitlines()

    first, second = (" ".join(line.split()) for line in lines[1:3])
    assert first == "web.1 0 package:0 core:0 0 25% even 1024 any node 0.00"
    assert second.startswith("app.1 0 package:0 core:0 0 75% slow 3072")
    assert "lb.1, db.1: not placed, may run on every PU, not counted." in lines
    assert any(line.startswith("app.1: non-uniform") for line in lines)


def test_what_its_author_may_not_have_meant_is_said(shown: Shown) -> None:
    said = shown(
        """
[system.web]
mapping = { place = "package:0.core:0.pu:0" }
[system.app]
mapping = { place = "package:0.core:0.pu:1" }
[system.lb]
mapping = { place = "core:3-4" }
[system.db]
mapping = { place = "package:1.core:3", memory_node = 0 }
"""
    )

    assert "web.1 and app.1: share core 0 on different PUs of it" in said
    assert "lb.1: is on 2 packages" in said
    assert "db.1: its memory is on NUMA node 0 and none of its PUs is; node 1 is near." in said


def test_trials_that_map_alike_are_shown_once(shown: Shown) -> None:
    said = shown(
        """mapping = "own-cores"
[factors]
"system.mapping" = ["own-cores", "two-packages"]
repeat = 2
"""
    )

    assert "trials 001, 003: system.mapping = own-cores" in said
    assert "trials 002, 004: system.mapping = two-packages" in said


def test_json_has_the_same(shown: Shown) -> None:
    (only,) = json.loads(shown('mapping = "two-packages"', "--json"))

    assert only["trials"] == ["001"]
    assert only["servers"]["db.1"]["vcpus"] == [
        {"pu": 10, "pace": "even", "share": 1.0, "relative": 1.0}
    ]
    assert only["servers"]["db.1"]["dnu"] == 0.0


def test_a_place_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "mapped.toml"
    file.write_text(HEAD + '[system.db]\nmapping = { place = "package:2" }\n')

    result = RUNNER.invoke(app, ["map", str(file), "--machine", MACHINE])

    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith("system.db.mapping.place: 'package:2' is no place")


def test_what_runs_in_xen_is_mapped_on_the_host_that_is_emulated(tmp_path: Path) -> None:
    file = tmp_path / "mapped.toml"
    lines = '[system.db]\nmapping = { place = "package:1.core:1" }\n'
    file.write_text(HEAD.replace("[system]", '[system]\nenvironment = "xen"') + lines)
    result = RUNNER.invoke(app, ["map", str(file), "--json"])
    assert result.exit_code == 0, result.output
    assert [vcpu["pu"] for vcpu in json.loads(result.stdout)[0]["servers"]["db.1"]["vcpus"]] == [3]
