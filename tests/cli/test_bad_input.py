"""Whatever is wrong with what the command gets: one clear sentence, status 2, nothing left."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import NOBODY, Ended, Start
from tests.conftest import Traces

EXPERIMENT = """
[experiment]
name = "{name}"
[system]
{system}
[load]
users = {users}
{more}
phases = {{ ramp_up = "0s", runtime = "{runtime}s", ramp_down = "0s" }}
"""
FOUR_TIERS, ONE_SERVER = 'workload = "rubbos"\nscale = 0.0005', 'workload = "static"'
LEFT = {"cache", "state"}
"""What a run that failed early may leave: the cache, and empty folders of the ledgers."""

Tierlab = Callable[..., Ended]
Refused = Callable[..., str]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def write(place: Path, trial: str) -> Callable[..., Path]:
    """Write an experiment file, named as no other test's."""

    def write(
        *, system: str = FOUR_TIERS, users: object = 5, more: str = "", runtime: int = 3
    ) -> Path:
        path = place / "my.toml"
        told = {"name": trial, "system": system, "users": users, "more": more, "runtime": runtime}
        path.write_text(EXPERIMENT.format(**told))
        return path

    return write


def nothing_is_left(place: Path, trial: str, ended: Ended) -> None:
    """No trace of the trial on this machine; its run folder is what may remain."""
    traces = Traces(f"{trial}-001-{ended.pid}", place / "state")
    assert traces.none(), traces.found()


def nothing_was_made(place: Path) -> None:
    assert {path.name for path in place.iterdir()} <= {"my.toml", *LEFT}
    assert not (place / "state").exists()


def test_an_unknown_key(refused: Refused, write: Callable[..., Path], place: Path) -> None:
    said = refused("run", write(more="thinks = '1s'"))
    assert said.startswith(f"{place}/my.toml: load.thinks is not a known key (did you mean think?)")
    nothing_was_made(place)


def test_a_value_of_the_wrong_type(
    refused: Refused, write: Callable[..., Path], place: Path
) -> None:
    said = refused("run", write(users='"many"'))
    assert re.fullmatch(
        r'.*my\.toml: load\.users must be a whole number from 1 to 1000000, not "many"\.', said
    )
    nothing_was_made(place)


def test_a_file_that_is_missing(refused: Refused, place: Path) -> None:
    said = refused("run", place / "none.toml")
    assert f"{place}/none.toml" in said
    nothing_was_made(place)


def test_a_file_that_is_no_toml(refused: Refused, place: Path) -> None:
    (place / "my.toml").write_bytes(b"\xff[load\n")
    said = refused("run", place / "my.toml")
    assert f"{place}/my.toml" in said
    nothing_was_made(place)


def test_a_runs_folder_that_is_a_file(
    refused: Refused, write: Callable[..., Path], place: Path, trial: str
) -> None:
    file = write()
    said = refused("run", file, "--runs", file)
    assert said == (
        f"{file}/{trial} cannot hold a run folder (Not a directory):"
        " name another folder with --runs."
    )
    nothing_was_made(place)


def test_a_runs_folder_without_permission(
    tierlab: Tierlab, write: Callable[..., Path], place: Path, trial: str
) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o555)
    prefix = NOBODY if os.geteuid() == 0 else ()
    said = tierlab("run", write(), "--runs", closed, prefix=prefix).sentence
    assert said == (
        f"{closed}/{trial} cannot hold a run folder (Permission denied):"
        " name another folder with --runs."
    )
    closed.rmdir()
    nothing_was_made(place)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_run_folder_that_is_none(refused: Refused, place: Path, options: tuple[str, ...]) -> None:
    for folder in (place, place / "none"):
        assert str(folder) in refused("report", folder, *options)
    nothing_was_made(place)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "\x00", json.dumps({"version": 1}), "null", '{"exit": 3}']
)
def test_a_broken_manifest(refused: Refused, place: Path, text: str) -> None:
    (place / "manifest.json").write_text(text)
    assert f"{place}/manifest.json" in refused("report", place)
    (place / "manifest.json").unlink()
    nothing_was_made(place)


@pytest.mark.privileged
def test_a_disk_that_is_full_before_the_start(
    tierlab: Tierlab, write: Callable[..., Path], place: Path, with_mount: Callable[..., tuple[str]]
) -> None:
    runs = place / "runs"
    runs.mkdir()
    prefix = with_mount("-t", "tmpfs", "-o", "size=16m", "none", runs)
    said = tierlab("run", write(), "--runs", runs, prefix=prefix).sentence
    assert re.search(r"a disk with \d+ MiB left and a trial needs at least 64 MiB", said)
    runs.rmdir()
    nothing_was_made(place)


@pytest.mark.privileged
def test_programs_that_are_missing(
    tierlab: Tierlab,
    write: Callable[..., Path],
    place: Path,
    with_mount: Callable[..., tuple[str]],
) -> None:
    prefix = with_mount("--bind", "/dev/null", "/usr/sbin/haproxy")
    java = shutil.which("java")
    assert java is not None
    subprocess.run([*prefix, "mount", "--bind", "/dev/null", java], check=True)
    ended = tierlab("run", write(), "--runs", place / "runs", prefix=prefix)
    assert ended.sentence == (
        "the programs 'java', 'haproxy' are missing; install with"
        " 'apt-get install openjdk-17-jre-headless haproxy'."
    )
    nothing_was_made(place)


@pytest.mark.parametrize(
    ("tier", "sentence"),
    [
        (
            "db]\nmapping = { pus = [0, 4095] }",
            r"system\.db\.mapping\.pus: this machine has no PU 4095; choose among [\d,]+\.",
        ),
        (
            'app]\nmemory = "64TiB"',
            r"system\.app\.memory: 67,108,864 MiB are more than the [\d,]+ MiB that this machine"
            r" has; ask for less\.",
        ),
    ],
)
@needs_root
def test_a_placement_that_this_machine_does_not_have(
    refused: Refused, write: Callable[..., Path], place: Path, tier: str, sentence: str
) -> None:
    file = write()
    file.write_text(file.read_text() + f"[system.{tier}\n")
    said = refused("run", file, "--runs", place / "runs")
    assert re.fullmatch(sentence, said), said
    nothing_was_made(place)


@pytest.mark.slow
@pytest.mark.alone
@needs_root
def test_a_port_that_is_taken(
    tierlab: Tierlab, write: Callable[..., Path], place: Path, trial: str
) -> None:
    with socket.create_server(("127.0.1.1", 8080)):
        file = write(system=ONE_SERVER)
        ended = tierlab("run", file, "--runs", place / "runs", prefix=NOBODY)
    assert re.fullmatch(
        r"web\.1: 127\.0\.1\.1:8080 is taken by .+; stop that program and try again\.",
        ended.sentence,
    )
    nothing_is_left(place, trial, ended)


@pytest.mark.slow
@pytest.mark.privileged
def test_a_disk_that_fills_up_in_the_middle_is_completed_once_there_is_room(
    start: Start,
    write: Callable[..., Path],
    place: Path,
    trial: str,
    with_mount: Callable[..., tuple[str]],
) -> None:
    runs = place / "runs"
    runs.mkdir()
    prefix = with_mount("-t", "tmpfs", "-o", "size=80m", "none", runs)
    command = start(
        "run", write(system=ONE_SERVER, users=50, runtime=12), "--runs", runs, prefix=prefix
    )
    command.wait_for("runtime")
    filler = Path(f"/proc/{command.process.pid}/root{runs}/filler")
    fill(filler)
    holder = re.search(r"/proc/\d+", prefix[1])
    assert holder is not None
    ended = command.end()
    assert re.search("space|disk", ended.sentence), ended.sentence
    nothing_is_left(place, trial, ended)

    Path(f"{holder[0]}/root{runs}/filler").unlink()
    folder = runs / trial / "001"
    completed = start("report", folder, prefix=prefix).end()
    assert completed.status == 0, completed.stderr
    inside = Path(f"{holder[0]}/root{folder}")
    outcome = json.loads((inside / "manifest.json").read_text())["exit"]
    assert outcome["state"] == "failed"
    assert ended.sentence.startswith(outcome["error"]), "what failed first, not what followed"
    assert (inside / "requests.parquet").stat().st_size
    assert (inside / "report.html").stat().st_size
    assert not (inside / "streams").exists()


def fill(path: Path) -> None:
    """Write until the disk is full."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
