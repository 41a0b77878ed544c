from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments.full_disk import full_disk
from tierlab.environments import ledger as ledgers
from tierlab.environments.files import make_folder
from tierlab.environments.ledger import Ledger, accounts, ledger_folder, read
from tierlab.environments.removal import remove_listed
from tierlab.errors import UserError


def test_an_entry_is_on_the_disk_before_add_returns(tmp_path: Path) -> None:
    ledger = Ledger("one", tmp_path)
    entry = ledger.add("folder", path="/nowhere")
    assert [found.what for found in read(ledger.path).entries] == [{"path": "/nowhere"}]
    ledger.amend(entry, inode=7)
    assert [found.what for found in read(ledger.path).entries] == [{"path": "/nowhere", "inode": 7}]
    assert ledger.account().entries == read(ledger.path).entries


def test_a_ledger_with_nothing_left_deletes_itself_and_its_empty_folders(tmp_path: Path) -> None:
    folder = tmp_path / "tierlab" / "ledger"
    ledger = Ledger("one", folder)
    ledger.strike(ledger.add("folder", path="/nowhere"))
    ledger.close()
    assert not (tmp_path / "tierlab").exists()


def test_a_ledger_with_something_left_stays(tmp_path: Path) -> None:
    ledger = Ledger("one", tmp_path)
    gone, left = ledger.add("folder", path="/gone"), ledger.add("folder", path="/left")
    ledger.strike(gone)
    ledger.close()
    assert [account.entries for account in accounts(tmp_path)] == [(left,)]


def test_a_line_cut_short_by_a_crash_is_passed_over(tmp_path: Path) -> None:
    ledger = Ledger("one", tmp_path)
    whole = ledger.add("folder", path="/whole")
    text = ledger.path.read_text()
    ledger.path.write_text(text + '{"op":"add","number":2,"ki')
    assert read(ledger.path).entries == (whole,)


@pytest.mark.parametrize("text", ["", "hello\n", "{}\n", "5\n", '{"op":"open"}\n'])
def test_a_file_that_is_no_ledger_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(UserError, match=r"x\.jsonl: is not a ledger"):
        accounts(tmp_path)


def test_this_process_is_alive_and_an_older_boot_is_not(tmp_path: Path) -> None:
    ledger = Ledger("one", tmp_path)
    assert read(ledger.path).is_live
    head, *rest = ledger.path.read_text().splitlines()
    record = json.loads(head)
    record["boot"] = "another"
    ledger.path.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    assert not read(ledger.path).is_live


def test_a_pid_used_again_is_not_the_owner(tmp_path: Path) -> None:
    ledger = Ledger("one", tmp_path)
    record = json.loads(ledger.path.read_text())
    record["start"] += 1
    ledger.path.write_text(json.dumps(record) + "\n")
    assert not read(ledger.path).is_live


def test_a_running_trial_keeps_its_name(tmp_path: Path) -> None:
    Ledger("one", tmp_path)
    with pytest.raises(UserError, match=r"trial one runs already \(process \d+\)"):
        Ledger("one", tmp_path)


def test_a_dead_trial_keeps_its_name_until_it_is_cleaned(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from tierlab.environments.ledger import Ledger;"
        "Ledger('one', Path(sys.argv[1])).add('folder', path='/left'); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    with pytest.raises(UserError, match="tierlab clean"):
        Ledger("one", tmp_path)


def test_a_ledger_that_a_kill_left_unopened_is_removed(tmp_path: Path) -> None:
    """`tierlab clean` left `.t-001-link-4711.jsonl.4711` behind, and the folder with it."""
    script = (
        "import os, sys; from pathlib import Path; from tierlab.environments import ledger;"
        "os.fsync = lambda file: os._exit(9); ledger.Ledger('one', Path(sys.argv[1]))"
    )
    folder = tmp_path / "tierlab" / "ledger"
    subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    (unopened,) = folder.iterdir()
    (folder / f".two.jsonl.{os.getpid()}").touch()
    ledgers.remove_unopened(folder)
    assert [path.name for path in folder.iterdir()] == [f".two.jsonl.{os.getpid()}"]
    assert unopened.name.startswith(".one.jsonl.")


@pytest.mark.parametrize("name", ["", "a b", "../up", "-x", "x" * 41])
def test_names_that_cannot_be_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="letters, digits"):
        Ledger(name, tmp_path)


def test_the_folder_does_not_depend_on_where_one_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert ledger_folder() == Path("/somewhere/tierlab/ledger")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(ledgers.os, "geteuid", lambda: 0)
    assert ledger_folder() == Path("/var/lib/tierlab/ledger")
    monkeypatch.setattr(ledgers.os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/someone")
    assert ledger_folder() == Path("/home/someone/.local/state/tierlab/ledger")


def test_an_unwritable_place_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write the ledger"):
        Ledger("one", tmp_path / "file")


def test_a_full_disk_keeps_nothing_from_being_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first strike that it refused ended the removal."""
    ledger = Ledger("one", tmp_path / "ledger")
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        make_folder(ledger, folder)
    full_disk(monkeypatch)
    assert remove_listed(ledger) == []
    assert not any(folder.exists() for folder in folders)
    ledger.close()
    assert not ledger.path.exists()


@pytest.mark.parametrize("takes", [0.0, 0.5])
def test_what_a_full_disk_takes_of_a_line_does_not_spoil_the_next(
    tmp_path: Path, takes: float
) -> None:
    ledger = Ledger("one", tmp_path)
    first = ledger.add("folder", path="/first")
    with pytest.MonkeyPatch.context() as patch:
        full_disk(patch, takes=takes)
        with pytest.raises(UserError, match=r"cannot write the ledger \(No space left on device\)"):
            ledger.add("folder", path="/second")
        ledger.strike(first)
    third = ledger.add("folder", path="/third")
    assert read(ledger.path).entries == (first, third)
    assert ledger.account().entries == (third,)


def test_a_ledger_that_does_not_get_its_first_line_is_none(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        full_disk(patch, takes=0.5)
        with pytest.raises(UserError, match="No space left on device"):
            Ledger("one", tmp_path)
    assert list(tmp_path.iterdir()) == []
