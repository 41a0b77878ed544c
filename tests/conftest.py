"""What tests on this host share: trial names of their own, and proof that nothing is left."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.figures import FIGURES, own_name
from tests.pace import pace

gc.disable()  # until all modules are imported, which leaves nothing to be collected
_NUMBERS = itertools.count(1)
FURTHER = frozenset({"docker", "lxc", "qemu", "kvm", "xen", "vsphere"})
"""Environments whose tests are the second suite's; native's and podman's are the first's."""

LONGEST = ("test_xen_trial.py", "test_kvm_nested.py")
"""Modules that take minutes. They begin, so that nothing waits for their end."""


def pytest_configure() -> None:
    """Have SIGINT end what the tests start, as it does in a terminal.

    What a shell starts in the background ignores it, and so would all that it starts itself.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # xdist's looks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of further environments, by the name in their parameters; a slow machine's
    tests may take longer."""
    slower = pace()
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        limit = item.get_closest_marker("timeout")
        seconds = limit.args[0] if limit else float(item.config.getini("timeout"))
        item.add_marker(pytest.mark.timeout(seconds * slower), append=False)
        parameters = item.name.partition("[")[2].rstrip("]").split("-")
        if item.get_closest_marker("privileged") and FURTHER.intersection(parameters):
            item.add_marker("environments")
        # What is made for a package's or module's tests is made by one worker of xdist's.
        shared = parameters[0] if "conformance" in item.path.parts else item.path.name
        item.add_marker(pytest.mark.xdist_group(shared))


def pytest_collection_finish() -> None:
    """Have collections begin, and pass over what was imported."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Have what was imported be taken down as ever: what a library finds left it complains of."""
    gc.unfreeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Give a test its own name back, to which xdist's workers add its group: by that name what
    failed is found when it is run again."""
    if hasattr(report, "node"):
        report.nodeid = own_name(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Have a worker process of xdist's give away what its tests measured."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = FIGURES


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take it from one that ends; one that died gives nothing."""
    FIGURES.extend(getattr(node, "workeroutput", {}).get("figures", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what the tests measured."""
    if FIGURES:
        terminalreporter.section("figures")
    for test, text in FIGURES:
        terminalreporter.write_line(f"{test}: {text}")


@dataclass(frozen=True)
class Traces:
    """Everything by which a trial could still be noticed on this host.

    Other trials may come and go meanwhile; theirs are told apart by the trial's name, which is in
    every name that a trial gives away.
    """

    trial: str
    state: Path

    def found(self) -> dict[str, list[str]]:
        """By kind, what bears the trial's name; a clean host gives empty lists."""
        name = f"tierlab-{self.trial}"
        return {
            "processes": sorted(self._processes(name)),
            "cgroups": sorted(self._groups(f"{name}.trial")),
            "mounts": [
                line
                for line in Path("/proc/self/mounts").read_text().splitlines()
                if name in line or self.trial in line
            ],
            "folders": [str(path) for path in Path("/var/tmp").glob(f"*{self.trial}*")],
            "containers": [
                str(path) for path in CONTAINERS.glob("*.json") if name in path.read_text()
            ],
            "ledgers": [str(path) for path in self.state.rglob("*") if path.is_file()],
        }

    def none(self) -> bool:
        return not any(self.found().values())

    def _groups(self, name: str) -> Iterator[str]:
        for folder, inside, _ in control_groups():
            if name in inside:
                yield str(Path(folder, name))

    def _processes(self, name: str) -> Iterator[str]:
        for process in psutil.process_iter():
            if process.pid == os.getpid():
                continue
            try:
                places = [*process.cmdline(), process.cwd(), *process.environ().values()]
                groups = Path(f"/proc/{process.pid}/cgroup").read_text()
            except (psutil.Error, OSError):
                continue
            if any(self.trial in place for place in places) or name in groups:
                yield f"{process.pid} {process.name()}"


@dataclass(frozen=True)
class Host:
    """What belongs to the host and no trial may change."""

    addresses: frozenset[tuple[str, str]]
    links: frozenset[str]
    networks: frozenset[str]
    """Network namespaces that this process holds by a descriptor."""
    mounts: frozenset[str]
    sysctls: tuple[tuple[str, str], ...]
    hierarchy: tuple[tuple[str, str], ...]
    litter: frozenset[str]

    def unlike(self, before: Host) -> dict[str, list[str]]:
        """What is not as it was, by kind: what came and what went."""
        kinds = [field.name for field in fields(self)]
        changes = {kind: set(getattr(self, kind)) ^ set(getattr(before, kind)) for kind in kinds}
        return {kind: sorted(map(str, values)) for kind, values in changes.items() if values}


PODMANS = " /var/lib/containers/storage/overlay"
"""This host's own podman mounts its store on itself when it is first asked, and leaves it so; and
below it what other trials' containers have for their roots, which bear no trial's name."""
CONTAINERS = Path("/var/lib/containers/storage/overlay-containers")
"""Where podman notes its containers with their names (containers-storage.conf(5))."""


def host() -> Host:
    """Take a snapshot, without what other trials (named tierlab-...) have at the moment."""
    sysctls = [
        *Path("/proc/sys/net/core").glob("*max*"),
        *Path("/proc/sys/net/ipv4").glob("tcp_*"),
        *Path("/proc/sys/vm").glob("*"),
    ]
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return Host(
        addresses=frozenset(
            (link, address.address)
            for link, addresses in psutil.net_if_addrs().items()
            for address in addresses
            if address.family == socket.AF_INET
        ),
        links=frozenset(name for _, name in socket.if_nameindex()),
        networks=frozenset(_networks()),
        mounts=frozenset(line for line in mounts if "tierlab" not in line and PODMANS not in line),
        sysctls=tuple((str(path), _text(path)) for path in sorted(sysctls)),
        hierarchy=tuple(
            (folder, _text(Path(folder, "cgroup.subtree_control")))
            for folder, _, inside in control_groups()
            if "cgroup.subtree_control" in inside and "tierlab" not in folder
        ),
        litter=frozenset(_litter()),
    )


def _networks() -> Iterator[str]:
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one by which they are listed
            if (name := str(path.readlink())).startswith("net:"):
                yield name


def _litter() -> Iterator[str]:
    for path in Path("/tmp").iterdir():
        of = re.fullmatch(r"perf-(\d+)\.map", path.name)
        # While a process lives, its map is in use.
        if path.name.startswith("hsperfdata") or (of and not Path("/proc", of[1]).exists()):
            yield path.name


def control_groups() -> Iterator[tuple[str, list[str], list[str]]]:
    """Of each control group its folder, the groups in it and its files.

    Groups that somebody else removes meanwhile are none of ours.
    """
    return os.walk("/sys/fs/cgroup")


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return "unreadable"


@pytest.fixture
def trial() -> str:
    """A trial name that no other test has at the same time."""
    return f"test{os.getpid()}-{next(_NUMBERS)}"


@pytest.fixture
def traces(trial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traces]:
    """The trial's traces, its ledger in a folder of its own; the test fails if any remains."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = Traces(trial, tmp_path / "state")
    before = host()
    yield found
    assert not any(found.found().values()), found.found()
    assert not (changed := host().unlike(before)), changed
