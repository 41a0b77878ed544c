"""What the environments on this host's own kernel share: a trial's network, agents and removal.

With privilege a trial has a network namespace, a control group for each domain, and servers that
run as an unprivileged user. Without, all is the caller's own, on the host's loopback.
"""

from __future__ import annotations

import errno
import os
import pwd
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.capability import Capability
from tierlab.environments.cgroups.cgroup import Hierarchy
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.domain import DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.files import make_folder, remove_tree
from tierlab.environments.launching import launch_agent
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.bare_neighbour import BareNeighbour
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.neighbour import Neighbour, TimedNeighbour
from tierlab.environments.network import netns
from tierlab.environments.network.tcp import BEHAVIOURS, Tcp, known_sysctls, set_syn_timeout
from tierlab.environments.placement import Placement
from tierlab.environments.process import Process
from tierlab.environments.refusal import refuse
from tierlab.environments.removal import remove_trial
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

SYSCTLS: Mapping[str, int] = {
    # A new namespace starts with the kernel's defaults, not with what the host was tuned to.
    "net.core.somaxconn": 4096,
    "net.ipv4.tcp_max_syn_backlog": 4096,
}
"""What is set in a trial's namespace unless the trial says otherwise."""

OF_NAMESPACE: Mapping[str, int] = {
    # As container engines have it: servers that are not root's listen on 80 too.
    "net.ipv4.ip_unprivileged_port_start": 0,
}
"""What a trial's namespace is given besides; kernels of domains' own are not."""

SERVER_USER = "nobody"
WORK_ROOT = Path("/var/tmp")
UNKNOWN = "another program"
UNPRIVILEGED_PORT = 1024
"""The first that everybody may listen at, unless the machine says otherwise (ip(7))."""


class HostEnvironment(Environment):
    """An environment whose domains are groups of this host's processes, for one trial."""

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
        self._namespace: netns.HeldNamespace | None = None
        try:
            self._ground = self._prepare({**sysctls, **known_sysctls(tcp)})
            if tcp.syn_timeout_s is not None:
                self._agents = [self._wait_for_syns(tcp.syn_timeout_s)]
        except BaseException:
            self.destroy()
            raise

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        probed = self.probe()
        user = None
        if os.geteuid() == 0 and Capability.UNPRIVILEGED in probed.can:
            user = pwd.getpwnam(SERVER_USER)
        hierarchy = find_hierarchy() if Capability.ACCOUNTING in probed.can else None
        make_folder(self._ledger, self.work)
        if Capability.NETWORK in probed.can:
            self._namespace = netns.create({**OF_NAMESPACE, **sysctls})
        return Ground(
            environment=self.name,
            ledger=self._ledger,
            work=self.work,
            cannot=probed.cannot,
            namespace=self._namespace,
            hierarchy=hierarchy if isinstance(hierarchy, Hierarchy) else None,
            user=user,
        )

    def _wait_for_syns(self, seconds: int) -> Path:
        ground = self._ground
        if Capability.RETRIES in ground.cannot or ground.hierarchy is None:
            reason = ground.cannot[Capability.RETRIES]
            raise refuse("system.tcp", self.name, Capability.RETRIES, reason)
        return set_syn_timeout(ground.hierarchy, self._ledger, seconds)

    def spawn(self, argv: Sequence[str], *, log: Path) -> Process:
        """Start an agent on the trial's network, with the caller's rights."""
        namespace = self._ground.namespace
        prefix = [] if namespace is None else namespace.entry
        return launch_agent(self._ledger, argv, log, prefix, self._agents)

    @property
    def has_own_network(self) -> bool:
        """Say whether it has a namespace."""
        return self._ground.namespace is not None

    def refuse_calls_out(self) -> None:
        """Take all addresses for the namespace's own."""
        namespace = self._ground.namespace
        if namespace is not None and self.addresses == LOOPBACK:
            namespace.take_all_addresses()

    def create_neighbour(self, name: str, seats: Seats) -> Neighbour:
        """Make one of bare processes, or of a container's."""
        placement = Placement(pus=seats.pus, weight=seats.weight)
        return BareNeighbour(self.create_here(DomainSpec(name, placement)), seats)

    def create_timed_neighbour(self, name: str, seats: Seats) -> TimedNeighbour:  # noqa: ARG002 - refused
        """Refused: of time that a process of this host's has no server's kernel is told."""
        wanted = Capability.STEAL
        raise refuse(name, self.name, wanted, self._ground.cannot[wanted])

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
        """Try to bind there; if it is taken, look who listens."""
        with self._socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((address, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise _refused(address, port, error) from error
                return _holder(address, port) if self._ground.namespace is None else UNKNOWN
        return None

    @contextmanager
    def scratch(self, folder: Path) -> Iterator[Path]:
        """Make a folder that the ledger lists until it is gone."""
        entry = make_folder(self._ledger, folder)
        try:
            yield folder
        finally:
            remove_tree(folder)
            self._ledger.strike(entry)

    def destroy(self) -> None:
        """Remove all that the ledger lists; what stays behind is one sentence."""
        try:
            remove_trial(self._ledger)
        finally:
            # Last: programs are entered into it for the removal of others.
            if self._namespace is not None:
                self._namespace.close()

    def _socket(self) -> socket.socket:
        namespace = self._ground.namespace
        if namespace is None:
            return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        return namespace.socket()


def _holder(address: str, port: int) -> str:
    """Name the program that listens on a port of the host, if this user may know."""
    for connection in psutil.net_connections("tcp"):
        where = connection.laddr
        if connection.status != psutil.CONN_LISTEN or not where or connection.pid is None:
            continue
        if where.port == port and where.ip in (address, "0.0.0.0", "::"):
            with suppress(psutil.NoSuchProcess):  # it ends at the moment
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return UNKNOWN


def _refused(address: str, port: int, error: OSError) -> UserError:
    """Why nobody can listen there, who holds it or not."""
    if error.errno == errno.EACCES:
        return UserError(f"port {port} needs root; choose one from {UNPRIVILEGED_PORT} on.")
    if error.errno == errno.EADDRNOTAVAIL:
        return UserError(
            f"{address} is no address of this network; 'ip address' lists those that it has."
        )
    return UserError(f"{address}:{port} cannot be listened at ({error.strerror}).")
