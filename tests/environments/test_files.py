"""Files of a trial on this host, whatever the caller has set for his own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Traces
from tests.environments.obstacle import obstacle
from tierlab.environments.domain import DomainSpec
from tierlab.environments.files import copy_tree
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native


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
