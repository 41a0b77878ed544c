"""The vSphere environment: each server in a virtual machine that a vCenter keeps on its hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pyVmomi import vim

from tierlab.environments.addresses import Addresses
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.domain import DomainSpec
from tierlab.environments.files import make_folder
from tierlab.environments.guests.bridged import reached
from tierlab.environments.native.host import UNKNOWN, HostEnvironment
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.refusal import refuse
from tierlab.environments.vsphere import settings as vsphere_settings
from tierlab.environments.vsphere.domain import VsphereDomain
from tierlab.environments.vsphere.session import Session, answered, session
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

NEVER = {
    Capability.NETWORK: "virtual machines are on a port group of the vCenter's",
    Capability.DISK: "vSphere limits what a virtual disk reads and writes together, and no bytes",
    Capability.RETRIES: "each virtual machine's kernel has its own TCP",
    Capability.PROCESSES: "each server runs on a kernel of its own",
    Capability.MESSAGES: "they pass no interface of this machine's",
    Capability.NEIGHBOURS: "others may have virtual machines on the hosts",
    Capability.STEAL: "others may have virtual machines on the hosts",
    Capability.SIMULATED_CACHES: "its servers' processors are not emulated",
    Capability.MOVE_MEMORY: "ESX reads a virtual machine's NUMA nodes when it is powered on",
}
ONE_HOST = "the settings name one host"


class Vsphere(HostEnvironment):
    """Virtual machines of a vCenter's, for one trial."""

    name: ClassVar[str] = "vsphere"
    _session: Session | None = None

    @classmethod
    def probe(cls) -> Probe:
        """Ask the vCenter of the settings; `UserError` if none is named or it does not serve."""
        try:
            with session(vsphere_settings.load()) as opened:
                return probe_at(opened)
        except UserError as error:
            raise _refusal(str(error).rstrip(".")) from error

    @classmethod
    def planned_on(cls) -> str:
        """The smallest host of the settings, by the vCenter's word."""
        return cls.probe().machine

    @property
    def addresses(self) -> Addresses:
        """On the port group, as the settings say."""
        return self._opened.settings.addresses

    def create(self, spec: DomainSpec) -> VsphereDomain:
        """Make a domain: a virtual machine when it boots."""
        return VsphereDomain(self._ground, spec, self._opened, self._pus)

    def create_neighbour(self, name: str, seats: Seats) -> Neighbour:  # noqa: ARG002 - refused
        """Refused: see `probe`."""
        wanted = Capability.NEIGHBOURS
        raise refuse(name, self.name, wanted, NEVER[wanted])

    def listener(self, address: str, port: int) -> str | None:
        """Try to connect: another machine's ports cannot be bound from here."""
        return UNKNOWN if reached(self, address, port) else None

    def destroy(self) -> None:
        """Remove all that the ledger lists, and log out."""
        try:
            super().destroy()
        finally:
            if self._session is not None:
                self._session.close()

    @property
    def _opened(self) -> Session:
        assert self._session is not None  # `_prepare` logs in
        return self._session

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:  # noqa: ARG002 - the template's own
        self._session = Session(vsphere_settings.load())
        probed = probe_at(self._session)
        self._pus = probed.pus
        make_folder(self._ledger, self.work)
        return Ground(
            environment=self.name, ledger=self._ledger, work=self.work, cannot=probed.cannot
        )


def probe_at(opened: Session) -> Probe:
    """What the settings' hosts have and allow."""
    settings = opened.settings
    with answered(f"vCenter {settings.address}"):
        opened.find(vim.VirtualMachine, settings.template)
        opened.find(vim.ResourcePool, settings.pool)
        hosts = [opened.find(vim.HostSystem, name).hardware for name in settings.hosts]
    cannot = dict(NEVER)
    if len(hosts) == 1:
        cannot[Capability.MIGRATE] = ONE_HOST
    least = min(hosts, key=lambda host: host.cpuInfo.numCpuThreads)
    return Probe(
        environment=Vsphere.name,
        can=frozenset(Capability) - frozenset(cannot),
        cannot=cannot,
        pus=frozenset(range(least.cpuInfo.numCpuThreads)),
        memory=min(host.memorySize for host in hosts),
        nodes=frozenset(range(min(_nodes(host) for host in hosts))),
        machine=_described(least),
    )


def _nodes(hardware: vim.host.HardwareInfo) -> int:
    numa = hardware.numaInfo
    return 1 if numa is None else max(1, numa.numNodes)


def _described(hardware: vim.host.HardwareInfo) -> str:
    """A host's shape, for hwloc; ESX numbers its PUs package by package."""
    cpu, nodes = hardware.cpuInfo, _nodes(hardware)
    packages = cpu.numCpuPackages
    above, below = f"pack:{packages}", f"numa:{nodes // packages}"
    if nodes < packages:
        above, below = f"numa:{nodes}", f"pack:{packages // nodes}"
    cores, threads = cpu.numCpuCores // max(nodes, packages), cpu.numCpuThreads // cpu.numCpuCores
    return f"{above} {below} core:{cores} pu:{threads}"


def _refusal(reason: str) -> UserError:
    return UserError(
        f"system.environment: vsphere cannot be used here, because {reason};"
        " mend that, or use environment 'native'."
    )
