"""What this machine can and cannot measure, and why: all checks, each one tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tierlab.machine.check import Check
from tierlab.machine.probes import (
    hypervisor,
    isolation,
    messages,
    profiling,
    programs,
    room,
    samples,
    steadiness,
)
from tierlab.machine.programs import Program


def check_all(
    wanted: Iterable[Program],
    folders: Mapping[str, tuple[Path, str]],
    agent: str | None = None,
) -> Iterator[Check]:
    """Every check in the order in which it is shown; about two seconds.

    `wanted`: the programs that a run starts, looked up. `folders`: where it keeps files, see
    :func:`tierlab.machine.probes.room.checks`. `agent`: the agent's path, if it is there.
    """
    yield from steadiness.checks()
    yield from isolation.checks()
    yield from messages.checks(agent)
    yield from samples.checks()
    yield from programs.checks(wanted)
    yield from room.checks(folders)
    yield from profiling.checks()
    yield from hypervisor.checks()
