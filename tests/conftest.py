"""What tests on this host share: trial names of their own, and proof that nothing is left."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.figures import FIGURES

_NUMBERS = itertools.count(1)
ALONE = (
    *("capture", "disturb", "drive", "environments", "machine", "sample"),
    *("link/test_links.py", "report/test_browser.py"),
    *("rubbos/test_load.py", "rubbos/test_soft_resources.py"),
    *("servers/test_neighbours.py", "servers/test_without_privilege.py"),
    *("trial/test_container_trials.py", "trial/test_disturbed.py", "trial/test_guests.py"),
    "trial/test_kvm_trial.py",
    *("trial/test_echoes.py", "trial/test_main_job.py", "trial/test_migration_trial.py"),
    *("trial/test_neighbours_trial.py", "trial/test_qemu_trial.py", "trial/test_vsphere_trial.py"),
    "trial/test_xen_trial.py",
    *("trial/test_very_long_explained.py", "trial/test_without_root.py"),
)
"""Folders and modules whose tests are marked `alone`, but for those of `PAIRED`."""
PAIRED = (
    *("environments/test_xen.py", "trial/test_guests_broken_off.py"),
    *("environments/test_image_build.py", "environments/test_qemu.py"),
)
"""Modules whose tests are marked `paired`: those that take longest first, lest one ends alone."""

LONGEST = "test_a_whole_page_can_be_followed[docs/how-to/studies.md]"
"""It runs two studies. It begins, so that nothing waits for its end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what nothing may run beside, and what only one of its own kind may."""
    folder = Path(__file__).parent
    paired = {folder / name: number for number, name in enumerate(PAIRED)}
    items.sort(key=lambda item: (paired.get(item.path, -1), item.name != LONGEST))
    for item in items:
        if item.path in paired:
            item.add_marker("paired")
        elif any(item.path.is_relative_to(folder / name) for name in ALONE):
            item.add_marker("alone")


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
            "cgroups": [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/{name}.trial")],
            "namespaces": [str(path) for path in Path("/run/netns").glob(name)],
            "mounts": [
                line
                for line in Path("/proc/self/mounts").read_text().splitlines()
                if name in line or self.trial in line
            ],
            "folders": [str(path) for path in Path("/var/tmp").glob(f"*{self.trial}*")],
            "ledgers": [str(path) for path in self.state.rglob("*") if path.is_file()],
        }

    def none(self) -> bool:
        return not any(self.found().values())

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
    mounts: frozenset[str]
    sysctls: tuple[tuple[str, str], ...]
    hierarchy: tuple[str, ...]
    litter: frozenset[str]


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
        mounts=frozenset(line for line in mounts if "tierlab" not in line),
        sysctls=tuple((str(path), _text(path)) for path in sorted(sysctls)),
        hierarchy=tuple(
            _text(path)
            for path in Path("/sys/fs/cgroup").glob("**/cgroup.subtree_control")
            if "tierlab" not in str(path)
        ),
        litter=frozenset(
            path.name for path in Path("/tmp").iterdir() if path.name.startswith("hsperfdata")
        ),
    )


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
    assert host() == before
