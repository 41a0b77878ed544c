"""What the agents say of themselves at their end, in the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tierlab.deploy.systems import Systems
from tierlab.observe.calls import CallObserver, parties, seen
from tierlab.observe.inside import InsideObservers
from tierlab.observe.observers import Observers
from tierlab.tables.manifest import SOME_CALLS, Manifest
from tierlab.topology import Seen
from tierlab.trial.drivers import Drivers


def record_summary(manifest: Manifest, name: str, summary: Mapping[str, Any]) -> None:
    """Keep an agent's summary: its cost in CPU time and what it could not measure."""
    manifest.observation.summaries[name] = dict(summary)
    if isinstance(cost := summary.get("cpu_ns"), int):
        manifest.observation.costs[name] = cost
    manifest.not_measured.update(summary.get("not_measured", {}))


def record_drivers(manifest: Manifest, drivers: Drivers) -> None:
    """Keep the summary of each driver that lived to give one, and what they cost together."""
    for verb in drivers.verbs:
        if verb.summary is not None:
            record_summary(manifest, verb.name, verb.summary)
    costs = manifest.observation.costs
    used = [costs.pop(verb.name) for verb in drivers.verbs if verb.name in costs]
    if used:
        costs["drive"] = sum(used)


def record_observers(manifest: Manifest, observers: Observers) -> None:
    """Keep the observers' summaries and what could not be observed at all."""
    manifest.not_measured.update(observers.not_measured)
    for name, summary in observers.summaries.items():
        record_summary(manifest, name, summary)
        if source := summary.get("cpu_source"):
            manifest.observation.cpu_source = source
        if lost := _lost(summary):
            manifest.not_measured["visits (some)"] = lost


def _lost(summary: Mapping[str, Any]) -> str | None:
    """What a capture says that it missed, whose visits have no end or are not there."""
    dropped, forgotten = (summary.get(key, 0) for key in ("drops", "crowded_out"))
    parts = []
    if dropped:
        share = dropped / (dropped + summary.get("packets", 0))
        parts.append(f"{dropped:,} packets ({share:.2%}) were lost before they were read")
    if forgotten:
        parts.append(f"{forgotten:,} connections were forgotten for want of memory")
    if downs := summary.get("interface_downs", 0):
        times = "once" if downs == 1 else f"{downs:,} times"
        parts.append(f"the captured interface went down {times}")
    return " and ".join(parts) or None


def record_calls(
    manifest: Manifest,
    observer: CallObserver,
    systems: Systems,
    *,
    alone: bool,
    at_sockets: Iterable[Seen] = (),
) -> None:
    """Keep who was seen to call whom, while the servers are still there to be told apart.

    ``alone``: nobody else is on their network. ``at_sockets``: what was seen at UNIX sockets.
    """
    calls = observer.stop()
    if observer.not_seen is None:
        manifest.seen = seen(calls, parties(systems.subjects()), alone=alone)
        manifest.seen += at_sockets
        if observer.left_out is not None:
            manifest.not_measured[SOME_CALLS] = observer.left_out
    else:
        manifest.not_measured["calls"] = observer.not_seen


def record_inside(manifest: Manifest, observers: InsideObservers) -> None:
    """Keep what was seen inside the guests, their clocks, and what could not be.

    What watching costs there is in the CPU time of the guest's domain already.
    """
    manifest.clocks.update(observers.clocks)
    manifest.not_measured.update(observers.not_measured)
    for name, summary in observers.summaries.items():
        manifest.observation.summaries[f"sample inside {name}"] = summary
        for what, reason in summary.get("not_measured", {}).items():
            manifest.not_measured[f"inside_{what} of {name}"] = reason
