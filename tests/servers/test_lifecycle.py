"""Starts that fail, without the servers they are about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.environments.launching import run_to_end
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import Launch
from tierlab.errors import UserError
from tierlab.machine import programs
from tierlab.servers import disk
from tierlab.servers.application import Application
from tierlab.servers.command import CommandOptions
from tierlab.servers.command_fault import command_fault
from tierlab.servers.disk import need_room
from tierlab.servers.failure import last_lines, why
from tierlab.servers.programs import check_programs, find_program


def test_missing_programs_are_named_with_their_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "SYSTEM_PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"'haproxy' is missing; install .*apt-get install lb'"):
        check_programs({"haproxy": "lb"})
    with pytest.raises(UserError, match=r"'a', 'b', 'c' are missing; .*apt-get install one two'"):
        check_programs({"a": "one", "b": "one", "c": "two"})


def test_servers_are_found_outside_an_ordinary_users_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "sbin" / "serverd"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(programs, "SYSTEM_PATH", str(program.parent))
    assert find_program("serverd") == str(program)


def test_a_command_that_passes_the_check_is_found_as_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As of an ordinary user, or of cron, whose PATH has no sbin."""
    for name in ("sbin", "own"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / f"serve-{name}"
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(programs, "SYSTEM_PATH", str(tmp_path / "sbin"))
    monkeypatch.setattr(programs, "OWN_FOLDERS", (str(tmp_path / "own"),))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # whom no folder of a test's is closed to
    ledger = Ledger("commands", tmp_path / "ledger")
    for name in ("sbin", "own"):
        command = f"serve-{name}"
        assert command_fault(CommandOptions.model_construct(command=command)) is None
        done = run_to_end(ledger, Launch(["sh", "-c", command], ledger.token), 10.0)
        assert (done and done.stdout) == f"{name}\n", done


def test_of_several_versions_the_newest_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only Debian 12's PostgreSQL was."""
    for version in ("9.6", "15", "17", "9"):
        program = tmp_path / version / "bin" / "serverd"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setattr(programs, "OWN_FOLDERS", (f"{tmp_path}/*/bin",))
    assert find_program("serverd") == str(tmp_path / "17" / "bin" / "serverd")


def test_the_last_lines_are_those_that_say_something() -> None:
    log = "".join(f"line {number}\n\n" for number in range(20))
    assert last_lines(log) == ["line 15", "line 16", "line 17", "line 18", "line 19"]
    assert last_lines("") == []


def test_an_application_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    application = Application(
        documents=tmp_path,
        ready_path="/servlet/Ready",
        name="rubbos",
        jar=tmp_path / "rubbos.jar",
        libraries=tmp_path,
        dynamic_prefix="/servlet/",
    )
    with pytest.raises(UserError, match=r"rubbos\.jar is missing: build .*`make setup`"):
        application.check()


def test_a_full_disk_is_named_instead_of_a_log_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why(tmp_path, ["some words\n"]) == "; its log ends: some words"
    assert why(tmp_path, [""]) == "; its log is empty."
    monkeypatch.setattr(disk, "LEAST_ROOM", 1 << 62)
    assert why(tmp_path, ["some words\n"]).startswith(
        f"; no space is left on the disk of {tmp_path}"
    )


def test_room_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    need_room(tmp_path, 1, "this")
    with pytest.raises(UserError, match=r"this needs \d+ MiB and no more than \d+ MiB are left"):
        need_room(tmp_path, 1 << 62, "this")
