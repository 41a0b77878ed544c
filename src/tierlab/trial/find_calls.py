"""Calls and protocols that no file says, seen before the runs: one user goes through, and the agent
looks who calls whom.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tierlab.experiment import Experiment, System, SystemPlan, TrialPlan
from tierlab.experiment.checking import checking
from tierlab.topology import TLS, UNREAD, Seen, spoken
from tierlab.trial.needs import check_needs
from tierlab.trial.progress import Progress
from tierlab.trial.rehearsal import rehearse

SECONDS = 2
"""How long the user goes through."""

Say = Callable[[str], None]


def leaves_calls_open(asked: Experiment) -> bool:
    """Whether the file leaves it to be found who calls whom, or what is spoken."""
    return any(_is_open(each) for plan in asked.trials() for each in plan.systems)


def with_found_calls(asked: Experiment, progress: Progress, say: Say) -> Experiment:
    """The experiment with the calls and protocols that its file leaves to be found.

    What differs between its trials in other things than who is there is looked at once. What was
    found is said, and also whom nobody was seen to call: those stay called by the first server.
    """
    known: dict[str, list[Seen] | None] = {}
    plans = []
    for plan in asked.trials():
        if any(map(_is_open, plan.systems)):
            key = _key(plan)
            if key not in known:
                known[key] = _look(plan, asked.source, progress, say)
            plans.append(completed(plan, known[key] or []))
        else:
            plans.append(plan)
    return asked.with_trials(tuple(plans)) if known else asked


def _is_open(asked: SystemPlan) -> bool:
    return bool(asked.system.application.finds_calls or asked.system.application.finds_protocols)


WHO = (
    *("command", "address", "port", "server", "folder", "environment", "calls", "protocol"),
    *("image", "entrypoint", "names"),
)
"""Keys of a server by which it may call others."""


def _key(plan: TrialPlan) -> str:
    return json.dumps([list(_servers(each.system)) for each in plan.systems], sort_keys=True)


def _servers(system: System) -> Iterator[tuple[str, dict[str, Any]]]:
    tables = _tables(system)
    for name in system.tiers:
        yield name, {key: tables[name].get(key) for key in WHO}


def _tables(system: System) -> dict[str, Any]:
    return system.model_dump(mode="json", by_alias=True, exclude_none=True)


def _look(plan: TrialPlan, source: str, progress: Progress, say: Say) -> list[Seen] | None:
    short = Experiment.from_tables(checking(plan.as_file(), SECONDS), source).trials()[0]
    check_needs(short)
    with tempfile.TemporaryDirectory(prefix="tierlab-calls-") as runs:
        _, manifest = rehearse(short, Path(runs), progress)
    if manifest.seen is None:
        reason = manifest.not_measured.get("calls", "nobody looked")
        say(f"who calls whom cannot be seen here ({reason}): the first server is taken to call all")
        return None
    known = [each for each in manifest.seen if each.caller is not None]
    called = {(each.caller, each.callee) for each in known}
    for caller, callee in dict.fromkeys((s.caller, s.callee) for s in known if s.callee):
        seen = [each for each in known if (each.caller, each.callee) == (caller, callee)]
        say(f"found: {caller} -> {callee} {' and '.join(spoken(seen)) or '(silent)'}")
    for call in manifest.calls or ():
        if (call.caller, call.callee) not in called:
            say(
                f"{call.caller} was not seen to call {call.callee}, and is taken to: say in `calls`"
                " who does"
            )
    return known


def completed(plan: TrialPlan, seen: Sequence[Seen]) -> TrialPlan:
    """The plan with what was seen in the place of what its file leaves open.

    It runs again without another look. Whom nobody was seen to call is called as before.
    """
    found: set[tuple[str, str, str]] = set()
    systems = []
    for each in plan.systems:
        calls = [_own(call, each.name) for call in seen if _is_of(call, each.name)]
        between = [call for call in calls if call.callee is not None]
        tables = _tables(each.system)
        open_ = each.system.application.finds_calls
        for tier in each.system.tiers:
            tables[tier] |= _keys(tier, each.system, between)
        found |= {
            (each.name, _tier(str(call.caller)), _tier(str(call.callee)))
            for call in between
            if _tier(str(call.caller)) in open_
        }
        systems.append(each.model_copy(update={"system": System.of(tables)}))
    several = tuple(systems) if plan.several else ()
    update = {"system": systems[0].system, "several": several, "found": frozenset(found)}
    return plan.model_copy(update=update)


def _keys(tier: str, system: System, calls: Sequence[Seen]) -> dict[str, Any]:
    """What the table of a tier is to say of what was left open."""
    keys: dict[str, Any] = {}
    if tier in system.application.finds_calls:
        callees = [_tier(str(call.callee)) for call in calls if _tier(str(call.caller)) == tier]
        called = {_tier(str(call.callee)) for call in calls}
        # Whom nobody was seen to call is called as it was taken to be.
        silent = [each for each in system.callees(tier) if each not in called]
        keys["calls"] = list(dict.fromkeys((*(c for c in callees if c != tier), *silent)))
    if tier in system.application.finds_protocols:
        spoken_there = spoken([call for call in calls if _tier(str(call.callee)) == tier])
        if spoken_there:
            keys["protocol"] = UNREAD if spoken_there[0] == TLS else spoken_there[0]
    return keys


def _is_of(call: Seen, system: str) -> bool:
    return not system or str(call.caller).startswith(f"{system}.")


def _own(call: Seen, system: str) -> Seen:
    """The call with the names that the servers have in their own system."""

    def cut(name: str | None) -> str | None:
        return name.removeprefix(f"{system}.") if name and system else name

    return replace(call, caller=cut(call.caller), callee=cut(call.callee))


def _tier(server: str) -> str:
    return server.rpartition(".")[0]
