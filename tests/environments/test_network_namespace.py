"""The network namespace of a trial, which no path of others' holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyroute2
import pytest

from tests.pace import wait_until
from tierlab.environments.network import netns
from tierlab.environments.network.netns import Namespace

pytestmark = [
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

OWN_RUN = (
    *("unshare", "--mount", "--propagation", "private"),
    *("sh", "-c", 'mount -t tmpfs tmpfs /run && exec "$@"', "sh"),
)
"""Starts a program that has a mount namespace, and a /run, of its own."""

NAMED = """
import json, os, subprocess, sys
from pathlib import Path
from tierlab.environments.ledger import Ledger
from tierlab.environments.removal import remove_listed

ledger = Ledger("old", Path(sys.argv[1]))
folder = Path("/run/netns")
folder.mkdir()
path = folder / "tierlab-old"
path.touch()
entry = ledger.add("network namespace", path=str(path))
subprocess.run(["unshare", f"--net={path}", "true"], check=True)
ledger.amend(entry, inode=path.stat().st_ino)
subprocess.run(["ip", "netns", "add", "other"], check=True)
left = remove_listed(ledger)
mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
print(json.dumps([left, os.listdir(folder), [each for each in mounts if "netns" in each]]))
"""


def links(namespace: Namespace) -> set[str]:
    def listed() -> set[str]:
        with pyroute2.IPRoute() as route:
            return {link.get_attr("IFLA_IFNAME") for link in route.get_links()}

    return namespace.inside(listed)


def test_all_in_a_namespace_goes_once_its_descriptor_is_closed() -> None:
    first, second = netns.create({}), netns.create({})

    def join() -> None:
        with pyroute2.IPRoute() as route, second.path.open() as target:
            peer = {"ifname": "there", "net_ns_fd": target.fileno()}
            route.link("add", ifname="here", kind="veth", peer=peer)

    first.inside(join)
    assert {"lo", "there"} <= links(second)
    first.close()
    wait_until(lambda: "there" not in links(second), "the removal of the namespace")
    second.close()


def test_a_namespace_that_is_closed_twice_closes_nothing_else(tmp_path: Path) -> None:
    namespace = netns.create({})
    number = int(namespace.path.name)
    namespace.close()
    file = os.open(tmp_path, os.O_RDONLY)
    if file != number:
        os.dup2(file, number)
    namespace.close()
    os.fstat(number)
    for each in {file, number}:
        os.close(each)


def test_programs_enter_a_namespace_by_its_path() -> None:
    namespace = netns.create({"net.core.somaxconn": 123})
    try:
        shown = ["sysctl", "-n", "net.core.somaxconn"]
        entered = subprocess.run(
            [*namespace.entry, *shown], capture_output=True, text=True, check=True
        )
        assert entered.stdout == "123\n"
    finally:
        namespace.close()


def test_a_name_of_an_earlier_version_goes_that_another_program_has_mounted_over(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [*OWN_RUN, sys.executable, "-c", NAMED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    left, names, mounts = json.loads(done.stdout)
    assert left == []
    assert names == ["other"]
    assert set(mounts) == {"/run/netns", "/run/netns/other"}
