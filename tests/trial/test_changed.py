"""What a server may use is changed in the middle of a trial, for real, and read back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.pace import pace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

Write = Callable[..., Path]
CHANGES = """
[[change]]
at = "1s"
on = "db.1"
pus = [0]
weight = 2048
memory = "1GiB"

[[change]]
at = "1500ms"
on = "app.1"
pool = 1
threads = 20
"""
MIB = 1 << 20


def test_changes_come_to_pass_at_their_time_and_what_they_did_is_said(
    tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    ended = tierlab("run", experiment(users=200, up=0, run=3, down=0, more=CHANGES)).end()

    assert ended.status == 0, ended.stderr
    run = api.open(tmp_path / "runs" / "t" / "001")
    with run.connect() as db:
        made = db.execute(
            "SELECT t_ns, subject, detail FROM events WHERE kind = 'change' ORDER BY t_ns"
        ).fetchall()
    runtime = run.manifest.phase("runtime")
    assert runtime is not None
    assert [subject for _, subject, _ in made] == ["db.1", "app.1"]
    late = [
        (t_ns - runtime.start_ns) / 1e9 - at for (t_ns, *_), at in zip(made, (1, 1.5), strict=True)
    ]
    assert all(0 <= each < 0.5 * pace() for each in late), late
    placed, resized = (json.loads(detail) for *_, detail in made)
    assert placed["asked"] == {"pus": [0], "weight": 2048, "memory": 1024 * MIB}
    assert placed["found"]["pus"] == [0]
    assert abs(placed["found"]["weight"] - 2048) < 11
    assert placed["found"]["memory"] == 1024 * MIB
    assert resized["found"] == {"threads": 20, "pool": 1}
    with run.connect() as db:
        limits = db.execute(
            """SELECT DISTINCT "limit" FROM soft WHERE resource = 'pool' AND t_ns > ?""",
            [made[1][0] + 1_000_000_000],
        ).fetchall()
    assert limits == [(1,)]
    said = [line for line in ended.stdout.splitlines() if "Changed at" in line]
    assert "db.1 got" in said[0]
    assert "too short to compare" in said[0]
    assert "app.1 got threads 20, pool 1" in said[1]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("pus = [4095]", "change of db.1: pus: this machine has no PU 4095"),
        ('host = "second"', "change of db.1: host: the native environment cannot move a server"),
    ],
)
def test_a_change_that_cannot_be_made_here_is_refused_before_anything_starts(
    asked: str, sentence: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    change = f'[[change]]\nat = "1s"\non = "db.1"\n{asked}\n'

    ended = tierlab("run", experiment(users=5, run=3, more=change)).end()

    assert sentence in ended.sentence
    assert not (tmp_path / "runs").exists()
