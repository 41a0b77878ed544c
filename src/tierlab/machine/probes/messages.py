"""Can messages between the tiers be captured?"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tierlab.machine.check import Check, Verdict

GROUP = "messages"
ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_RX_RING = 5
PACKET_VERSION = 10
TPACKET_V3 = 2
SECONDS = 1.0
AGENT_SECONDS = 10.0
LOST_THREADS = (
    "exact links, what requests waited for, and all at UNIX sockets: links are inferred instead"
)
LOST = "visits: queue length and time at every tier, who waited for whom"


def checks(agent: str | None) -> Iterator[Check]:
    """Packet capture and its ring, by this process or else by the agent, which may have the right
    to it alone.
    """
    found = [capture(agent), ring(agent)]
    missing = any(check.verdict is Verdict.MISSING for check in found)
    if missing and agent is not None and _captures(agent):
        seen = f"{agent} has the right to it"
        yield from (Check(GROUP, check.name, Verdict.WORKS, seen) for check in found)
    else:
        yield from found
    if agent is not None:
        yield system_calls(agent)


def system_calls(agent: str) -> Check:
    """Have the agent load its tracer of system calls for a moment."""
    plan = {"subjects": [{"name": "doctor"}], "servers": [], "duration_ns": 1}
    error = _verb_failure(agent, "trace", plan)
    if error is None:
        return Check(GROUP, "system calls", Verdict.WORKS, "loaded the tracer")
    remedy = "run as root, on a kernel with /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)"
    return Check(GROUP, "system calls", Verdict.MISSING, error, LOST_THREADS, remedy)


def capture(agent: str | None = None) -> Check:
    """Send a datagram over loopback and see it on a packet socket."""
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as packets:
            packets.bind(("lo", ETH_P_ALL))
            seen = _sees_a_datagram(packets)
    except OSError as error:
        return _missing("packet capture", f"no packet socket on lo: {error.strerror}", agent)
    if not seen:
        return _missing("packet capture", "a datagram sent over lo was not seen on it", agent)
    return Check(GROUP, "packet capture", Verdict.WORKS, "saw its own datagram on lo")


def _sees_a_datagram(packets: socket.socket) -> bool:
    mark = f"tierlab doctor {time.monotonic_ns()}".encode()
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        sender.sendto(mark, receiver.getsockname())
        deadline = time.monotonic() + SECONDS
        while (left := deadline - time.monotonic()) > 0:
            packets.settimeout(left)
            try:
                if packets.recv(65_535).endswith(mark):
                    return True
            except TimeoutError:
                return False
    return False


def ring(agent: str | None = None) -> Check:
    """A TPACKET_V3 ring of 4 MiB, as capture uses it (packet_mmap in the kernel's documents)."""
    blocks, block, frame, timeout_ms = 4, 1 << 20, 2048, 10
    request = struct.pack("7I", block, blocks, frame, blocks * block // frame, timeout_ms, 0, 0)
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as packets:
            packets.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V3)
            packets.setsockopt(SOL_PACKET, PACKET_RX_RING, request)
    except OSError as error:
        return _missing("capture ring", f"no TPACKET_V3 ring: {error.strerror}", agent)
    return Check(GROUP, "capture ring", Verdict.WORKS, "TPACKET_V3, 4 MiB")


def _captures(agent: str) -> bool:
    """Whether the agent opens its ring on lo: it captures for a moment."""
    server = {"name": "none", "address": "127.0.0.1", "port": 9, "protocol": "tcp"}
    plan = {"interface": "lo", "servers": [server], "duration_ns": 1}
    return _verb_failure(agent, "capture", plan) is None


def _verb_failure(agent: str, verb: str, plan: dict[str, Any]) -> str | None:
    """Run a verb of the agent; return what it says if it fails."""
    with tempfile.TemporaryDirectory(prefix="tierlab-doctor-") as folder:
        file = Path(folder, "plan.json")
        file.write_text(json.dumps(plan), encoding="utf-8")
        command = [agent, verb, "--plan", str(file), "--out", folder]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=AGENT_SECONDS, check=False, text=True
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if done.returncode == 0:
        return None
    last = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    return last[0].removeprefix("tierlab-agent: ")


def _missing(name: str, seen: str, agent: str | None) -> Check:
    remedy = f"run as root, or: sudo setcap cap_net_raw+ep {agent or 'tierlab-agent'}"
    return Check(GROUP, name, Verdict.MISSING, seen, LOST, remedy)
