"""Which trials lie beside those that are compared, and vary as they do?

How much alike trials differ is a matter of the machine, the system and the load. So other trials of
this machine tell it as well as repetitions of the compared ones: each group of them that differs in
nothing that was asked for has a variance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tierlab.analysis.comparing.asked import same_load, settings
from tierlab.analysis.comparing.ground import unlike
from tierlab.analysis.comparing.groups import Group
from tierlab.analysis.comparing.planned import same_programs
from tierlab.errors import UserError
from tierlab.tables.manifest import NAME, Manifest
from tierlab.tables.run import Run

MOST = 30
"""Trials that are read, the ones nearest in time first: each takes a second or so."""
LENGTH = 0.2
"""A trial whose runtime is longer or shorter by more than this share varies otherwise."""


def beside(compared: Sequence[Group]) -> list[Group]:
    """Return the groups of two trials and more, without those compared, that were made on the same
    ground in the same kind of environment, of the same programs under the same load, and lie in the
    same folder of runs.
    """
    mine = [run for group in compared for run in group.runs]
    taken = {run.path.resolve() for run in mine}
    roots = sorted({path.parent.parent for path in taken})
    found = [
        run
        for root in roots
        for run in _trials(root)
        if run.path.resolve() not in taken and _varies_as(run, mine)
    ]
    now_ns = max(run.manifest.created_ns for run in mine)
    found.sort(key=lambda run: abs(run.manifest.created_ns - now_ns))
    by_asked: dict[str, list[Run]] = {}
    for run in found[:MOST]:
        by_asked.setdefault(_asked(run.manifest), []).append(run)
    return [
        Group(str(runs[0].path.parent), tuple(runs)) for runs in by_asked.values() if len(runs) > 1
    ]


def _trials(root: Path) -> Iterator[Run]:
    """The trials of a folder of experiments that came to their end and can be read."""
    for file in sorted(root.glob(f"*/*/{NAME}")):
        try:
            run = Run(file.parent)
        except UserError:
            continue
        if run.manifest.exit.state == "done" and run.has("requests"):
            yield run


def _varies_as(run: Run, compared: Sequence[Run]) -> bool:
    return any(_alike(run.manifest, other.manifest) for other in compared)


def _alike(one: Manifest, other: Manifest) -> bool:
    same = (one.environment, one.workload) == (other.environment, other.workload)
    return (
        same
        and same_programs(one, other)
        and same_load(one, other)
        and _as_long(one, other)
        and not unlike([("one", [one]), ("other", [other])])
    )


def _as_long(one: Manifest, other: Manifest) -> bool:
    phases = one.phase("runtime"), other.phase("runtime")
    lengths = [each.end_ns - each.start_ns for each in phases if each is not None]
    return len(lengths) == 2 and max(lengths) <= (1 + LENGTH) * min(lengths)


def _asked(manifest: Manifest) -> str:
    """All that was asked for: trials in which this is the same are repetitions."""
    software = {name: (each.server, each.version) for name, each in manifest.servers.items()}
    told = [manifest.experiment, manifest.factors, software, settings(manifest)]
    return json.dumps(told, sort_keys=True, default=str)
