"""From an experiment's run folders to the paper's cases."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath

from tierlab.analysis.comparing.blocks import blocks
from tierlab.analysis.comparing.groups import groups_of
from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.resources.profile import profile
from tierlab.analysis.resources.resources import resources
from tierlab.errors import UserError
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.published import Published
from tierlab.tables.run import Run


def gather(folder: Path, published: Published) -> Cases:
    """All trials of an experiment that came to their end, by the paper's cases; trials that are of
    none are left out. UserError where there are none.
    """
    found = []
    groups = groups_of(folder)
    for case in published.cases:
        runs = [r for group in groups for r in group.runs if r.manifest.factors == case.levels]
        if trials := [trial for run in runs if (trial := _trial(run)) is not None]:
            found.append(Case(case.name, case.printed, case.levels, trials, published.run_s))
    if not found:
        raise UserError(f"{folder}: has no trial of any case of this study; run it first.")
    return Cases(found)


def _trial(run: Run) -> Trial | None:
    """A trial in which some request ended well."""
    observed = observe(run)
    if observed.measured is None or not run.has("requests"):
        return None
    cut = blocks(observed.db, observed.measured, most=None)
    if not cut.done.any():
        return None
    return Trial(run.manifest, cut, _programs(observed), _busy(observed))


def _busy(observed: Observed) -> dict[int, float]:
    """The mean utilisation of each PU."""
    if observed.measured is None or not observed.run.has("cpu"):
        return {}
    return {
        int(each.subject.removeprefix("cpu")): each.mean
        for each in resources(observed.db, observed.measured)
        if (each.table, each.metric) == ("cpu", "busy")
    }


def _programs(observed: Observed) -> dict[str, dict[str, int]]:
    """The programs' shares of a profile, by domain; of the event that was sampled most."""
    if observed.measured is None or not observed.run.has("counters"):
        return {}
    first = next(iter(profile(observed.db, observed.measured, top=sys.maxsize)), None)
    found: dict[str, dict[str, int]] = {}
    for domain in first.domains if first is not None else []:
        mine = found.setdefault(domain.domain, {})
        for line in domain.binaries:
            name = PurePath(line.binary or "(unknown)").name
            mine[name] = mine.get(name, 0) + line.count
    return found
