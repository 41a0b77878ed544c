"""From `[[disturb]]` tables to the disturbances of a trial: nothing open, nothing by chance.

What a table leaves open is drawn from the trial's seed, so that the same seed gives the same
disturbances. Those at random times keep their distance, so that each one's effects can be told
from the next one's.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import PydanticCustomError

from tierlab.experiment.disturb import Random, suited
from tierlab.experiment.disturb_resources import Memory
from tierlab.experiment.disturb_servers import Lock, Pool
from tierlab.experiment.disturbance import Disturbance, Timed
from tierlab.experiment.draw_class import drawn_disturbance
from tierlab.experiment.load import Phases
from tierlab.experiment.problem import problem
from tierlab.experiment.subjects import existing, listed, reachable, why_not
from tierlab.experiment.system import System
from tierlab.experiment.tier import Tier
from tierlab.values.quantities import MILLISECOND, SECOND, format_duration

PREPARATION_NS = 5 * SECOND
"""From the start of the load to the first disturbance: it is prepared meanwhile."""

MARGIN_NS = SECOND
"""Left free at both ends of the runtime where the start is drawn."""

TRIES = 100

APART_NS: Mapping[str, int] = {
    "memory": SECOND,
    "freeze": 50 * MILLISECOND,
    "pool": 50 * MILLISECOND,
    "network": 50 * MILLISECOND,
    "loss": 50 * MILLISECOND,
    "quota": 50 * MILLISECOND,
    "weight": 50 * MILLISECOND,
    "restart": 2 * SECOND,
    "steal": 2 * SECOND,
}
"""Classes of which one's end would end another one of the same (`_held`), and the least time from
its planned end to the other's start: ends are late on a saturated machine, a squeeze's most of all.
"""


class NoRoomError(Exception):
    """The disturbances do not fit into the runtime, or not beside each other; the message says
    which, without a full stop."""


@dataclass(frozen=True)
class Drawn:
    """One disturbance of a trial, `at_ns` after the start of the runtime; `id` counts from 1."""

    id: int
    at_ns: int
    what: Disturbance

    @property
    def end_ns(self) -> int:
        """When it is over."""
        return self.at_ns + self.what.duration_ns


@dataclass(frozen=True)
class _Open:
    """A disturbance whose start is still to be drawn, `gap_ns` from all others."""

    place: int
    what: Disturbance
    gap_ns: int


@dataclass(frozen=True)
class _Placed:
    """A disturbance that has its start; `gap_ns` is 0 of one whose start the file states."""

    at_ns: int
    what: Disturbance
    gap_ns: int


def disturbance_problems(
    tables: Sequence[Timed], system: System, phases: Phases
) -> Iterator[PydanticCustomError]:
    """The problems of tables that this system or its runtime cannot have."""
    for place, table in enumerate(tables, start=1):
        name = f"disturb[{place}]"
        yield from _subject_problems(name, table, system)
        if isinstance(table.at_ns, int):
            yield from _time_problems(name, table, table.at_ns, phases)


def _time_problems(
    name: str, table: Timed, at_ns: int, phases: Phases
) -> Iterator[PydanticCustomError]:
    if phases.ramp_up_ns + at_ns < PREPARATION_NS:
        yield problem(
            f"must leave {format_duration(PREPARATION_NS)} from the start of the load for its"
            " preparation; take a later moment, or a longer load.phases.ramp_up",
            name,
            "at",
        )
    longest = table.longest_ns if isinstance(table, Random) else _duration(table)
    end = at_ns + (table.count - 1) * (table.every_ns or 0) + longest
    if end > phases.runtime_ns:
        runtime, over = format_duration(phases.runtime_ns), format_duration(end)
        yield problem(
            f"must let it end within the runtime of {runtime}; it may last until {over}",
            name,
            "at",
        )


def _subject_problems(name: str, table: Timed, system: System) -> Iterator[PydanticCustomError]:
    if isinstance(table, Random):
        yield from _drawn_problems(name, table, system)
    if not isinstance(table, Disturbance):
        return
    allowed = suited(type(table), system)
    tier = system.tiers.get(table.on.partition(".")[0])
    if not allowed:
        yield problem(f'cannot be "{table.class_}": no server here takes that', name, "class")
    elif table.on not in allowed and "on" not in table.model_fields_set:
        yield problem(f"is missing; of this system it is {listed(allowed)}", name, "on")
    elif table.on not in allowed or tier is None:
        why = why_not(table.on, system)
        words = f"for class {table.class_} must be {listed(allowed)}"
        yield problem(f'{words} in this system, not "{table.on}"{why}', name, "on")
    elif isinstance(table, Pool):
        yield from _pool_problems(name, table, tier)
    elif isinstance(table, Lock):
        yield from _lock_problems(name, table, system)
    elif (
        isinstance(table, Memory) and tier.memory is None and not tier.software.room(tier.settings)
    ):
        text = f"needs system.{table.on.partition('.')[0]}.memory, as nobody else knows how much"
        yield problem(f'of "{table.on}" {text} it takes', name, "on")


def _drawn_problems(name: str, table: Random, system: System) -> Iterator[PydanticCustomError]:
    if table.subjects != "all":
        tiers = system.application.tiers
        for subject in table.subjects:
            if subject.partition(".")[0] not in tiers:
                words = ", ".join(reachable(system))
                yield problem(f'must be out of {words}, not "{subject}"', name, "subjects")
                return
    if not table.reaches(system):
        if table.subjects == "all":
            text = "finds no server that its classes could disturb (none that runs already can be)"
            yield problem(text, name)
        else:
            yield problem("leaves no server that its classes could disturb", name, "subjects")


def _lock_problems(name: str, table: Lock, system: System) -> Iterator[PydanticCustomError]:
    known = system.application.lockable
    if table.table is None and not known:
        yield problem("is missing: which table pages need is not known here", name, "table")
    elif known and table.table not in (None, *known):
        yield problem(f'must be {listed(known)} with workload "{system.workload}"', name, "table")


def _pool_problems(name: str, table: Pool, tier: Tier) -> Iterator[PydanticCustomError]:
    allowed = tier.software.holdable
    if table.resource is not None and table.resource not in allowed:
        words = " or ".join(f'"{word}"' for word in allowed)
        yield problem(f'of {table.on} must be {words}, not "{table.resource}"', name, "resource")
        return
    held = table.held(tier.software)
    limit = tier.soft[held]
    if held == "pool" and table.hold is not None and table.hold > limit:
        yield problem(
            f"must be at most system.{table.on.partition('.')[0]}.soft.pool, which is {limit}, not"
            f" {table.hold}",
            name,
            "hold",
        )


def _duration(table: Timed) -> int:
    assert isinstance(table, Disturbance)
    return table.duration_ns


def draw(tables: Sequence[Timed], system: System, phases: Phases, seed: int) -> tuple[Drawn, ...]:
    """The disturbances of a trial, in the order of their starts.

    `tables` are checked (`disturbance_problems`). Raises `NoRoomError`.
    """
    dice = random.Random(f"disturbances of {seed}")
    fixed: list[_Placed] = []
    to_place: list[_Open] = []
    for place, table in enumerate(tables, start=1):
        for number in range(table.count):
            what = _settled(table, system, dice)
            if isinstance(table.at_ns, int):
                fixed.append(_Placed(table.at_ns + number * (table.every_ns or 0), what, 0))
            else:
                to_place.append(_Open(place, what, table.gap_ns))
    placed = sorted(_placed(fixed, to_place, phases, dice), key=lambda found: found.at_ns)
    _check_alone(placed)
    return tuple(Drawn(number, it.at_ns, it.what) for number, it in enumerate(placed, start=1))


def _check_alone(placed: Sequence[_Placed]) -> None:
    """Raise `NoRoomError` where one's end could end another one; `placed` by start."""
    free: dict[tuple[str, ...], int] = {}
    for each in placed:
        at, what = each.at_ns, each.what
        held = _held(what)
        if at < free.get(held, 0):
            apart = format_duration(APART_NS[what.class_])
            raise NoRoomError(
                f"disturb: two of class {what.class_} on {what.on} are less than {apart} apart at"
                f" {format_duration(at)}; move one, or take another class or server"
            )
        if what.class_ in APART_NS:
            end = at + what.duration_ns + APART_NS[what.class_]
            free[held] = max(end, free.get(held, 0))


def _held(what: Disturbance) -> tuple[str, ...]:
    """What it holds, and its end lets go of."""
    kind = (what.class_, what.on)
    return (*kind, str(what.resource)) if isinstance(what, Pool) else kind


def _apart_ns(one: Disturbance, other: Disturbance) -> int:
    return APART_NS.get(one.class_, 0) if _held(one) == _held(other) else 0


def _settled(table: Timed, system: System, dice: random.Random) -> Disturbance:
    """The table as it is, or as it is drawn; with the resource or the table that is meant."""
    if isinstance(table, Random):
        return drawn_disturbance(table, system, dice)
    if isinstance(table, Pool):
        return table.model_copy(update={"resource": table.held(existing(system)[table.on])})
    if isinstance(table, Lock):
        return table.model_copy(update={"table": table.table or system.application.lockable[0]})
    assert isinstance(table, Disturbance)
    return table


def _placed(
    fixed: list[_Placed],
    to_place: Sequence[_Open],
    phases: Phases,
    dice: random.Random,
) -> list[_Placed]:
    """Give each a start, evenly over what is free; one that finds none makes all start anew."""
    stuck = None
    for _ in range(TRIES):
        placed = list(fixed)
        for it in to_place:
            start = _start(it, placed, phases, dice)
            if start is None:
                stuck = it
                break
            placed.append(_Placed(start, it.what, it.gap_ns))
        else:
            return placed
    assert stuck is not None
    raise NoRoomError(
        f"disturb[{stuck.place}] finds no room in the runtime of"
        f" {format_duration(phases.runtime_ns)} beside the others, {format_duration(stuck.gap_ns)}"
        " apart; ask for fewer, a smaller gap or a longer runtime"
    )


def _start(it: _Open, placed: Sequence[_Placed], phases: Phases, dice: random.Random) -> int | None:
    """A start drawn evenly over the moments that are free, in whole milliseconds."""
    earliest = max(MARGIN_NS, PREPARATION_NS - phases.ramp_up_ns)
    latest = phases.runtime_ns - MARGIN_NS - it.what.duration_ns
    free = list(_free(earliest, latest, it, placed))
    rooms = [last - first + 1 for first, last in free]
    if not free:
        return None
    nth = dice.randrange(sum(rooms))
    for (first, _), room in zip(free, rooms, strict=True):
        if nth < room:
            return (first + nth) * MILLISECOND
        nth -= room
    raise AssertionError("the rooms add up")


def _free(
    earliest: int, latest: int, it: _Open, placed: Sequence[_Placed]
) -> Iterator[tuple[int, int]]:
    """First and last millisecond of each stretch in which it may start."""
    begin = earliest
    for other in sorted(placed, key=lambda found: found.at_ns):
        gap = max(it.gap_ns, other.gap_ns, _apart_ns(it.what, other.what))
        before = other.at_ns - gap - it.what.duration_ns
        yield from _whole(begin, min(before, latest))
        begin = max(begin, other.at_ns + other.what.duration_ns + gap)
    yield from _whole(begin, latest)


def _whole(first_ns: int, last_ns: int) -> Iterator[tuple[int, int]]:
    first, last = math.ceil(first_ns / MILLISECOND), last_ns // MILLISECOND
    if first <= last:
        yield first, last
