"""What a profile needs of this machine, and which events it samples here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.perf_data import PROGRAMS
from tierlab.experiment.profile import HARDWARE, TIME, Profile
from tierlab.machine.kernel_calls import (
    PERF_COUNT_HW_CYCLES,
    PERF_COUNT_SW_CPU_CLOCK,
    PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE,
    perf_event_open,
)
from tierlab.servers.base import Server
from tierlab.servers.programs import check_programs

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
        os.close(perf_event_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, everybody=True))
    except OSError as error:
        raise UserError(
            f"observe.profile: all processes cannot be sampled here ({error.strerror}); run"
            " 'sysctl kernel.perf_event_paranoid=-1', or be root."
        ) from error
    _check_rate(profile)
    wanted = [each for each in profile.events if each in HARDWARE]
    if profile.events != TIME and wanted and not counts_cycles():
        raise UserError(
            f"observe.profile.events: this machine's processor counts no {wanted[0]} (a virtual one"
            ' often has no counters); take "time" or other events.'
        )


def _check_rate(profile: Profile) -> None:
    most = int(MOST_RATE.read_text())
    if profile.rate > most:
        raise UserError(
            f"observe.profile.rate: {profile.rate} is more than the {most} samples a second that"
            " this kernel allows; take fewer, or raise kernel.perf_event_max_sample_rate."
        )


def events_of(profile: Profile) -> tuple[str, ...]:
    """The events to sample here, by perf's names."""
    if isinstance(profile.events, tuple):
        return profile.events
    return ("cycles",) if counts_cycles() else ("cpu-clock",)


def counts_cycles() -> bool:
    """Whether the processor has counters that may be used."""
    try:
        os.close(perf_event_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CYCLES, everybody=True))
    except OSError:
        return False
    return True
