"""Who could reach a trial's servers, by iproute2's word."""

from __future__ import annotations

import json
import subprocess
from ipaddress import ip_address
from typing import Any


def sockets(*prefix: str) -> frozenset[str]:
    """Addresses and ports on which somebody listens, here or where `prefix` goes."""
    said = _said(*prefix, "ss", "-H", "-l", "-n", "-t", "-u")
    return frozenset(line.split()[4] for line in said.splitlines())


def check_nothing_beyond(trial: str, before: frozenset[str]) -> None:
    """Assert that a running trial listens on its own network only, and that no way leads there.

    `before` is what the host listened on before it.
    """
    assert sockets() - before == frozenset()
    enter = ("nsenter", f"--net=/run/netns/tierlab-{trial}")
    inside = {socket.rpartition(":")[0].partition("%")[0] for socket in sockets(*enter)}
    beyond = [each for each in inside if not ip_address(each.strip("[]")).is_private]
    assert beyond == []
    assert "0.0.0.0" not in inside
    links: list[dict[str, Any]] = json.loads(_said(*enter, "ip", "-j", "link"))
    assert [link["ifname"] for link in links if "link_netnsid" in link] == []
    assert json.loads(_said(*enter, "ip", "-j", "route", "show", "default")) == []


def _said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout
