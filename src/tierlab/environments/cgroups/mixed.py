"""Controllers in both versions at once (systemd's "hybrid"): each is used where it is mounted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

from tierlab.environments.cgroups.cgroup import DISK_CONTROLLERS, Group, Hierarchy
from tierlab.environments.domain import DomainStats
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement

Found = TypeVar("Found", Placement, DomainStats)


class Mixed(Hierarchy):
    """Hierarchies that share no controller."""

    def __init__(self, parts: Sequence[Hierarchy]) -> None:
        self._parts = parts

    def controllers(self) -> Mapping[str, Path]:
        """All of them."""
        return {name: root for part in self._parts for name, root in part.controllers().items()}

    def prepare(self, ledger: Ledger, needed: tuple[str, ...]) -> None:
        """Each its own."""
        for part in self._parts:
            part.prepare(ledger, tuple(name for name in part.controllers() if name in needed))

    def hand_down_all(self, ledger: Ledger) -> None:
        """Nothing: where there is version 1, runc leaves the unified tree as it is."""

    def settle(self, folder: Path, controllers: list[str]) -> None:
        """In the one that has them; a folder lies in one tree only."""
        self._of(controllers[0]).settle(folder, controllers)

    def pin(self, group: Group, pus: str) -> None:
        """Where cpuset is."""
        self._of("cpuset").pin(group, pus)

    def set_nodes(self, group: Group, nodes: str) -> None:
        """Where cpuset is."""
        self._of("cpuset").set_nodes(group, nodes)

    def set_weight(self, group: Group, weight: int) -> None:
        """Where cpu is."""
        self._of("cpu").set_weight(group, weight)

    def set_memory(self, group: Group, limit: int) -> None:
        """Where memory is."""
        self._of("memory").set_memory(group, limit)

    def set_disk(self, group: Group, device: str, writes: int | None, reads: int | None) -> None:
        """Where blkio is, or io."""
        (name, *_) = DISK_CONTROLLERS & self.controllers().keys()
        self._of(name).set_disk(group, device, writes, reads)

    def read_back(self, group: Group) -> Placement:
        """What any of them says."""
        return _merged([part.read_back(own) for part, own in self._split(group)])

    def stats(self, group: Group) -> DomainStats:
        """What the first of them counts."""
        return _merged([part.stats(own) for part, own in self._split(group)])

    def _of(self, controller: str) -> Hierarchy:
        return next(part for part in self._parts if controller in part.controllers())

    def _split(self, group: Group) -> Iterator[tuple[Hierarchy, Group]]:
        for part in self._parts:
            names = part.controllers()
            yield part, Group({name: at for name, at in group.folders.items() if name in names})


def _merged(found: list[Found]) -> Found:
    """Field by field what the first one knows."""
    known = {
        field.name: next(
            (v for each in found if (v := getattr(each, field.name)) is not None), None
        )
        for field in fields(found[0])
    }
    return type(found[0])(**known)
