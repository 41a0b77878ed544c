"""What is tried in a child happens there, and its failure is told."""

from __future__ import annotations

import errno
import os
import socket
import time
from pathlib import Path

import pytest

from tierlab.machine import attempt as attempts
from tierlab.machine.attempt import attempt


def test_what_goes_well_is_none_and_changes_nothing_here(tmp_path: Path) -> None:
    here = Path.cwd()

    assert attempt(lambda: os.chdir(tmp_path)) is None
    assert Path.cwd() == here


def test_a_failure_is_told_in_the_systems_words() -> None:
    def refuse() -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    assert attempt(refuse) == "Operation not permitted"


def test_a_fault_of_ours_is_told_too() -> None:
    assert attempt(lambda: 1 // 0) == "ZeroDivisionError: integer division or modulo by zero"


def test_a_child_that_dies_silently_is_no_success() -> None:
    assert attempt(lambda: os._exit(3)) == "the attempt ended with status 768"


def test_a_child_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "SECONDS", 0.2)
    reader, writer = socket.socketpair()

    assert attempt(lambda: time.sleep(60)) == "no answer within 0 s"

    writer.close()
    reader.settimeout(5)
    assert reader.recv(1) == b"", "the child still holds its copy of the socket"
