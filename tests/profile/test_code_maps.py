"""Whose map of compiled functions a forked process gets, and what is in the way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tierlab.environments.process import code_map
from tierlab.observe.code_maps import CodeMaps


@pytest.fixture
def forked() -> Iterator[tuple[int, int]]:
    """A process with a map, and one that it has forked."""
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo up; wait"], stdout=subprocess.PIPE) as own:
        assert own.stdout is not None
        assert own.stdout.readline() == b"up\n"
        (child,) = psutil.Process(own.pid).children()
        code_map(own.pid).write_text("0 1 f\n")
        try:
            yield own.pid, child.pid
        finally:
            code_map(own.pid).unlink()
            own.kill()
            with suppress(psutil.NoSuchProcess):
                child.kill()


@pytest.fixture
def maps(tmp_path: Path) -> CodeMaps:
    def asked(*_: object) -> None:
        pytest.fail("there is no Java machine")

    return CodeMaps(asked, tmp_path / "log")  # type: ignore[arg-type]


def test_a_forked_process_has_its_parents_names_until_they_are_removed(
    forked: tuple[int, int], maps: CodeMaps
) -> None:
    assert maps.write(forked) == []
    assert code_map(forked[1]).read_text() == "0 1 f\n"
    maps.remove()
    assert not code_map(forked[1]).is_symlink()
    assert code_map(forked[0]).exists()


def test_what_somebody_else_put_there_stays_and_ends_nothing(
    forked: tuple[int, int], maps: CodeMaps
) -> None:
    """A link that leads nowhere seemed to be no file."""
    foreign = code_map(forked[1])
    foreign.symlink_to("/nowhere")
    try:
        assert maps.write(forked) == []
        maps.remove()
        assert foreign.readlink() == Path("/nowhere")
    finally:
        foreign.unlink()


def test_a_process_that_has_ended_gets_none(forked: tuple[int, int], maps: CodeMaps) -> None:
    child = psutil.Process(forked[1])
    child.kill()
    child.wait(10)
    assert maps.write(forked) == []
    assert not code_map(forked[1]).is_symlink()
