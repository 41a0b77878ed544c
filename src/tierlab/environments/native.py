"""The native environment: bare processes on this host.

With privilege a trial has a network namespace, a control group for each domain, and servers that
run as an unprivileged user. Without, the servers are processes of the caller on the host's own
loopback; `probe` says what is missing then.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import psutil

from tierlab.environments import netns
from tierlab.environments.base import Capability, DomainSpec, Environment, Probe, refuse
from tierlab.environments.cgroup import Hierarchy
from tierlab.environments.cgroup_find import find_hierarchy
from tierlab.environments.files import make_folder
from tierlab.environments.launching import launch_agent
from tierlab.environments.ledger import Ledger
from tierlab.environments.native_domain import Ground, NativeDomain
from tierlab.environments.process import Process
from tierlab.environments.removal import GRACE, remove_all
from tierlab.environments.tcp import BEHAVIOURS, Tcp, known_sysctls, obstacle, set_syn_timeout
from tierlab.errors import UserError
from tierlab.machine import topology

SYSCTLS: Mapping[str, int] = {
    # A new namespace starts with the kernel's defaults, not with what the host was tuned to.
    "net.core.somaxconn": 4096,
    "net.ipv4.tcp_max_syn_backlog": 4096,
}
"""What is set in a trial's namespace unless the trial says otherwise."""

SERVER_USER = "nobody"
WORK_ROOT = Path("/var/tmp")
UNKNOWN = "another program"
CAP_SYS_ADMIN = 21


class Native(Environment):
    """Bare processes on this host, for one trial."""

    name: ClassVar[str] = "native"

    def __init__(
        self,
        ledger: Ledger,
        *,
        work_root: Path = WORK_ROOT,
        sysctls: Mapping[str, int] = SYSCTLS,
        tcp: Tcp = BEHAVIOURS["modern"],
    ) -> None:
        self.trial = ledger.trial
        self.work = work_root / f"tierlab-{ledger.trial}"
        self._ledger = ledger
        self._agents: Sequence[Path] = ()
        try:
            self._ground = self._prepare({**sysctls, **known_sysctls(tcp)})
            if tcp.syn_timeout_s is not None:
                self._agents = [self._wait_for_syns(tcp.syn_timeout_s)]
        except BaseException:
            self.destroy()
            raise

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; changes nothing."""
        cannot = {Capability.MIGRATE: "a bare process cannot move to another host"}
        root = os.geteuid() == 0
        if not root:
            cannot[Capability.NETWORK] = "a network namespace of its own needs root"
        else:
            missing = [name for name in ("nsenter", "unshare") if shutil.which(name) is None]
            if missing:
                cannot[Capability.NETWORK] = f"{missing[0]} is missing (package util-linux)"
            elif not _may(CAP_SYS_ADMIN):
                cannot[Capability.NETWORK] = "this root has no CAP_SYS_ADMIN (a container's?)"
            if shutil.which("setpriv") is None:
                cannot[Capability.UNPRIVILEGED] = "setpriv is missing (package util-linux)"
        shape = topology.read()
        groups = (
            Capability.ACCOUNTING,
            Capability.PIN,
            Capability.WEIGHT,
            Capability.MEMORY,
            Capability.DISK,
        )
        hierarchy = find_hierarchy() if root else "control groups need root"
        if isinstance(hierarchy, str):
            cannot |= dict.fromkeys(groups, hierarchy)
        else:
            cannot |= hierarchy.missing()
        retries = cannot.get(Capability.NETWORK) or obstacle(hierarchy)
        if retries is not None:
            cannot[Capability.RETRIES] = retries
        return Probe(
            cls.name,
            can=frozenset(Capability) - frozenset(cannot),
            cannot=cannot,
            pus=frozenset(shape.by_number),
            nodes=frozenset(shape.nodes),
            memory=psutil.virtual_memory().total,
        )

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        probed = self.probe()
        user = namespace = None
        if os.geteuid() == 0 and Capability.UNPRIVILEGED in probed.can:
            user = pwd.getpwnam(SERVER_USER)
        hierarchy = find_hierarchy() if Capability.ACCOUNTING in probed.can else None
        make_folder(self._ledger, self.work)
        if Capability.NETWORK in probed.can:
            namespace = netns.create(self._ledger, sysctls)
        return Ground(
            ledger=self._ledger,
            work=self.work,
            cannot=probed.cannot,
            namespace=namespace,
            hierarchy=hierarchy if isinstance(hierarchy, Hierarchy) else None,
            user=user,
        )

    def _wait_for_syns(self, seconds: int) -> Path:
        ground = self._ground
        if Capability.RETRIES in ground.cannot or ground.hierarchy is None:
            reason = ground.cannot[Capability.RETRIES]
            raise refuse("system.tcp", self.name, Capability.RETRIES, reason)
        return set_syn_timeout(ground.hierarchy, self._ledger, seconds)

    def create(self, spec: DomainSpec) -> NativeDomain:
        """Make a domain: a folder now, a control group when it starts."""
        return NativeDomain(self._ground, spec)

    def spawn(self, argv: Sequence[str], *, log: Path) -> Process:
        """Start an agent on the trial's network, with the caller's rights."""
        namespace = self._ground.namespace
        prefix = [] if namespace is None else namespace.entry
        return launch_agent(self._ledger, argv, log, prefix, self._agents)

    def connect(self, address: str, port: int, *, timeout: float) -> socket.socket:
        """Open a TCP connection on the trial's network."""
        link = self._socket()
        try:
            link.settimeout(timeout)
            link.connect((address, port))
        except OSError:
            link.close()
            raise
        return link

    def listener(self, address: str, port: int) -> str | None:
        """Try to bind there; if that fails, look who listens."""
        with self._socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address, port))
            except OSError:
                return _holder(address, port) if self._ground.namespace is None else UNKNOWN
        return None

    @contextmanager
    def scratch(self, folder: Path) -> Iterator[Path]:
        """Make a folder that the ledger lists until it is gone."""
        entry = make_folder(self._ledger, folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
            self._ledger.strike(entry)

    def destroy(self) -> None:
        """Remove all that the ledger lists; what stays behind is one sentence."""
        left = []
        for outcome in remove_all(self._ledger.account(), GRACE):
            if outcome.done:
                self._ledger.strike(outcome.entry)
            else:
                left.append(outcome.note or "")
        self._ledger.close()
        if left:
            raise UserError(f"trial {self.trial}: {'; '.join(left)}; 'tierlab clean' tries again.")

    def _socket(self) -> socket.socket:
        namespace = self._ground.namespace
        if namespace is None:
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        return namespace.socket()


def _may(capability: int) -> bool:
    """Whether this process has a capability, by its number in capability.h."""
    status = Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> capability & 1)


def _holder(address: str, port: int) -> str:
    """Name the program that listens on a port of the host, if this user may know."""
    for connection in psutil.net_connections("tcp"):
        where = connection.laddr
        if connection.status != psutil.CONN_LISTEN or not where or connection.pid is None:
            continue
        if where.port == port and where.ip in (address, "0.0.0.0", "::"):
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return UNKNOWN
