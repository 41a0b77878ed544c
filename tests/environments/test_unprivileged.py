"""The native environment for a user without rights, in a process that has none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, os, sys, time
from pathlib import Path
from tierlab.environments.capability import Capability
from tierlab.environments.domain import DomainSpec
from tierlab.environments.placement import Placement
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.errors import UserError

root = Path(sys.argv[1])
os.environ["XDG_STATE_HOME"] = str(root)
native = Native(Ledger("plain"), work_root=root)
domain = native.create(DomainSpec("web.1"))
domain.start()
server = domain.spawn(["socat", "TCP-LISTEN:18081,bind=127.0.9.1,fork", "EXEC:cat"], log="log")
while True:
    try:
        link = native.connect("127.0.9.1", 18081, timeout=5)
        break
    except ConnectionRefusedError:
        time.sleep(0.02)
with link:
    link.sendall(b"echo")
    echoed = link.recv(4).decode()
try:
    domain.place(Placement(weight=10))
    refusal = None
except UserError as error:
    refusal = str(error)
found = {
    "cannot": native.probe().cannot,
    "uid": domain.run(["id", "-u"], timeout=10).stdout.strip(),
    "holder": native.listener("127.0.9.1", 18081),
    "pid": server.pid,
    "echoed": echoed,
    "refusal": refusal,
    "groups": [str(path) for path in domain.cgroups().values()],
    "members": server.pid in domain.pids(),
    "pus": sorted(domain.read_back().pus or ()),
    "has": sorted(os.sched_getaffinity(server.pid)),
}
native.destroy()
found["left"] = [str(path) for path in root.rglob("*")]
found["ended"] = server.poll() is not None
print(json.dumps(found))
"""

PU = min(os.sched_getaffinity(0))
"""All that it may run on: a batch system leaves its jobs few of a machine's."""


@pytest.fixture
def run_without_rights() -> dict[str, object]:
    command = [sys.executable, "-c", SCRIPT]
    folder = Path("/var/tmp") / f"plain-{os.getpid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", *command]
    try:
        done = subprocess.run(
            ["taskset", "--cpu-list", str(PU), *command, str(folder)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd="/",
        )
    finally:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()
    if "Permission denied" in done.stderr and "python" in done.stderr:
        pytest.skip("this source tree cannot be read by another user")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_user_without_rights_gets_servers_and_reasons(
    run_without_rights: dict[str, object],
) -> None:
    found = run_without_rights
    assert set(found["cannot"]) == {  # type: ignore[call-overload]
        "network",
        "accounting",
        "pin",
        "weight",
        "memory",
        "disk",
        "migrate",
        "retries",
        "vcpus",
        "move-memory",
        "simulated-caches",
        "steal",
    }
    assert found["uid"] == str(65534 if os.geteuid() == 0 else os.geteuid())
    assert found["echoed"] == "echo"
    assert found["holder"] == f"socat (process {found['pid']})"
    assert str(found["refusal"]).endswith(
        "the native environment cannot weight the CPU here, because control groups need root;"
        " do without it, or see in 'tierlab doctor' what this machine lacks."
    )
    assert found["groups"] == []
    assert found["members"] is True
    assert found["pus"] == found["has"] == [PU]
    assert found["ended"] is True
    assert found["left"] == []


@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to drop a capability")
def test_a_root_without_the_capability_gets_no_network_and_is_told_so() -> None:
    script = "from tierlab.environments.native.native import Native; print(Native.probe().cannot)"
    command = ["setpriv", "--bounding-set=-sys_admin", "--", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "CAP_SYS_ADMIN" in done.stdout
    with_it = subprocess.run(command[3:], capture_output=True, text=True, check=True)
    assert "CAP_SYS_ADMIN" not in with_it.stdout
