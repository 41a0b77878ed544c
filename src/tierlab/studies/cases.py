"""The trials of a study, by the paper's cases: what of them is compared over cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tierlab.analysis.comparing.blocks import Blocks, middle_s
from tierlab.analysis.comparing.instability import Instability, instability
from tierlab.analysis.query import Floats
from tierlab.analysis.resources.in_force import InForce
from tierlab.tables.manifest import Manifest


@dataclass(frozen=True)
class Trial:
    """One trial, its runtime cut into blocks of about a second. ``programs`` are the events of its
    profile's first event by domain and program, ``busy`` the mean utilisation of the machine's PUs;
    empty where none was taken.
    """

    manifest: Manifest
    blocks: Blocks
    programs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    busy: Mapping[int, float] = field(default_factory=dict)

    def runs(self, run_s: float) -> Floats:
        """Throughput of each whole run of so many seconds, one after the other, in requests a
        second.
        """
        return self._by_run(self.blocks.done, run_s) / self._length_s(run_s)

    def times_s(self, run_s: float) -> Floats:
        """Mean response time of each whole run of so many seconds in which a request ended."""
        done, times = (self._by_run(each, run_s) for each in (self.blocks.done, self.blocks.time_s))
        found: Floats = times[done > 0] / done[done > 0]
        return found

    def dnu(self, run_s: float) -> Floats:
        """The subject's DNU in the middle of each run; NaN where it is not placed."""
        count = self._by_run(self.blocks.done, run_s).size
        middles = (np.arange(count) + 0.5) * self._length_s(run_s) * 1e9
        found = np.full(count, np.nan)
        for degree in self.manifest.dnu.get(self.subject, ()):
            found[middles >= degree.from_ns] = degree.dnu
        return found

    @property
    def subject(self) -> str:
        """Whose mapping such studies vary: the server that the users ask."""
        topology = self.manifest.topology
        return next(name for name in topology.tier_of if not topology.callers(name))

    @property
    def first_tier(self) -> str:
        """The tier that the users ask."""
        return self.manifest.topology.tier_of[self.subject]

    @property
    def first_use(self) -> float | None:
        """CPU use of the tiers that users ask, one of each system, in PUs; None where one was not
        measured.
        """
        return self._use(self.manifest.topology.entries)

    @property
    def last_use(self) -> float | None:
        """The same of the tiers that call nobody."""
        topology = self.manifest.topology
        return self._use([name for name in topology.tier_of if not topology.callees(name)])

    @property
    def pus(self) -> frozenset[int] | None:
        """The PUs that all servers together may run on, as read back at first; None where that is
        not known of one.
        """
        held = InForce(self.manifest)
        found = [held.at(name, 0).pus for name in self.manifest.servers]
        known = [each for each in found if each is not None]
        return frozenset().union(*known) if known and len(known) == len(found) else None

    def _use(self, servers: Sequence[str]) -> float | None:
        tier_of = self.manifest.topology.tier_of
        taken = [self.cpu_s(tier) for tier in {tier_of[name] for name in servers}]
        known = [each for each in taken if each is not None]
        return sum(known) * self.throughput if known and len(known) == len(taken) else None

    def cpu_s(self, tier: str) -> float | None:
        """CPU time that a tier's servers took for a request that ended well, or their hypervisors;
        None where it was not measured.
        """
        mine = [
            self.blocks.cpu_s[name]
            for name, server in self.manifest.servers.items()
            if server.tier == tier and name in self.blocks.cpu_s
        ]
        done = self.blocks.done.sum()
        return float(np.sum(mine) / done) if mine and done else None

    @property
    def all_cpu_s(self) -> float | None:
        """CPU time that all servers, hypervisors and domains that serve them took for a request
        that ended well; None where a server's was not measured.
        """
        if not self.manifest.servers.keys() <= self.blocks.cpu_s.keys():
            return None
        taken = [each.sum() for each in self.blocks.cpu_s.values()]
        return float(np.sum(taken) / self.blocks.done.sum())

    @property
    def all_use(self) -> float | None:
        """CPU use of all of these, in PUs; None where a server's was not measured."""
        return None if self.all_cpu_s is None else self.all_cpu_s * self.throughput

    @property
    def response_s(self) -> float:
        """Mean response time."""
        return float(self.blocks.time_s.sum() / self.blocks.done.sum())

    @property
    def throughput(self) -> float:
        """Requests a second that ended well."""
        return float(self.blocks.done.sum() / self.seconds)

    def page(self, name: str) -> tuple[float, float]:
        """How many requests of an interaction ended well, of all systems together, and their
        response times added up, in seconds (to half a percent of each).
        """
        mine = [
            each.sum(axis=0)
            for called, each in self.blocks.times.items()
            if called.rpartition(": ")[2] == name
        ]
        counts: Floats = np.sum(mine, axis=0) if mine else np.zeros(0)
        middles = middle_s(np.arange(counts.size, dtype=np.float64))
        return float(counts.sum()), float(np.sum(counts * middles))

    @property
    def seconds(self) -> float:
        """How long its runtime was, as cut."""
        return self.blocks.done.size * self.blocks.seconds

    def _per_run(self, run_s: float) -> int:
        return max(1, round(run_s / self.blocks.seconds))

    def _length_s(self, run_s: float) -> float:
        return self._per_run(run_s) * self.blocks.seconds

    def _by_run(self, values: Floats, run_s: float) -> Floats:
        each = self._per_run(run_s)
        whole = values.size // each
        sums: Floats = values[: whole * each].reshape(whole, each).sum(axis=1)
        return sums


@dataclass(frozen=True)
class Case:
    """The trials at one combination of levels; ``name`` and ``printed`` are the paper's."""

    name: str
    printed: Mapping[str, str]
    levels: Mapping[str, Any]
    trials: Sequence[Trial]
    run_s: float | None
    """How long one run lasts; None where a whole trial is one."""

    @cached_property
    def runs(self) -> Floats:
        """Throughput of every run."""
        if self.run_s is None:
            return np.array([trial.throughput for trial in self.trials])
        return np.concatenate([trial.runs(self.run_s) for trial in self.trials])

    @cached_property
    def times_s(self) -> Floats:
        """Mean response time of every run in which a request ended."""
        if self.run_s is None:
            return np.array([trial.response_s for trial in self.trials])
        return np.concatenate([trial.times_s(self.run_s) for trial in self.trials])

    @cached_property
    def degrees(self) -> Floats:
        """The subject's DNU in each of these runs."""
        if self.run_s is None:
            return np.array([trial.dnu(trial.seconds)[0] for trial in self.trials])
        return np.concatenate([trial.dnu(self.run_s) for trial in self.trials])

    @cached_property
    def instability(self) -> Instability:
        """ADIN and MMR of the runs."""
        return instability(self.runs.tolist())

    def mean(self, figures: Sequence[float | None]) -> float | None:
        """The mean of a figure of each trial; None where one lacks it."""
        known = [each for each in figures if each is not None]
        return float(np.mean(known)) if known and len(known) == len(figures) else None

    @property
    def dnu(self) -> float | None:
        """The highest DNU of any run; None where the subject is not placed."""
        return None if np.isnan(self.degrees).all() else float(np.nanmax(self.degrees))


@dataclass(frozen=True)
class Cases:
    """All cases of a study that have trials, in the paper's order."""

    cases: Sequence[Case]

    def where(self, key: str, level: str) -> Case | None:
        """The case at a level of one factor."""
        return next((case for case in self.cases if case.levels.get(key) == level), None)
