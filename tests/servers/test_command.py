"""How a command of the user's own is started: as it would be in a shell, and without one left."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.servers.application import Pages
from tierlab.servers.base import Settings
from tierlab.servers.command import HOME, Command, CommandOptions
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint

LOGIN = Credentials("it", "secret", "it")
VARIABLES = {"PATH": "/usr/bin:/bin", "SAID": "a b"}


def started(folder: Path, command: str) -> tuple[int, str]:
    """Its process's number, and what it prints."""
    (folder / HOME).mkdir()
    site: Any = SimpleNamespace(
        folder=folder, endpoint=Endpoint("127.0.0.1", 8080, "http"), tiers={}
    )
    options = CommandOptions.model_construct(command=command)
    server = Command(site, Settings({}, options), Content(Pages(folder, "/"), None, LOGIN))
    process = subprocess.Popen(
        server.command(), env=VARIABLES, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    printed, complaint = process.communicate(timeout=10)
    assert process.returncode == 0, complaint
    return process.pid, printed


@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("A=1 B='x y' env", "B=x y"),
        ("exec env", "SAID=a b"),
        ("A={port} exec env", "A=8080"),
        ("A=$SAID env", "A=a b"),
        ("A=$SAID exec env", "A=a b"),
        ("exec env # all", "SAID=a b"),
    ],
)
def test_variables_before_a_program_are_set_and_exec_is_none(
    command: str, variable: str, tmp_path: Path
) -> None:
    _, printed = started(tmp_path, command)
    assert variable in printed.splitlines()


@pytest.mark.parametrize("before", ["", "exec ", "A=1 ", "A=1 exec ", "B=$SAID exec "])
def test_the_program_comes_in_the_place_of_the_shell(before: str, tmp_path: Path) -> None:
    process, printed = started(tmp_path, f"{before}readlink /proc/self")
    assert printed.strip() == str(process)


@pytest.mark.parametrize("first", ["printf '%s,' $SAID", "A=$SAID printf '%s,' ", "printf '%s,' x"])
def test_a_command_over_several_lines_is_one_command(first: str, tmp_path: Path) -> None:
    """A shell would take the second line for another command."""
    _, printed = started(tmp_path, f"{first}\n    last")
    assert printed.endswith("last,")


def test_lines_of_a_list_are_a_shell_s(tmp_path: Path) -> None:
    _, printed = started(tmp_path, "echo a; echo b\necho c")
    assert printed.split() == ["a", "b", "c"]
