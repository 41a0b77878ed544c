"""Which trials are repetitions: those for which the same was asked, as their manifests have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_run
import pytest

from tierlab.analysis.comparing.groups import groups_of
from tierlab.errors import UserError

LEVELS = {"system.scale": 1}


def placed(pus: list[int], found: list[int]) -> dict[str, Any]:
    return {"db.1": {"asked": {"pus": pus, "weight": None}, "found": {"pus": found}}}


def parts(threads: int, address: str = "127.0.1.1", port: int = 8080) -> dict[str, Any]:
    part = made_run.servers()["web.1"]
    soft = part.soft | {"threads": threads}
    return {"web.1": part.model_copy(update={"soft": soft, "address": address, "port": port})}


APP: dict[str, Any] = {"command": "node server.js", "folder": "/home/me/shop", "calls": ["db"]}


def planned(**changes: Any) -> dict[str, Any]:
    """A plan, with other tables in the place of some."""
    return {
        "experiment": {"name": "x", "seed": 1},
        "system": {"scale": 1, "data_seed": 1, "tcp": "modern", "app": APP},
        "observe": {"interval": "50ms", "samplers": "all"},
        "change": [],
        **changes,
    }


def system(**changes: Any) -> dict[str, Any]:
    """A plan with another system."""
    return {"plan": planned(system=planned()["system"] | changes)}


BASE: dict[str, Any] = {
    "factors": LEVELS,
    "load": {"users": 700, "mix": "read-write", "shape": None, "images": True},
    "servers": parts(256),
    "mapping": placed([0], [0]),
    "plan": planned(),
}


def write(folder: Path, *changes: dict[str, Any]) -> Path:
    """An experiment's folder, a trial for each of the changes."""
    for number, each in enumerate(changes, start=1):
        trial = folder / f"00{number}"
        trial.mkdir()
        made_run.manifest(**{**BASE, **each}).write(trial)
    return folder


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"load": {"users": 800, "mix": "read-write", "shape": None, "images": True}},
            "load.users 700 in 001 and 002, 800 in 003",
        ),
        (
            {"load": {"users": 700, "mix": "read-write", "shape": None, "images": False}},
            "load.images true in 001 and 002, false in 003",
        ),
        ({"servers": parts(64)}, "web.1.soft.threads 256 in 001 and 002, 64 in 003"),
        ({"mapping": placed([1], [1])}, "db.1.pus [0] in 001 and 002, [1] in 003"),
        (
            {"servers": {**parts(256), "app.1": made_run.servers()["app.1"]}},
            'servers ["web.1"] in 001 and 002, ["app.1", "web.1"] in 003',
        ),
        (system(scale=2), "system.scale 1 in 001 and 002, 2 in 003"),
        (system(tcp="classic"), 'system.tcp "modern" in 001 and 002, "classic" in 003'),
        (
            system(app={"command": "node other.js", "folder": "/home/me/shop"}),
            'system.app.command "node server.js" in 001 and 002, "node other.js" in 003',
        ),
        (system(app=APP | {"memory": "2GiB"}), 'system.app.memory unset in 001 and 002, "2GiB"'),
        (
            system(app=APP | {"environment": {"WORKERS": "4"}}),
            'system.app.environment.WORKERS unset in 001 and 002, "4" in 003',
        ),
        (
            {"plan": planned(observe={"interval": "10ms", "samplers": "all"})},
            'observe.interval "50ms" in 001 and 002, "10ms" in 003',
        ),
        (
            {"plan": planned(change=[{"at": "20s", "on": "app.1", "threads": 5}])},
            "change 0 in 001 and 002, 1 in 003",
        ),
        (
            {"plan": planned(system=[{"name": "a", "scale": 2}])},
            "system.scale 1 in 001 and 002, unset in 003",
        ),
    ],
    ids=[
        *("load", "images", "soft resource", "placement", "servers"),
        *("scale", "tcp", "command", "option", "variable", "observe", "change", "several"),
    ],
)
def test_trials_of_the_same_levels_under_other_settings_are_no_repetitions(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    """The file was edited in between, and they were pooled without a word."""
    folder = write(tmp_path, {}, {}, change)
    with pytest.raises(UserError) as refused:
        groups_of(folder)
    assert told in str(refused.value)
    assert str(folder) in str(refused.value)
    assert "no repetitions" in str(refused.value)


def test_what_differs_by_itself_makes_no_other_setting(tmp_path: Path) -> None:
    """Seeds, addresses and ports, what was found, how a path is spelled, and what an older folder
    has not kept.
    """
    folder = write(
        tmp_path,
        {"seeds": {"trial": 1}},
        {"seeds": {"trial": 2}, "servers": parts(256, "127.0.9.9", 9090)},
        {"mapping": placed([0], [0, 1]), "load": {"users": 700, "mix": "read-write"}},
        system(data_seed=2),
        system(app=APP | {"calls": ["db", "cache"], "protocol": "http"}),
        system(app=APP | {"folder": "/home/me/runs/../shop"}),
        {"plan": {}},
        {"plan": {"system": {"scale": 1}}, "versions": {"tierlab": "0.0.9"}},
    )
    (group,) = groups_of(folder)
    assert len(group.runs) == 8


def test_levels_may_differ_in_all_settings(tmp_path: Path) -> None:
    folder = write(tmp_path, {}, {"factors": {"system.scale": 2}, "servers": parts(64)})
    assert [len(each.runs) for each in groups_of(folder)] == [1, 1]
