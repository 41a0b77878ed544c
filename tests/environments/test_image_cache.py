"""What lies in the cache of images, what is in use, and what is dropped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tierlab.cli.main import app
from tierlab.environments.images import cache as image_cache
from tierlab.environments.images.image import GUEST, RECIPES, Recipe, place
from tierlab.environments.ledger import accounts
from tierlab.environments.snapshots import shelf
from tierlab.errors import UserError

OLD = Recipe(packages=("of", "an", "older", "version"))
HOLDER = """
import sys
from tierlab.environments.images import image
from tierlab.environments.images import cache as image_cache
image.RECIPES["guest"] = image.Recipe(packages=("of", "an", "older", "version"))
image_cache.hold("guest")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def built(recipe: Recipe, used: int = 0) -> Path:
    """What stands for an image of 3 KiB."""
    image = place(recipe)
    image.folder.mkdir(parents=True)
    image.root.write_bytes(bytes(3070))
    image.record.write_text("{}")
    os.utime(image.folder, (used, used))
    return image.folder


@pytest.fixture
def holder() -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start what uses the old image: an earlier version's process."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def image_verb(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, ["image", *arguments])


def test_each_image_is_listed_with_what_it_is_for_the_last_used_first() -> None:
    old, new = built(OLD, used=86_400), built(GUEST, used=2 * 86_400)
    said = [" ".join(line.split()) for line in image_verb("list").stdout.splitlines()[1:]]
    assert said == [
        f"{new.name} guest 0 3 KiB 1970-01-03 00:00 UTC",
        f"{old.name} another version 0 3 KiB 1970-01-02 00:00 UTC",
    ]
    found = json.loads(image_verb("list", "--json").stdout)
    assert [(each["for"], each["bytes"], each["in_use"]) for each in found] == [
        (["guest"], 3072, False),
        ([], 3072, False),
    ]


def test_what_a_recipe_of_this_version_names_stays() -> None:
    old, *new = (built(recipe) for recipe in (OLD, *RECIPES.values()))
    would = image_verb("prune", "--dry-run").stdout
    assert would == f"would remove {old} (3 KiB)\n"
    assert old.exists()
    assert image_verb("prune").stdout == f"removed {old} (3 KiB)\n"
    assert not old.exists()
    assert sorted(new[0].parent.iterdir()) == sorted(new)
    assert accounts() == []
    assert image_verb("prune").stdout == "no image is of another version\n"


def test_of_an_image_that_stays_the_snapshots_go_that_nothing_restores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = place(GUEST)
    folder = built(GUEST) / shelf.FOLDER
    folder.mkdir()
    (folder / ".half").mkdir()
    taken = []
    for version in ("QEMU 7.2", "QEMU 10"):
        monkeypatch.setattr(shelf, "emulator", lambda said=version: said)
        taken.append(shelf.snapshot(image, "shape").file)
        taken[-1].write_bytes(bytes(1026))
    (listed,) = json.loads(image_verb("list", "--json").stdout)
    assert (listed["snapshots"], listed["bytes"]) == (2, 3072 + 2 * 1026)
    assert json.loads(image_verb("prune", "--json").stdout)["snapshots"] == [str(taken[0])]
    assert sorted(folder.iterdir()) == sorted([folder / ".half", taken[1]])


def test_what_is_half_built_and_what_is_no_image_stay() -> None:
    old = built(OLD)
    partial, other = old.with_name(".0123456789abcdef"), old.with_name("notes")
    partial.mkdir()
    (partial / "image.json").touch()
    other.mkdir()
    image_verb("prune")
    assert partial.exists()
    assert other.exists()


def test_what_a_running_trial_has_stays_until_that_ends(
    holder: Callable[[], subprocess.Popen[str]],
) -> None:
    old = built(OLD)
    process = holder()
    (listed,) = json.loads(image_verb("list", "--json").stdout)
    assert listed["in_use"]
    assert listed["last_used"] > "1970-01-02"
    pruned = json.loads(image_verb("prune", "--json").stdout)
    assert [each["folder"] for each in pruned["in_use"]] == [str(old)]
    assert pruned["removed"] == []
    assert old.exists()
    process.kill()  # whatever ends it
    process.wait()
    assert "removed" in image_verb("prune").stdout
    assert not old.exists()


def test_an_image_that_was_dropped_is_asked_for() -> None:
    folder = built(GUEST)
    (kept,) = image_cache.kept()
    assert image_cache.drop(kept.image)
    assert not folder.exists()
    with pytest.raises(UserError, match="tierlab image build guest"):
        image_cache.hold("guest")


def test_two_may_drop_the_same_image() -> None:
    built(OLD)
    (listed,) = image_cache.unnamed()
    assert image_cache.drop(listed.image)
    assert image_cache.drop(listed.image)
    assert image_cache.kept() == []
