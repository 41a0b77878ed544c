"""Who could reach a trial's servers, by iproute2's word."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psutil

LISTENING = ("ss", "-H", "-l", "-n", "-t", "-u")


def sockets(*prefix: str) -> frozenset[str]:
    """Addresses and ports on which somebody listens, here or where `prefix` goes."""
    said = _said(*prefix, *LISTENING)
    return frozenset(line.split()[4] for line in said.splitlines())


def check_nothing_beyond(trial: str) -> None:
    """Assert that a running trial listens on its own network only, and that no way leads there."""
    assert [line for line in _said(*LISTENING, "-p").splitlines() if _is_of(trial, line)] == []
    enter = ("nsenter", f"--net={_network(trial)}")
    inside = {socket.rpartition(":")[0].partition("%")[0] for socket in sockets(*enter)}
    beyond = [each for each in inside if not ip_address(each.strip("[]")).is_private]
    assert beyond == []
    assert "0.0.0.0" not in inside
    links: list[dict[str, Any]] = json.loads(_said(*enter, "ip", "-j", "link"))
    assert [link["ifname"] for link in links if "link_netnsid" in link] == []
    assert json.loads(_said(*enter, "ip", "-j", "route", "show", "default")) == []


def _network(trial: str) -> Path:
    """The trial's network namespace, by one of its processes that are in it."""
    own = Path("/proc/self/ns/net").readlink()
    for pid in psutil.pids():
        network = Path(f"/proc/{pid}/ns/net")
        with suppress(OSError):
            if _is_in(trial, pid) and network.readlink() != own:
                return network
    raise AssertionError(f"no process of {trial} has a network of the trial's own")


def _is_of(trial: str, line: str) -> bool:
    """Whether a socket is a program's of the trial's."""
    return any(_is_in(trial, int(pid)) for pid in re.findall(r"pid=(\d+)", line))


def _is_in(trial: str, pid: int) -> bool:
    """Whether a process is the trial's, by its control groups or its ledger."""
    with suppress(OSError):
        files = (Path(f"/proc/{pid}/{name}") for name in ("cgroup", "environ"))
        return any(trial.encode() in file.read_bytes() for file in files)
    return False


def _said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
