"""Files of a trial on this host, whatever the caller has set for his own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments.obstacle import obstacle
from tierlab.environments.domain import DomainSpec
from tierlab.environments.files import copy_tree, make_folder, open_folder, remove_tree
from tierlab.environments.kinds import KINDS
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native


@pytest.fixture
def closed() -> Iterator[None]:
    """What the caller makes is his own."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_a_link_leads_to_is_copied_and_a_link_below_it_stays_one(tmp_path: Path) -> None:
    """The folder that a server is made from, and the file that is an image's volume."""
    release = tmp_path / "release"
    release.mkdir()
    (release / "file").write_text("content")
    (release / "within").symlink_to("file")
    (tmp_path / "current").symlink_to(release)
    (tmp_path / "linked").symlink_to(release / "file")
    for source, copy in (("current", "folder"), ("linked", "copy")):
        copy_tree(tmp_path / source, tmp_path / copy)
        assert not (tmp_path / copy).is_symlink(), source
    assert (tmp_path / "copy").read_text() == "content"
    assert (tmp_path / "folder" / "within").readlink() == Path("file")
    (tmp_path / "folder" / "file").write_text("another")
    assert (release / "file").read_text() == "content"


@pytest.mark.privileged
def test_what_a_link_leads_to_is_given_to_nobody(
    trial: str, traces: Traces, tmp_path: Path
) -> None:
    """Its folders and files went to the servers' user, the user's own ones."""
    if (reason := obstacle("native")) is not None:
        pytest.skip(reason)
    (tmp_path / "file").touch()
    made = Native(Ledger(trial))
    try:
        domain = made.create(DomainSpec("db.1"))
        domain.start()
        (domain.folder / "current").symlink_to(tmp_path)
        domain.own(domain.folder / "current")
    finally:
        made.destroy()
    assert {path.stat().st_uid for path in (tmp_path, tmp_path / "file")} == {os.geteuid()}
    assert traces.none()


@pytest.mark.usefixtures("closed")
def test_folders_have_the_mode_that_they_need_whatever_the_umask(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    open_folder(tmp_path / "own" / "a" / "b")
    made = [tmp_path / "own" / name for name in (".", "a", "a/b")]
    assert [mode(path) for path in made] == [0o700, 0o755, 0o755], "what was there stays his own"
    ledger = Ledger("modes", tmp_path / "ledger")
    for number in (0o755, 0o700):
        make_folder(ledger, tmp_path / f"{number:o}", mode=number)
        assert mode(tmp_path / f"{number:o}") == number
    ledger.close()


@pytest.mark.privileged
@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("environment", ["native", "podman", "docker", "lxc"])
def test_servers_read_what_is_laid_down_whatever_the_umask(
    environment: str, trial: str, traces: Traces, tmp_path: Path
) -> None:
    """Some harden root's; each server of a trial then failed as it entered its folder."""
    if (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    (tmp_path / "file").write_text("content")
    made = KINDS[environment](Ledger(trial))
    try:
        domain = made.create(DomainSpec("db.1"))
        domain.start()
        domain.write("deep/texts/note", "note")
        domain.put(tmp_path / "file", "deep/copied/file")
        tried = "cat deep/*/* && mkdir made && stat --format=%a made"
        done = domain.run(["sh", "-c", tried], timeout=20)
    finally:
        made.destroy()
    assert done.stdout == "contentnote755\n", done.stderr
    assert traces.none()


def test_a_tree_goes_with_all_in_it_and_what_links_lead_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("content")
    tree = tmp_path / "tree"
    for number in range(30):
        (tree / f"{number}").mkdir(parents=True)
        for name in "abc":
            (tree / f"{number}" / name).write_text(name)
    (tree / "to folder").symlink_to(kept)
    (tree / "to file").symlink_to(kept / "file")
    (tree / "nowhere").symlink_to("gone")
    (tree / "hard").hardlink_to(kept / "file")
    os.mkfifo(tree / "pipe")
    remove_tree(tree)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (kept / "file").read_text() == "content"
    with pytest.raises(FileNotFoundError):
        remove_tree(tree)
