"""A unified tree whose controllers are all used the old way: it still accounts for pressure.

Source: "PSI <-> cgroup" in Documentation/accounting/psi.rst of the Linux kernel: each group of a
cgroup2 mount has pressure files, whatever controllers there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierlab.environments.cgroups.v2 import V2
from tierlab.environments.ledger import Ledger

PRESSURE = "pressure"


class Bare(V2):
    """Only for its accounts; it can place nothing."""

    def controllers(self) -> Mapping[str, Path]:
        """None of the kernel's; pressure is treated as one so that each domain gets a group."""
        return {PRESSURE: self.root}

    def prepare(self, ledger: Ledger, needed: tuple[str, ...]) -> None:
        """Nothing: there is no controller to hand down."""

    def settle(self, folder: Path, controllers: list[str]) -> None:
        """Nothing, for the same reason."""
