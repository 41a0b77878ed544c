"""Two trials at the same time, in namespaces of their own."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tierlab.environments.domain import DomainSpec
from tierlab.environments.files import make_folder, share_folder
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.environments.placement import Placement
from tierlab.environments.removal import remove_trial

pytestmark = pytest.mark.privileged


@pytest.fixture
def pair(trial: str, traces: object) -> Iterator[tuple[Native, Native]]:  # noqa: ARG001
    if os.geteuid() != 0:
        pytest.skip("needs root")
    first, second = (Native(Ledger(f"{trial}{name}")) for name in "ab")
    yield first, second
    for native in (first, second):
        native.destroy()


def listening(native: Native) -> socket.socket:
    link = native._socket()
    link.bind(("127.0.1.1", 8080))
    link.listen()
    return link


def test_both_have_the_same_addresses_and_neither_sees_the_other(
    pair: tuple[Native, Native],
) -> None:
    first, second = pair
    with listening(first):
        assert first.listener("127.0.1.1", 8080) is not None
        assert second.listener("127.0.1.1", 8080) is None
        with listening(second):
            first.connect("127.0.1.1", 8080, timeout=5).close()
            second.connect("127.0.1.1", 8080, timeout=5).close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.1.1", 8080), timeout=5)


def test_the_end_of_one_leaves_the_other_as_it_was(pair: tuple[Native, Native]) -> None:
    first, second = pair
    domains = []
    for native in (first, second):
        domain = native.create(DomainSpec("db.1", Placement(weight=2000)))
        domain.start()
        domains.append(domain)
    process = domains[1].spawn(["sleep", "60"], log="log")
    first.destroy()
    assert process.poll() is None
    domains[1].verify(Placement(weight=2000))
    assert domains[1].run(["true"], timeout=10).status == 0


def test_the_last_one_removes_what_they_shared(trial: str, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    first, second = (Ledger(f"{trial}{name}", tmp_path / "ledger") for name in "ab")
    for ledger in (first, second):
        share_folder(ledger, shared)
    make_folder(second, shared / "of the second")
    remove_trial(first)
    assert shared.exists()
    remove_trial(second)
    assert not shared.exists()
