"""Ledgers in a folder that other machines and containers have too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tierlab.cli.clean import clean
from tierlab.environments import whereabouts
from tierlab.environments.files import make_folder
from tierlab.environments.ledger import Ledger, accounts, ledger_folder, remove_unopened
from tierlab.environments.whereabouts import here
from tierlab.errors import UserError
from tierlab.trial.resume import remove_leftovers

FAR = {"host": "far", "machine": "another"}
CONTAINER = {"pid_namespace": 1}
GONE = {"pid": 2**22 + 1, "start": 1}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def left_behind(folder: Path, **head: Any) -> Path:
    """The ledger of a trial whose process is gone, with a folder in it; `head`: what it says."""
    ledger = Ledger("e-001-7")
    make_folder(ledger, folder)
    ledger.close()
    first, *rest = ledger.path.read_text().splitlines()
    kept = {key: value for key, value in (json.loads(first) | GONE | head).items() if value}
    ledger.path.write_text("\n".join([json.dumps(kept), *rest]) + "\n")
    return ledger.path


def test_where_a_ledger_was_opened_is_kept(tmp_path: Path) -> None:
    left_behind(tmp_path / "made")
    (account,) = accounts()
    assert account.place == here()
    assert not account.is_live


def test_another_machines_trial_is_never_cleaned_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its process was looked for here, not found, and what it had made then forgotten."""
    made = tmp_path / "made"
    ledger = left_behind(made, **FAR)
    clean(force=True)
    assert made.exists()
    assert capsys.readouterr().out == (
        f"e-001-7: may still run (process {GONE['pid']} on host far); clean it there,"
        f" or delete {ledger} if that is gone\n"
    )
    assert remove_leftovers("e") == []
    assert ledger.exists()


def test_another_containers_trial_is_cleaned_only_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    ledger = left_behind(made, **CONTAINER)
    clean()
    assert made.exists()
    assert "in another container of this machine); clean it there, or here with --force" in (
        capsys.readouterr().out
    )
    clean(force=True)
    assert not made.exists()
    assert not ledger.exists()


def test_a_ledger_from_before_its_place_was_kept_is_cleaned(tmp_path: Path) -> None:
    made = tmp_path / "made"
    left_behind(made, host=None, machine=None, pid_namespace=None)
    clean()
    assert not made.exists()


def test_a_name_that_another_machine_has_is_taken(tmp_path: Path) -> None:
    left_behind(tmp_path / "made", **FAR)
    with pytest.raises(UserError, match=rf"runs already \(process {GONE['pid']} on host far\)"):
        Ledger("e-001-7")


def test_a_ledger_that_another_machine_is_making_stays(tmp_path: Path) -> None:
    ledger = left_behind(tmp_path / "made", **FAR)
    making = ledger_folder() / f".{ledger.name}.{GONE['pid']}"
    ledger.rename(making)
    remove_unopened()
    assert making.exists()


def test_a_machine_is_told_by_its_id_or_else_by_its_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine_id = tmp_path / "machine-id"
    monkeypatch.setattr(whereabouts, "MACHINE_ID", machine_id)
    found = []
    for boot in ("first", "second"):
        monkeypatch.setattr(whereabouts, "boot_id", lambda boot=boot: boot)
        machine_id.unlink(missing_ok=True)
        without = here().machine
        machine_id.write_text("4711\n")
        found.append((here().machine, without))
    (first, without_first), (second, without_second) = found
    assert first == second
    assert len({first, without_first, without_second}) == 3
