"""The processor's topology as Linux shows it in /sys/devices/system (hwloc's words).

Read from the kernel's files: there is no kept Python binding of hwloc to be had as a package, and
the files say what is needed here. Kernel documentation: admin-guide/cputopology and
ABI/testing/sysfs-devices-system-cpu.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tierlab.machine.kernel_files import read_number, read_text

SYSTEM = Path("/sys/devices/system")


@dataclass(frozen=True)
class PU:
    """A processing unit (Linux CPU) and where it is; None where the kernel does not say."""

    pu: int
    core: int | None
    package: int | None
    l3: int | None
    """Lowest PU that shares its level-3 cache."""
    node: int | None


@dataclass(frozen=True)
class Cache:
    """A kind of cache: `L2`, its size in bytes and how many there are."""

    name: str
    size: int | None
    instances: int


def parse_list(text: str) -> tuple[int, ...]:
    """`"0-2,5"` as `(0, 1, 2, 5)`."""
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def pus(system: Path = SYSTEM) -> tuple[PU, ...]:
    """The PUs that are online, by number."""
    online = read_text(system / "cpu/online")
    return tuple(_pu(system, number) for number in parse_list(online or ""))


def _pu(system: Path, number: int) -> PU:
    folder = system / f"cpu/cpu{number}"
    shared = next(
        (read_text(c / "shared_cpu_list") for c in _caches(folder) if _name(c) == "L3"), None
    )
    node = next((int(n.name.removeprefix("node")) for n in folder.glob("node[0-9]*")), None)
    return PU(
        pu=number,
        core=read_number(folder / "topology/core_id"),
        package=read_number(folder / "topology/physical_package_id"),
        l3=parse_list(shared)[0] if shared else None,
        node=node,
    )


def caches(system: Path = SYSTEM) -> tuple[Cache, ...]:
    """The kinds of cache of the online PUs, nearest first."""
    found: dict[str, dict[str, int | None]] = {}
    for pu in pus(system):
        for cache in _caches(system / f"cpu/cpu{pu.pu}"):
            shared = read_text(cache / "shared_cpu_list")
            if shared is not None:
                sizes = found.setdefault(_name(cache), {})
                sizes[shared] = _size(read_text(cache / "size"))
    return tuple(
        Cache(name, next(iter(found[name].values())), len(found[name])) for name in sorted(found)
    )


def _caches(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob("cache/index[0-9]*"))


def _name(cache: Path) -> str:
    kind = {"Data": "d", "Instruction": "i"}.get(read_text(cache / "type") or "", "")
    return f"L{read_text(cache / 'level')}{kind}"


def _size(text: str | None) -> int | None:
    """`"32768K"` in bytes."""
    if text is None or not text.endswith("K"):
        return None
    return int(text[:-1]) * 1024


def nodes(system: Path = SYSTEM) -> tuple[int, ...]:
    """NUMA nodes that are online."""
    return parse_list(read_text(system / "node/online") or "")
