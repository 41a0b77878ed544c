"""The caches of a machine by hwloc's word, described to QEMU's plugin that simulates them.

The plugin (`agent/plugins`) counts in what QEMU emulates by TCG; hwloc knows this machine's caches,
a saved one's and a made-up one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from tierlab.errors import UserError
from tierlab.installation import CACHE_PLUGIN, REMEDY
from tierlab.machine.hwloc import HOST, export

USUAL_WAYS = {"L1Cache": 8, "L1iCache": 8, "L2Cache": 16, "L3Cache": 16}
"""Of a cache whose ways are not told, as in a made-up machine."""
USUAL_LINE = 64
MOST_SETS_APART = 64
"""The plugin tells which sets it looks up by that many first sets at the most."""
LOOKED_UP = 16
"""Of so many sets one is looked up, where the caches allow it."""


@dataclass(frozen=True)
class Level:
    """A cache: bytes and ways."""

    size: int
    ways: int

    def sets(self, line: int) -> int:
        """How many sets it has."""
        return self.size // line // self.ways

    def __str__(self) -> str:
        return f"{self.size}:{self.ways}"


@dataclass(frozen=True)
class Caches:
    """What each core has for itself, and the last level, of which a package has one.

    A level that is None is not there.
    """

    l1d: Level
    l1i: Level | None
    l2: Level | None
    llc: Level | None
    line: int = USUAL_LINE
    """Bytes."""

    @property
    def levels(self) -> dict[str, Level | None]:
        """By the plugin's names."""
        return {"l1d": self.l1d, "l1i": self.l1i, "l2": self.l2, "llc": self.llc}

    @property
    def one_in(self) -> int:
        """Of how many sets one may be looked up: a part of the first sets of every cache."""
        apart = LOOKED_UP
        for level in self.levels.values():
            while level is not None and level.sets(self.line) % apart:
                apart //= 2
        return apart


def read(source: str = HOST) -> Caches:
    """The caches of a machine, a source of hwloc's; `UserError` if it does not tell its first."""
    root = export(source)
    line = next((int(size) for size in _said(root, "L1Cache", "cache_linesize")), 0) or USUAL_LINE
    found = {kind: _level(root, kind, line) for kind in USUAL_WAYS}
    first = found["L1Cache"]
    if first is None:
        raise UserError(
            f"machine '{source}': hwloc does not know its caches; describe them, such as"
            " 'pack:2 l3:1(size=32MiB) l2:4(size=1MiB) l1d:1(size=32KiB) core:1 pu:1'."
        )
    return Caches(first, found["L1iCache"], found["L2Cache"], found["L3Cache"], line)


def _level(root: Element, kind: str, line: int) -> Level | None:
    """The first of its kind: a machine of unlike cores is none of those that are simulated."""
    size = next((int(size) for size in _said(root, kind, "cache_size")), 0)
    ways = next((int(ways) for ways in _said(root, kind, "cache_associativity")), 0)
    # Less than 0: any line may be anywhere.
    level = Level(size, ways if ways > 0 else USUAL_WAYS[kind])
    if size != level.sets(line) * level.ways * line:
        raise UserError(
            f"a {kind} of {size} bytes has no whole sets of {level.ways} ways of {line} bytes;"
            " describe a machine whose caches have."
        )
    return level if size else None


def _said(root: Element, kind: str, what: str) -> list[str]:
    return [cache.get(what, "0") for cache in root.iter("object") if cache.get("type") == kind]


def plugin(
    caches: Caches,
    packages: Sequence[int],
    out: Path,
    *,
    shared: Path | None = None,
    space: int = 0,
    one_in: int = 1,
) -> str:
    """QEMU's argument after `-plugin`; `UserError` where the plugin was not built.

    `packages`: the package of each virtual CPU. `out`: the file that it writes. `shared`: a file in
    which several emulations have their last-level caches in common, each with another `space` of
    addresses. `one_in`: of so many sets one is looked up.
    """
    if not CACHE_PLUGIN.exists():
        raise UserError(f"the simulated cache is not there ({CACHE_PLUGIN}); {REMEDY}.")
    arguments = {
        "file": CACHE_PLUGIN,
        **{name: level or "none" for name, level in caches.levels.items()},
        "line": caches.line,
        "packages": ":".join(map(str, packages)),
        "sample": one_in,
        "space": space,
        "out": out,
        **({} if shared is None else {"shared": shared}),
    }
    # A comma in a value is doubled.
    return ",".join(f"{name}={str(value).replace(',', ',,')}" for name, value in arguments.items())
