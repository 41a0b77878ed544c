"""Did trials stand on the same ground? What of the machine sets them apart, whatever was varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tierlab.analysis.result import Result
from tierlab.tables.manifest import Manifest

OWN = "a machine's own"
EMULATED = "emulated"
ELSEWHERE = "those of a vCenter's host"


class Unlike(Result):
    """A ``trait`` of the ground that is not the same under all trials: by each value that it has,
    the ``groups`` of trials that stood on it.
    """

    trait: str
    groups: dict[str, list[str]]


def unlike(groups: Sequence[tuple[str, Sequence[Manifest]]]) -> list[Unlike]:
    """Every trait in which trials differ, among groups (name, trials) or within one of them.

    A trial that does not tell a trait is none that differs.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name, manifests in groups:
        for manifest in manifests:
            for trait, value in _traits(manifest):
                names = found.setdefault(trait, {}).setdefault(value, [])
                if name not in names:
                    names.append(name)
    return [
        Unlike(trait=trait, groups=values) for trait, values in found.items() if len(values) > 1
    ]


def _traits(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What this trial's manifest tells of its ground, and it may be any version's."""
    host = manifest.host
    told: dict[str, object] = {
        "processors": _processors(manifest),
        "processor model": _at(host, "cpu", "model"),
        "topology": _topology(manifest),
        "memory": _memory(_at(host, "memory", "total")),
        "kernel": _at(host, "kernel", "release"),
        "hypervisor below": _at(host, "virtualisation"),
        "frequency governor": _at(host, "cpu", "governor"),
        **manifest.versions,
    }
    for trait, value in told.items():
        if value is not None:
            yield trait, str(value)


def _processors(manifest: Manifest) -> str:
    """What runs the servers' threads. A manifest without `accelerator` may have `emulated_pus`."""
    if manifest.elsewhere:
        return ELSEWHERE
    if manifest.accelerator is None:
        return OWN if manifest.emulated_pus is None else EMULATED
    return OWN if manifest.accelerator == "kvm" else EMULATED


def _topology(manifest: Manifest) -> str | None:
    """How many of each there are in all, in hwloc's words."""
    if manifest.emulated_pus is not None:
        return f"pu:{manifest.emulated_pus}"
    host = manifest.host
    counts = {
        "package": _at(host, "cpu", "packages"),
        "numa": _at(host, "numa_nodes"),
        "core": _at(host, "cpu", "cores"),
        "pu": _at(host, "cpu", "pus"),
    }
    said = [f"{what}:{count}" for what, count in counts.items() if count is not None]
    return " ".join(said) or None


def _memory(total: object) -> str | None:
    """To a tenth of a GiB: kernels keep a little more or less for themselves."""
    return f"{total / 2**30:.1f} GiB" if isinstance(total, int) else None


def _at(host: Mapping[str, Any], *keys: str) -> object:
    found: object = host
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found
