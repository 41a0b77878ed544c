"""`tierlab init`: the commented file loads, holds every key, and tells the true defaults."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tierlab.cli.init import init
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan, load
from tierlab.experiment.catalogue import CHANGE, COMMON, DISTURBANCES
from tierlab.experiment.keys import Key
from tierlab.experiment.template import ACTIVE, TABLES, template

WHOLE = template("mine")
TEXT, _, ARRAYS_TEXT = WHOLE.partition("# A change of ")
CHANGE_TEXT, _, DISTURBANCES_TEXT = ARRAYS_TEXT.partition("# Disturbances: ")
ALONE = Experiment.from_tables(tomllib.loads(TEXT))
BASE = ALONE.trials()
KEYS = [key for table in TABLES.values() for key in table.keys]
OF_A_LOG = ("load", "speed")
"""RUBBoS has none."""
COMMENTED = [key for key in KEYS if key.path not in (*ACTIVE, OF_A_LOG) and key.path[-1] != "name"]


def uncommented(key: Key) -> str:
    """The file with this one key taken out of its comment."""
    head = f"[{'.'.join(key.path[:-1])}]\n"
    before, table, after = TEXT.partition(head)
    line = re.compile(rf"^# ({key.path[-1]} = .*)$", re.MULTILINE)
    changed, count = line.subn(r"\1", after, count=1)
    assert count == 1
    return before + table + changed


def test_it_holds_every_key_once() -> None:
    sections = re.split(r"^\[(.+)\]$", TEXT, flags=re.MULTILINE)[1:]
    found = [
        (*name.split("."), key)
        for name, body in zip(sections[::2], sections[1::2], strict=True)
        for key in re.findall(r"^(?:# )?([a-z_0-9]+) = ", body, re.MULTILINE)
    ]
    assert found == [key.path for key in KEYS]


@pytest.mark.parametrize("key", COMMENTED, ids=lambda key: ".".join(key.path))
def test_the_default_shown_is_the_default(
    key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = uncommented(key)
    if key.path[:2] == ("load", "shape") and key.path[-1] in ("low", "count", "length"):
        text = text.replace("[load.shape]\n", '[load.shape]\nkind = "bursts"\n')
    monkeypatch.chdir(tmp_path)
    Path("day.csv").write_text("0,1\n1,2\n")
    if key.path[0] == "load" and key.path[-1] in ("rate", "arrivals"):
        text = re.sub(r"^users = .*$", "", text, flags=re.MULTILINE)
        text = re.sub(r"^# rate = ", "rate = ", text, flags=re.MULTILINE)

    made = Experiment.from_tables(tomllib.loads(text))

    if key.default is not None and key.path[-1] != "arrivals":
        assert made == ALONE
    else:
        assert made != ALONE


def test_every_key_of_a_change_is_there_with_an_example() -> None:
    shown = dict(re.findall(r"^# ([a-z_]+) = (.*)$", CHANGE_TEXT, re.MULTILINE))

    assert list(shown) == [key.path[-1] for key in CHANGE.keys]
    lines = (f"{name} = {shown[name]}" for name in ("at", "on", "weight", "memory"))
    (changed,) = Experiment.from_tables(
        tomllib.loads("\n".join([TEXT, "[[change]]", *lines]))
    ).trials()
    assert [each.weight for each in changed.change] == [2048]


BLOCKS = dict(zip(DISTURBANCES, DISTURBANCES_TEXT.split("# [[disturb]]\n")[1:], strict=True))


def disturbed(kind: str, *names: str) -> tuple[TrialPlan, ...]:
    """The trials of the file with this class's table, and these keys of it, uncommented."""
    lines = re.findall(r"^# ([a-z]+ = .*)$", BLOCKS[kind], re.MULTILINE)
    common = re.findall(r"^# ([a-z]+ = .*)$", DISTURBANCES_TEXT.split("# [[", 1)[0], re.MULTILINE)
    chosen = [line for line in (*common, *lines) if line.split()[0] in names]
    text = "\n".join([TEXT, "[[disturb]]", f'class = "{kind}"', *chosen])
    return Experiment.from_tables(tomllib.loads(text)).trials()


def test_it_is_undisturbed_as_it_is() -> None:
    assert Experiment.from_tables(tomllib.loads(WHOLE)).trials() == BASE
    assert BASE[0].disturb == ()


@pytest.mark.parametrize("kind", DISTURBANCES)
def test_every_key_of_a_disturbance_is_there_with_its_default(kind: str) -> None:
    """Keys that have no default are examples; those that go together are not tried alone."""
    keys = {key.path[-1]: key for key in DISTURBANCES[kind].keys}
    with_default = [name for name, key in keys.items() if key.default is not None]
    shown = re.findall(r"^# ([a-z]+) = ", BLOCKS[kind], re.MULTILINE)

    assert set(shown) | set(COMMON) == set(keys)
    assert disturbed(kind, *with_default) == disturbed(kind) != BASE


def test_the_factors_shown_can_be_crossed() -> None:
    text = TEXT.replace('# "load.users"', '"load.users"').replace('# "system.', '"system.')

    assert len(Experiment.from_tables(tomllib.loads(text)).trials()) == 9


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("mine.toml", "mine"),
        ("my test.toml", "my-test"),
        ("..toml", "experiment"),
        ("ü.toml", "experiment"),
    ],
)
def test_it_is_named_after_its_file(tmp_path: Path, file: str, name: str) -> None:
    init(tmp_path / file)

    assert load(tmp_path / file).about.name == name


def test_a_file_is_not_overwritten_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("precious")

    with pytest.raises(UserError) as raised:
        init(path)

    assert str(raised.value) == f"{path}: exists already; name another file, or add --force."
    assert path.read_text() == "precious"
    init(path, force=True)
    assert load(path).about.name == "mine"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("precious")
    (tmp_path / "mine.toml.part").symlink_to("/dev/full")

    with pytest.raises(UserError, match=r"cannot be written: No space left on device\.$"):
        init(path, force=True)

    assert [file.name for file in tmp_path.iterdir()] == ["mine.toml"]
    assert path.read_text() == "precious"


def test_a_folder_or_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder; name the file to write"):
        init(tmp_path)
    with pytest.raises(UserError, match=r"cannot be written: No such file or directory\.$"):
        init(tmp_path / "none" / "mine.toml")
    (tmp_path / "f").write_text("")
    with pytest.raises(UserError, match=r"cannot be written: Not a directory\.$"):
        init(tmp_path / "f" / "mine.toml")
