"""What a profile needs of this machine, and which events it samples here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.perf_data import PROGRAMS
from tierlab.experiment.profile import TIME, USUAL, Profile
from tierlab.machine.kernel_calls import (
    PERF_COUNT_HW_BRANCH_MISSES,
    PERF_COUNT_HW_CACHE_DTLB,
    PERF_COUNT_HW_CACHE_LL,
    PERF_COUNT_HW_CACHE_MISS,
    PERF_COUNT_HW_CACHE_MISSES,
    PERF_COUNT_HW_CACHE_REFERENCES,
    PERF_COUNT_HW_CYCLES,
    PERF_COUNT_HW_INSTRUCTIONS,
    PERF_COUNT_SW_CPU_CLOCK,
    PERF_TYPE_HARDWARE,
    PERF_TYPE_HW_CACHE,
    PERF_TYPE_SOFTWARE,
    perf_event_open,
)
from tierlab.servers.base import Server
from tierlab.servers.programs import check_programs

NUMBERS = {
    "cycles": (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CYCLES),
    "instructions": (PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
    "branch-misses": (PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES),
    "cache-references": (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES),
    "cache-misses": (PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES),
    "LLC-loads": (PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL),
    "LLC-load-misses": (PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_MISS),
    "dTLB-load-misses": (PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_MISS),
}
"""The kind and the number of each event of `HARDWARE`, as perf_event_open(2) takes them."""
USUALLY_COUNTED = {
    "pmu": ("cycles", "instructions", "cache-references", "cache-misses", "branch-misses"),
    "software": ("page-faults", "context-switches", "cpu-migrations"),
}
"""By who can count them. A processor has fewer counters, which take turns: on each PU an event is
counted twice, of everybody and of the server whose thread runs, and perf samples cycles besides."""
SAMPLE_NS = {"alone": 4_000, "stacks": 8_000}
"""About what a sample costs where it is taken."""
COUNTING = 0.05
"""About what counting for each server costs of every busy PU's time, be it one event or three: for
whom is counted changes whenever another server's thread runs. Seen with RUBBoS, whose four tiers
take turns all the time, with events of the kernel's: bench/profile/perf.py --counted."""
COSTLY = 0.03
"""A higher share of a PU is told of before the trial."""
MOST_RATE = Path("/proc/sys/kernel/perf_event_max_sample_rate")


def check_profile(profile: Profile, environment: str, servers: Iterable[type[Server]]) -> None:
    """Raise :class:`UserError` for what is missing, in one sentence."""
    if environment == "vsphere":
        raise UserError(
            "observe.profile: servers of vsphere run on another machine, into which perf on this"
            " one does not see; remove it, or take another environment."
        )
    check_programs(
        PROGRAMS | {name: package for s in servers for name, package in s.profile_programs.items()}
    )
    try:
        os.close(perf_event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK))
    except OSError as error:
        raise UserError(
            f"observe.profile: all processes cannot be sampled here ({error.strerror}); run"
            " 'sysctl kernel.perf_event_paranoid=-1', or be root."
        ) from error
    _check_rate(profile)
    for key, asked, word in (
        ("events", profile.events, TIME),
        ("counted", profile.counted, USUAL),
    ):
        for each in asked if isinstance(asked, tuple) else ():
            if each in NUMBERS and not counts(each):
                raise UserError(
                    f"observe.profile.{key}: this machine's processor counts no {each} (few count"
                    f' every event, and a virtual one often none); take "{word}" or other events.'
                )
    _warn_of_cost(profile)


@dataclass(frozen=True)
class Cost:
    """The shares of every busy PU's time that a profile takes, about."""

    sampling: float
    counting: float


def expected_cost(profile: Profile) -> Cost:
    """What a profile will cost here."""
    each_ns = SAMPLE_NS["stacks" if profile.stacks else "alone"]
    return Cost(
        sampling=profile.rate * len(events_of(profile)) * each_ns / 1e9,
        counting=COUNTING if counted_of(profile) else 0,
    )


def _warn_of_cost(profile: Profile) -> None:
    cost = expected_cost(profile)
    if cost.sampling + cost.counting <= COSTLY:
        return
    sampled, share = ", ".join(events_of(profile)), "of every busy PU's time"
    parts = [
        f"{profile.rate} samples a second of {sampled} will take some {cost.sampling:.1%} {share}"
        " (a lower rate takes less)"
    ]
    if cost.counting:
        parts.append(
            f"counting events for each server some {cost.counting:.0%}, where servers take turns"
            " often (counted = [] counts none)"
        )
    warnings.warn(f"observe.profile: {' and '.join(parts)}.", stacklevel=2)


def _check_rate(profile: Profile) -> None:
    most = int(MOST_RATE.read_text())
    if profile.rate > most:
        raise UserError(
            f"observe.profile.rate: {profile.rate} is more than the {most} samples a second that"
            " this kernel allows; take fewer, or raise kernel.perf_event_max_sample_rate."
        )


def counted_of(profile: Profile) -> tuple[str, ...]:
    """The events to count here, by perf's names."""
    if isinstance(profile.counted, tuple):
        return profile.counted
    return USUALLY_COUNTED["pmu" if counts_cycles() else "software"]


def events_of(profile: Profile) -> tuple[str, ...]:
    """The events to sample here, by perf's names."""
    if isinstance(profile.events, tuple):
        return profile.events
    return ("cycles",) if counts_cycles() else ("cpu-clock",)


def counts_cycles() -> bool:
    """Whether the processor has counters that may be used."""
    return counts("cycles")


def counts(event: str) -> bool:
    """Whether the processor counts this event of `HARDWARE`, and we may have it do so."""
    try:
        os.close(perf_event_open(*NUMBERS[event]))
    except OSError:
        return False
    return True
