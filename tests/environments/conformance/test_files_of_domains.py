"""Files come into a domain as they are, and are its servers' there; the user's own stay his."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.environments.domain import Domain

pytestmark = pytest.mark.privileged


def test_files_go_in_and_out(domain: Domain, tmp_path: Path) -> None:
    (tmp_path / "tree" / "deep").mkdir(parents=True)
    (tmp_path / "tree" / "deep" / "file").write_text("content")
    domain.put(tmp_path / "tree", "copied")
    domain.write("texts/note", "note")
    said = domain.run(["cat", "copied/deep/file", "texts/note"], timeout=20)
    assert said.stdout == "contentnote"
    written = domain.run(["sh", "-c", "echo new > copied/deep/made"], timeout=20)
    assert written.status == 0
    domain.get("copied", tmp_path / "back")
    assert (tmp_path / "back" / "deep" / "made").read_text() == "new\n"


def test_what_a_link_leads_to_is_copied_and_stays_the_users(domain: Domain, tmp_path: Path) -> None:
    """The folder that a server is made from may be one, as Capistrano's `current` is."""
    release = tmp_path / "release"
    release.mkdir()
    (release / "file").write_text("content")
    (tmp_path / "current").symlink_to(release)
    (tmp_path / "linked").symlink_to(release / "file")
    domain.put(tmp_path / "current", "released")
    domain.put(tmp_path / "linked", "linked/file")
    tried = "cat released/file linked/file && echo > released/made && find released linked -type l"
    done = domain.run(["sh", "-c", tried], timeout=20)
    assert (done.status, done.stdout) == (0, "contentcontent"), done.stderr
    assert [path.name for path in release.iterdir()] == ["file"]
    assert {path.stat().st_uid for path in (release, release / "file")} == {os.geteuid()}
