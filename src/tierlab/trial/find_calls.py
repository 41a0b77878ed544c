"""Calls and protocols that no file says, seen before the runs: one user goes through, and the agent
looks who calls whom.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.experiment import Experiment, System, SystemPlan, TrialPlan
from tierlab.experiment.checking import checking
from tierlab.tables.manifest import SOME_CALLS
from tierlab.topology import TLS, UNREAD, Seen, heard, spoken
from tierlab.trial.describe import found_in
from tierlab.trial.needs import check_needs
from tierlab.trial.progress import Progress
from tierlab.trial.rehearsal import rehearse
from tierlab.trial.resume import Done, done
from tierlab.workloads.own.secrets import without_secrets

SECONDS = 2
"""How long the user goes through."""

Say = Callable[[str], None]
Complete = Callable[[TrialPlan], TrialPlan]
"""Fills in what a file leaves open."""
Found = frozenset[tuple[str, str, str]]
"""Calls that no file says: the system's name, caller and callee."""


def leaves_calls_open(asked: Experiment) -> bool:
    """Whether the file leaves it to be found who calls whom, or what is spoken."""
    return any(_is_open(each) for plan in asked.trials() for each in plan.systems)


def with_found_calls(
    asked: Experiment, progress: Progress, say: Say, before: Path | None = None
) -> Experiment:
    """The experiment with the calls and protocols that its file leaves to be found.

    What differs between its trials in other things than who is there is looked at once; not at all
    where ``before``, the experiment's folder, has such a trial that is done. What was found is
    said, and also whom nobody was seen to call: those stay called by the first server.
    """
    there = [] if before is None else done(before)
    known: dict[str, Complete] = {}
    plans = []
    for plan in asked.trials():
        if any(map(_is_open, plan.systems)):
            key = _key(plan)
            if key not in known:
                known[key] = _as_in(there, plan, say) or _look(plan, asked.source, progress, say)
            plans.append(known[key](plan))
        else:
            plans.append(plan)
    return asked.with_trials(tuple(plans)) if known else asked


def _is_open(asked: SystemPlan) -> bool:
    return bool(asked.system.application.finds_calls or asked.system.application.finds_protocols)


WHO = (
    *("command", "address", "port", "socket", "server", "folder", "environment", "calls"),
    *("protocol", "image", "entrypoint", "names"),
)
"""Keys of a server by which it may call others."""


def _key(plan: TrialPlan) -> str:
    """Equal for trials of which one look tells who calls whom; secrets are in no run folder."""
    return json.dumps([list(_servers(each.system)) for each in plan.systems], sort_keys=True)


def _servers(system: System) -> Iterator[tuple[str, dict[str, Any]]]:
    tables = without_secrets({"system": _tables(system)})["system"]
    for name in system.tiers:
        yield name, {key: tables[name].get(key) for key in WHO}


def _tables(system: System) -> dict[str, Any]:
    return system.model_dump(mode="json", by_alias=True, exclude_none=True)


def _as_in(there: Sequence[Done], plan: TrialPlan, say: Say) -> Complete | None:
    """What fills in the calls of a trial that is done, with the same servers as the plan's."""
    finds = any(each.system.application.finds_calls for each in plan.systems)
    for each in reversed(there):
        found = found_in(each.manifest)
        if finds and not found:
            continue  # its file said them
        complete = partial(_completed_as, was=each.plan, found=found)
        if _names(each.plan) == _names(plan) and _key(complete(plan)) == _key(each.plan):
            say(f"who calls whom is as it was found for {each.folder}")
            return complete
    return None


def _names(plan: TrialPlan) -> list[tuple[str, list[str]]]:
    return [(each.name, list(each.system.tiers)) for each in plan.systems]


def _completed_as(plan: TrialPlan, was: TrialPlan, found: Found) -> TrialPlan:
    """The plan with what another with its servers says of what its file leaves open."""
    tables = [_tables(each.system) for each in plan.systems]
    for mine, other, asked in zip(tables, was.systems, plan.systems, strict=True):
        application, known = asked.system.application, _tables(other.system)
        for key, tiers in (
            ("calls", application.finds_calls),
            ("protocol", application.finds_protocols),
        ):
            for tier in tiers:
                mine[tier] |= {key: known[tier][key]} if key in known[tier] else {}
    return _with(plan, tables, found)


def _look(plan: TrialPlan, source: str, progress: Progress, say: Say) -> Complete:
    return partial(completed, seen=_seen(plan, source, progress, say))


def _seen(plan: TrialPlan, source: str, progress: Progress, say: Say) -> list[Seen]:
    short = Experiment.from_tables(checking(plan.as_file(), SECONDS), source).trials()[0]
    check_needs(short)
    with tempfile.TemporaryDirectory(prefix="tierlab-calls-") as runs:
        _, manifest = rehearse(short, Path(runs), progress)
    if manifest.seen is None:
        reason = manifest.not_measured.get("calls", "nobody looked")
        say(f"who calls whom cannot be seen here ({reason}): the first server is taken to call all")
        return []
    if SOME_CALLS in manifest.not_measured:
        say(f"of calls was not looked at: {manifest.not_measured[SOME_CALLS]}")
    known = [each for each in manifest.seen if each.caller is not None]
    called = {(each.caller, each.callee) for each in known}
    for caller, callee in dict.fromkeys((s.caller, s.callee) for s in known if s.callee):
        seen = [each for each in known if (each.caller, each.callee) == (caller, callee)]
        say(f"found: {caller} -> {callee} {heard(seen)}")
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
    systems: list[dict[str, Any]] = []
    for each in plan.systems:
        calls = [_own(call, each.name) for call in seen if _is_of(call, each.name)]
        between = [call for call in calls if call.callee is not None]
        _refuse_calls_of_users(each.system, between)
        tables = _tables(each.system)
        open_ = each.system.application.finds_calls
        for tier in each.system.tiers:
            tables[tier] |= _keys(tier, each.system, between)
        found |= {
            (each.name, _tier(str(call.caller)), _tier(str(call.callee)))
            for call in between
            if _tier(str(call.caller)) in open_
        }
        systems.append(tables)
    return _with(plan, systems, frozenset(found))


def _refuse_calls_of_users(system: System, calls: Sequence[Seen]) -> None:
    """Raise `UserError` if a server was seen to call one that users call beside the first."""
    for call in calls:
        caller, callee = _tier(str(call.caller)), _tier(str(call.callee))
        if callee in system.application.users_call and caller != callee:
            raise UserError(
                f"{caller} was seen to call {callee}, which sessions.servers has users call: users"
                " call the first server, and others only if no server calls them; leave"
                f" {callee} out of sessions.servers, or keep {caller} from calling it."
            )


def _with(plan: TrialPlan, tables: Sequence[dict[str, Any]], found: Found) -> TrialPlan:
    """The plan with these tables of its systems, of which those calls were found."""
    systems = [
        each.model_copy(update={"system": System.of(table)})
        for each, table in zip(plan.systems, tables, strict=True)
    ]
    several = tuple(systems) if plan.several else ()
    update = {"system": systems[0].system, "several": several, "found": found}
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
        there = [call for call in calls if _tier(str(call.callee)) == tier]
        usual = [call.protocol for call in there if call.socket and call.protocol]
        spoken_there = spoken(there) or usual
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
