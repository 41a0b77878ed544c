"""A virtual machine of a vCenter's: cloned from the template, placed, moved, read back, removed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from pyVmomi import vim

from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.environments.removers import VIRTUAL_MACHINE
from tierlab.environments.vsphere.session import Session, answered, finish
from tierlab.errors import UserError
from tierlab.machine.kernel_files import parse_list
from tierlab.machine.mapping import HOSTS

MIB = 1 << 20
MS_NS = 1_000_000
OWNER = "tierlab.ledger"
"""Key of its extra configuration that tells whose it is: the token of a ledger."""
NODES = "numa.nodeAffinity"
"""Key of the NUMA nodes that its memory is on; ESX reads it when the machine is powered on."""
SAMPLE_SECONDS = 20
"""Of the host's real-time figures: it keeps one sample for so long a time."""
UNLIMITED = UNKNOWN = -1


class Machine:
    """One virtual machine. `make` has it made; it is then off."""

    def __init__(self, session: Session, ledger: Ledger, subject: str) -> None:
        self.subject = subject
        self.name = f"tierlab-{ledger.trial}-{subject}"
        self.session = session
        self._ledger = ledger
        self._vm: Any = None
        self._used_ns: int | None = None
        self._sampled: datetime | None = None
        """How far its CPU time is summed up, by the vCenter's clock."""

    @property
    def vm(self) -> Any:
        """The vCenter's object."""
        if self._vm is None:
            raise UserError(f"{self.subject}: a domain can be placed only after its start.")
        return self._vm

    def make(self, vcpus: int, memory: int, nodes: frozenset[int] | None) -> None:
        """Clone the template, in the ledger first; memory in bytes."""
        session, settings = self.session, self.session.settings
        with answered(self.subject):
            template = session.find(vim.VirtualMachine, settings.template)
            location = vim.vm.RelocateSpec(
                pool=session.find(vim.ResourcePool, settings.pool), host=self._host_called(HOSTS[0])
            )
            spec = vim.vm.CloneSpec(location=location, powerOn=False, template=False)
            what = {"name": self.name, "address": settings.address, "settings": str(settings.file)}
            entry = self._ledger.add(VIRTUAL_MACHINE, **what)
            task = template.CloneVM_Task(folder=template.parent, name=self.name, spec=spec)
            self._ledger.amend(entry, task=task._moId)
        self._vm = finish(task, self.subject)
        extra = {**settings.extra, OWNER: self._ledger.token}
        if nodes is not None:
            extra[NODES] = _listed(nodes)
        config = vim.vm.ConfigSpec(
            numCPUs=vcpus, memoryMB=memory // MIB, extraConfig=_options(extra)
        )
        self.reconfigure(config)

    def power_on(self) -> None:
        """Start it; it boots meanwhile."""
        with answered(self.subject):
            self._sampled = self.session.time()
            task = self.vm.PowerOnVM_Task()
        finish(task, self.subject)

    def reconfigure(self, config: vim.vm.ConfigSpec) -> None:
        """Change its configuration."""
        with answered(self.subject):
            task = self.vm.ReconfigVM_Task(config)
        finish(task, self.subject)

    def pin(self, pus: frozenset[int]) -> None:
        """Let its vCPUs run on these PUs only; on all of them if there are none."""
        affinity = vim.vm.AffinityInfo(affinitySet=sorted(pus))
        self.reconfigure(vim.vm.ConfigSpec(cpuAffinity=affinity))

    def set_weight(self, weight: int) -> None:
        """Set its shares of contended PUs."""
        shares = vim.SharesInfo(level=vim.SharesInfo.Level.custom, shares=weight)
        self.reconfigure(vim.vm.ConfigSpec(cpuAllocation=vim.ResourceAllocationInfo(shares=shares)))

    def set_memory(self, limit: int) -> None:
        """Leave it so many bytes of its own of the host's memory."""
        most = self.vm.config.hardware.memoryMB * MIB
        if limit > most or limit % MIB:
            raise UserError(
                f"{self.subject}: a virtual machine's memory is limited in whole MiB, and to no"
                f" more than the {most // MIB} MiB that it was made with; ask for the most in"
                " `memory`, and take from that."
            )
        allocation = vim.ResourceAllocationInfo(limit=limit // MIB)
        self.reconfigure(vim.vm.ConfigSpec(memoryAllocation=allocation))

    def move(self, host: str) -> None:
        """Have it go on at another host (vMotion); what pins it is taken off for the time."""
        pus = self.placement().pus
        if pus:
            self.pin(frozenset())  # to vSphere a machine that is pinned cannot move
        with answered(self.subject):
            task = self.vm.RelocateVM_Task(vim.vm.RelocateSpec(host=self._host_called(host)))
        finish(task, self.subject)
        if pus:
            self.pin(pus)

    def placement(self) -> Placement:
        """How it is placed, by the vCenter's word."""
        with answered(self.subject):
            config, host = self.vm.config, self.vm.runtime.host.name
        pinned = config.cpuAffinity.affinitySet if config.cpuAffinity is not None else None
        limit, shares = config.memoryAllocation.limit, config.cpuAllocation.shares
        most = config.hardware.memoryMB * MIB
        nodes = {option.key: option.value for option in config.extraConfig}.get(NODES)
        hosts = dict(zip(self.session.settings.hosts, HOSTS, strict=False))
        return Placement(
            pus=frozenset(pinned) if pinned else None,
            weight=shares.shares if shares is not None else None,
            memory=most if limit in (None, UNLIMITED) else min(most, limit * MIB),
            nodes=None if nodes is None else frozenset(parse_list(nodes)),
            host=hosts.get(host, host),
        )

    def cpu_ns(self) -> int | None:
        """CPU time since it was powered on, summed over the host's samples; None before the first.

        The host keeps an hour of samples: what is older than that when this is called is lost.
        """
        manager = self.session.content.perfManager
        with answered(self.subject):
            counter = _counter(manager, "cpu", "used", "summation")
            if counter is None:
                return None
            metric = vim.PerformanceManager.MetricId(counterId=counter, instance="")
            query = vim.PerformanceManager.QuerySpec(
                entity=self.vm, metricId=[metric], intervalId=SAMPLE_SECONDS
            )
            query.startTime = self._sampled
            for found in manager.QueryPerf([query]):
                self._add_samples(found)
        return self._used_ns

    def _add_samples(self, found: Any) -> None:
        times = [sample.timestamp for sample in found.sampleInfo]
        for series in found.value:
            if len(series.value) != len(times):
                continue  # the host does not say which of its samples these are
            for at, used_ms in sorted(zip(times, series.value, strict=True)):
                if (self._sampled is None or at > self._sampled) and used_ms != UNKNOWN:
                    self._used_ns = (self._used_ns or 0) + used_ms * MS_NS
                    self._sampled = at

    def memory_bytes(self) -> int | None:
        """What of the host's memory it has; None until its host has said so."""
        with answered(self.subject):
            found = self.vm.summary.quickStats.hostMemoryUsage
        return None if found is None else found * MIB

    def _host_called(self, host: str) -> Any:
        """`first` or `second`, as the vCenter knows it."""
        names = dict(zip(HOSTS, self.session.settings.hosts, strict=False))
        if host not in names:
            raise UserError(
                f"{self.subject}: host '{host}' is not in `hosts` of {self.session.settings.file};"
                f" name one of {', '.join(names)}, or list it there."
            )
        return self.session.find(vim.HostSystem, names[host])


def remove(session: Session, name: str, token: str, task: str | None) -> str | None:
    """Power off and destroy the machine of this name, if it is the token's; why not, else None.

    `task`: the one that made it, as far as is known; it may still be at it.
    """
    if task is not None:
        with suppress(UserError):
            finish(session.task(task), name)
    for vm in session.all(vim.VirtualMachine, name):
        with answered(name):
            options = {option.key: option.value for option in vm.config.extraConfig}
            # Without an owner: the crash came between making it and saying whose it is.
            if options.get(OWNER, token) != token:
                return "it is not the one that the trial made"
            if vm.runtime.powerState != vim.VirtualMachine.PowerState.poweredOff:
                finish(vm.PowerOffVM_Task(), name)
            finish(vm.Destroy_Task(), name)
    return None


def _counter(manager: Any, *words: str) -> int | None:
    """The number of a figure by its group, name and roll-up."""
    for each in manager.perfCounter:
        if (each.groupInfo.key, each.nameInfo.key, each.rollupType) == words:
            return int(each.key)
    return None


def _options(keys: Mapping[str, str]) -> list[vim.option.OptionValue]:
    return [vim.option.OptionValue(key=key, value=value) for key, value in keys.items()]


def _listed(numbers: frozenset[int]) -> str:
    return ",".join(map(str, sorted(numbers)))
