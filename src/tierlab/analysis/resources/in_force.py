"""What held of each server, and from when on: as it was read back, at first and after each change.

A trial may give a server other PUs, another weight or more threads while it runs. What it did then
is held against what it had then.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tierlab.analysis.query import DETAIL, Connection, Floats, Ints, rows
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest


@dataclass(frozen=True)
class Held:
    """The PUs a server was found to run on and its weight, None where that was not read back; its
    soft resources by name.
    """

    pus: frozenset[int] | None = None
    weight: float | None = None
    soft: Mapping[str, int] = field(default_factory=dict)


class InForce:
    """What held of every server at any time; steps are the stretches between two changes."""

    def __init__(self, manifest: Manifest, made: Sequence[Mapping[str, Any]] = ()) -> None:
        """``made`` are the changes in order: ``from_ns``, ``subject`` and ``found`` of each."""
        self._from_ns = [int(each["from_ns"]) for each in made]
        self._steps = [{n: _first(manifest, n) for n in {**manifest.servers, **manifest.mapping}}]
        for each in made:
            before = self._steps[-1]
            name, found = str(each["subject"]), each["found"]
            after = {name: _after(before[name], found)} if name in before else {}
            self._steps.append(before | after)

    def at(self, server: str, at_ns: int) -> Held:
        """Return what held of a server; nothing of one that the manifest does not know."""
        return self._steps[bisect_right(self._from_ns, at_ns)].get(server, Held())

    def steps(self, span: Span) -> Iterator[tuple[Span, Mapping[str, Held]]]:
        """Yield the stretches of the span between changes, with what held of each server."""
        edges = [span.start_ns, *self._from_ns, span.end_ns]
        for (start, end), held in zip(pairwise(edges), self._steps, strict=True):
            part = Span(max(start, span.start_ns), min(end, span.end_ns))
            if part.start_ns < part.end_ns:
                yield part, held

    def cores(self, server: str, t_ns: Ints) -> Floats | None:
        """Return on how many PUs a server was found to run at each time, NaN where that is not
        known; None where it never is.
        """
        held = [each.get(server, Held()).pus for each in self._steps]
        counts = np.array([np.nan if pus is None else len(pus) for pus in held])
        if np.isnan(counts).all():
            return None
        at: Floats = counts[np.searchsorted(self._from_ns, t_ns, side="right")]
        return at


def in_force(db: Connection, manifest: Manifest) -> InForce:
    """Return what held of a trial's servers; a change holds once it was made."""
    made = rows(
        db,
        f"""SELECT t_ns + coalesce(duration_ns, 0) AS from_ns, subject, detail FROM events
            WHERE kind = 'change' AND json_type({DETAIL}, '$.found') = 'OBJECT' ORDER BY 1""",
        {},
    )
    return InForce(
        manifest, [each | {"found": json.loads(each["detail"])["found"]} for each in made]
    )


def _first(manifest: Manifest, server: str) -> Held:
    placed = manifest.mapping.get(server)
    found = placed.get("found") if isinstance(placed, dict) else None
    part = manifest.servers.get(server)
    held = Held() if part is None else Held(soft=dict(part.soft))
    return _after(held, found) if isinstance(found, dict) else held


def _after(held: Held, found: Mapping[str, Any]) -> Held:
    """What holds after this was read back: what it does not speak of is as it was."""
    pus, weight = found.get("pus"), found.get("weight")
    if isinstance(pus, list) and pus:
        held = replace(held, pus=frozenset(pus))
    if isinstance(weight, int | float):
        held = replace(held, weight=float(weight))
    soft = {name: found[name] for name in held.soft if isinstance(found.get(name), int)}
    return replace(held, soft={**held.soft, **soft})
