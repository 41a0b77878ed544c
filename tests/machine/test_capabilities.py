"""The doctor's checks against independent sources, as root and without."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import control_groups
from tierlab.cli import run_needs
from tierlab.machine.capabilities import check_all
from tierlab.machine.check import Check, Verdict
from tierlab.machine.control_groups import Hierarchy, occupied, with_controller
from tierlab.machine.probes import hypervisor, isolation, messages, profiling, room, samples
from tierlab.machine.probes.programs import checks as program_checks
from tierlab.machine.programs import Program, look_up

AS_ROOT = os.geteuid() == 0
NOBODY = 65_534
ROOM = {"runs": (Path("runs"), "")}


@pytest.fixture(scope="module")
def checks() -> dict[str, Check]:
    return {check.name: check for check in check_all([look_up("sh", "dash")], ROOM)}


def succeeds(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_every_lack_says_what_is_lost(checks: dict[str, Check]) -> None:
    for check in checks.values():
        assert check.seen
        if check.verdict is Verdict.MISSING:
            assert check.lost, check.name


def test_network_namespaces_as_unshare_has_them() -> None:
    works = isolation.network_namespace().verdict is Verdict.WORKS

    assert works == succeeds("unshare", "--net", "true")


def test_packet_sockets_as_python_has_them() -> None:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
        allowed = True
    except PermissionError:
        allowed = False

    assert (messages.capture().verdict is Verdict.WORKS) == allowed
    assert (messages.ring().verdict is Verdict.WORKS) == allowed


@pytest.mark.parametrize(("status", "verdict"), [(0, Verdict.WORKS), (1, Verdict.MISSING)])
def test_messages_are_captured_where_the_agent_alone_may(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, verdict: Verdict
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(socket, "socket", refuse)
    agent = tmp_path / "agent"
    agent.write_text(f'#!/bin/sh\ntest "$1" = capture && test -s "$3" && exit {status}\n')
    agent.chmod(0o755)

    *found, traced = messages.checks(str(agent))

    assert [check.verdict for check in found] == [verdict, verdict]
    assert (traced.name, traced.verdict) == ("system calls", Verdict.MISSING)
    if status:
        remedy = f"run as root, or: sudo setcap cap_net_raw+ep {agent}"
        assert {check.remedy for check in found} == {remedy}


def test_tracepoints_as_mount_has_them() -> None:
    script = "mount -t tracefs none /sys/kernel/tracing && test -e /sys/kernel/tracing/events/sched"
    mounts = succeeds("unshare", "--mount", "sh", "-c", script)
    mounted = os.access("/sys/kernel/tracing/events/sched/enable", os.R_OK)

    assert (profiling.tracepoints().verdict is Verdict.WORKS) == (mounts or mounted)


@pytest.mark.skipif(shutil.which("bpftrace") is None, reason="bpftrace is not installed")
@pytest.mark.skipif(not AS_ROOT, reason="bpftrace needs root")
def test_ebpf_as_bpftrace_has_it() -> None:
    runs = succeeds("bpftrace", "-e", "BEGIN { exit(); }")

    assert profiling.ebpf().verdict is Verdict.WORKS or not runs


def test_pressure_as_the_kernel_has_it() -> None:
    assert (samples.pressure().verdict is Verdict.WORKS) == Path("/proc/pressure/cpu").exists()


@pytest.mark.skipif(shutil.which("lsblk") is None, reason="lsblk is not installed")
def test_disks_as_lsblk_lists_them() -> None:
    command = ["lsblk", "--nodeps", "--noheadings", "--exclude", "1,7", "--output", "NAME"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()

    found = samples.disks()

    assert (found.verdict is Verdict.WORKS) == bool(listed)
    assert not listed or set(found.seen.split(", ")) == set(listed)


def test_limits_as_the_shell_has_them(checks: dict[str, Check]) -> None:
    hard = subprocess.run(
        ["sh", "-c", "ulimit -Hn"], capture_output=True, text=True, check=True
    ).stdout.strip()

    assert (
        checks["open files"]
        .seen.replace(",", "")
        .startswith("no limit" if hard == "unlimited" else hard)
    )


def test_a_low_limit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (512, 512))

    check = room.descriptors()

    assert check.stops_the_demo
    assert (check.seen, check.lost) == ("512 at most", "more than about 256 connections at once")


def test_free_disk_as_df_has_it(tmp_path: Path) -> None:
    def available() -> int:
        df = ["df", "--block-size=1M", "--output=avail", str(tmp_path)]
        return int(subprocess.run(df, capture_output=True, text=True, check=True).stdout.split()[1])

    before = available()
    seen = room.disk("runs", tmp_path / "not" / "yet", "").seen
    after = available()

    assert seen.endswith(f"free at {tmp_path}")
    # Others write and remove meanwhile.
    told = int(seen.split()[0].replace(",", ""))
    assert min(before, after) - 200 <= told <= max(before, after) + 200


def test_every_disk_that_a_run_fills_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    usage = type(shutil.disk_usage("/"))
    full = "/var/tmp"

    def free(place: Path) -> object:
        return usage(2 << 40, 0, 0 if str(place) == full else 1 << 40)

    monkeypatch.setattr(shutil, "disk_usage", free)
    found = {c.name: c for c in room.checks(run_needs.folders(tmp_path / "runs"))}

    assert [name for name, check in found.items() if check.stops_the_demo] == ["disk for servers"]
    assert found["disk for seed data"].seen.endswith(f"free at {tmp_path}")


def test_a_program_that_is_missing_stops_the_demo() -> None:
    (check,) = program_checks([Program("haproxy", "haproxy", None, None, None)])

    assert check.stops_the_demo
    assert check.remedy == "apt-get install --no-install-recommends haproxy"


def test_kvm_is_not_there_without_its_file() -> None:
    (check,) = hypervisor.checks()

    assert Path("/dev/kvm").exists() or check.verdict is Verdict.MISSING


@pytest.mark.alone
def test_nothing_is_left_behind() -> None:
    """Others mount things meanwhile."""
    before, children = _traces(), set(psutil.Process().children())

    for _ in check_all([], ROOM):
        pass

    assert _traces() == before
    assert set(psutil.Process().children()) <= children


@pytest.mark.skipif(not AS_ROOT, reason="control groups need root")
def test_the_group_of_a_doctor_that_was_killed_is_removed_by_the_next() -> None:
    hierarchy = with_controller("cpu")
    if hierarchy is None:
        pytest.skip("there is no cpu controller")
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = hierarchy.root / f"tierlab-doctor-{ended.pid}"
    left.mkdir()

    isolation.control_groups()

    assert not left.exists()


@pytest.mark.skipif(not AS_ROOT, reason="control groups need root")
def test_no_group_is_left_when_a_try_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(isolation, "_try_limit", broken)
    before = _traces()

    with pytest.raises(KeyboardInterrupt):
        isolation.control_groups()

    assert _traces() == before


def test_a_containers_own_group_is_tried_as_a_run_would_use_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A group could be made there, and the doctor said that all works; no run did."""
    for name, text in {"type": "domain\n", "procs": "1\n", "subtree_control": ""}.items():
        (tmp_path / f"cgroup.{name}").write_text(text)
    unified = Hierarchy(2, tmp_path, ("cpuset", "cpu", "memory"))
    monkeypatch.setattr(isolation, "with_controller", lambda _: unified)

    found = isolation.control_groups()

    assert found.verdict is Verdict.MISSING
    assert found.seen == f"cpuset, cpu, memory: {occupied(tmp_path)}"
    assert not list(tmp_path.glob("tierlab-*"))

    (tmp_path / "cgroup.procs").write_text("")

    assert isolation.control_groups().verdict is Verdict.WORKS


def test_control_groups_that_are_mounted_read_only_are_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As in an ordinary container, where the kernel refuses to remove a group that is not there."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    mounted = Hierarchy(1, tmp_path, tuple(isolation.LIMITS))
    monkeypatch.setattr(isolation, "with_controller", lambda _: mounted)
    for change in ("mkdir", "rmdir"):
        monkeypatch.setattr(Path, change, refused)

    found = isolation.control_groups()

    assert found.verdict is Verdict.MISSING
    assert found.seen.endswith("version 1: no group can be made: Read-only file system")


def _traces() -> tuple[set[str], set[str], list[str]]:
    """Our control groups, our open files, and what is mounted but for others' trials."""
    ours = f"tierlab-doctor-{os.getpid()}"
    groups = {folder for folder, inside, _ in control_groups() if ours in inside}
    files = {str(f.readlink()) for f in Path("/proc/self/fd").iterdir() if f.is_symlink()}
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return (
        groups,
        {f for f in files if "/proc/" not in f},
        [line for line in mounts if "tierlab" not in line],
    )


SCRIPT = """
import json, sys
from tierlab.machine.capabilities import check_all
print(json.dumps({check.name: check.verdict for check in check_all([], {})}))
"""


@pytest.mark.skipif(not AS_ROOT, reason="only root can become somebody without rights")
def test_without_rights_it_says_what_is_lost() -> None:
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    done = subprocess.run(
        [*drop, sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    verdicts = json.loads(done.stdout)

    assert {
        name: verdicts[name]
        for name in ("privilege", "network namespace", "packet capture", "control groups", "eBPF")
    } == dict.fromkeys(
        ("privilege", "network namespace", "packet capture", "control groups", "eBPF"), "missing"
    )
    assert verdicts["thread times"] == "works"


def test_control_groups_that_cannot_be_read_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who looks at a group's processes may be refused where a group could be made."""

    def refused(_root: Path) -> str | None:
        raise PermissionError(errno.EACCES, "Permission denied")

    found = Hierarchy(2, tmp_path, tuple(isolation.LIMITS))
    monkeypatch.setattr(isolation, "with_controller", lambda _controller: found)
    monkeypatch.setattr(isolation, "occupied", refused)
    check = isolation.control_groups()
    assert check.verdict is Verdict.MISSING
    assert "cannot be read: Permission denied" in check.seen
    assert not list(tmp_path.iterdir())
