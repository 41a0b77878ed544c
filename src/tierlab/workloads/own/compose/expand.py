"""The servers of a compose file in place of the key that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.own_options import FOUND
from tierlab.servers.placeholders import literal, named
from tierlab.workloads.own.compose.env_file import of_the_project
from tierlab.workloads.own.compose.files import files_over
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.graph import calls_of, entry_of, in_order
from tierlab.workloads.own.compose.keys import look_at_top
from tierlab.workloads.own.compose.once import awaited, before, run_before, with_first
from tierlab.workloads.own.compose.places import published_ports
from tierlab.workloads.own.compose.replaced import takes_place
from tierlab.workloads.own.compose.service import Reader, Service
from tierlab.workloads.own.compose.shapes import shaped

KEYS = ("compose", "entry", "services")
"""Of a system's table: the file, whom users call, and the services that are servers."""
LONGEST = 12
OWN_PLACES = ("address", "port", "socket")
"""What a server's texts may leave open of its own place."""


@dataclass(frozen=True)
class Expanded:
    """A system's table with servers for services, and what was assumed of them."""

    system: dict[str, Any]
    notes: tuple[str, ...] = ()


def expanded(system: Mapping[str, Any]) -> Expanded:
    """The table without its keys of a compose file; `UserError` for all that is wrong there.

    What the table says of a server itself is added to what the file says, or instead of it.
    """
    if not isinstance(system.get("compose"), str):
        return Expanded(dict(system))
    file = Path(str(system["compose"]))
    findings = Findings(file)
    variables = of_the_project(file.parent, findings)
    document = _document(file, variables, findings)
    given = {name: each for name, each in system.items() if isinstance(each, dict)}
    reader = Reader(file.parent, document, findings, variables, given)
    services, once = _services(reader, system.get("services"))
    findings.settle()
    further = _users_call(system)
    among = [each for each in services if each.tier not in further]
    entry = entry_of(among, system.get("entry"), findings)
    called = calls_of(services, given, findings)
    findings.settle()
    assert entry is not None  # or it was settled
    order = in_order(entry.tier, called)
    for tier in further:
        order += [each for each in in_order(tier, called) if each not in order]
    unseen = [each for each in services if each.tier not in order]
    if any(each.get("calls") == FOUND for each in given.values()):
        order, unseen = [*order, *(each.tier for each in unseen)], []
    for each in unseen:
        findings.wrong(
            f"services.{each.name}",
            "is called by no service, as far as the file tells; say who calls it in that server's"
            ' calls (or "found" there), or leave it out: system.services lists those that are'
            " servers",
        )
    findings.settle()
    done = [each.tier for each in once.values()]
    rest = {name: each for name, each in system.items() if name not in (*KEYS, *order, *done)}
    tables = {each.tier: _merged(each, called, given) for each in services}
    tables |= _with_first(services, once, order, tables, findings)
    findings.settle()
    return Expanded({**rest, **{tier: tables[tier] for tier in order}}, tuple(findings.notes))


def published(system: Mapping[str, Any]) -> dict[int, str]:
    """Return the servers of a system's compose file by the ports of this host at which Docker
    publishes them. `UserError` for a file that cannot be read.
    """
    if not isinstance(system.get("compose"), str):
        return {}
    file = Path(str(system["compose"]))
    findings = Findings(file)
    variables = of_the_project(file.parent, findings)
    document = _document(file, variables, findings)
    said = document["services"]
    started = _started(Reader(file.parent, document, findings, variables, {}), said)
    once = awaited(said, started)
    tiers = _tiers(name for name in started if name not in once)
    return {
        port: tier
        for name, tier in tiers.items()
        for port in published_ports(said[name].get("ports") or [])
    }


def _users_call(system: Mapping[str, Any]) -> list[str]:
    """Return the servers that users call beside the first, as far as the file has them."""
    sessions = system.get("sessions")
    named = sessions.get("servers") if isinstance(sessions, dict) else None
    return list(map(str, named.values())) if isinstance(named, dict) else []


def _document(file: Path, variables: Mapping[str, str], findings: Findings) -> dict[str, Any]:
    """Return the tables of a file, and of those that are merged over it or included, all in one
    form.
    """
    # It needs YAML, which only who has such a file has to load.
    from tierlab.workloads.own.compose.model import Project, model

    files = (file, *files_over(file, variables, findings))
    document = model(files, Project(file.parent, variables, findings))
    services = document.get("services")
    if not isinstance(services, dict) or not services:
        findings.settle()  # an include may be why
        raise UserError(f"{file}: has no services; name a compose file.")
    if not all(isinstance(each, dict) for each in services.values()):
        raise UserError(f"{file}: services must be tables, each with an image.")
    document = shaped(document, findings)
    look_at_top(document, findings)
    return document


def _services(reader: Reader, chosen: Any) -> tuple[list[Service], dict[str, Service]]:
    """Return those that are servers (of these, or all that are started without a word), and those
    that end before others begin, by name.
    """
    said: Mapping[str, Mapping[str, Any]] = reader.document["services"]
    names = _started(reader, said)
    if isinstance(chosen, list):
        for name in chosen:
            if name not in said:
                reader.findings.wrong("services", f'has no "{name}", which system.services names')
        names = [name for name in said if name in chosen]
    once = awaited(said, names)
    names = [name for name in names if name not in once]
    run = run_before(said, names, once, chosen, reader)
    reader = replace(reader, once=once)
    tiers = _tiers([*names, *run])
    made = [reader.service(name, tiers[name], said[name]) for name in names]
    for each in made:
        for name in (name for name in each.after if name not in names):
            reader.findings.note(f"{each.name} depends on {name}, which is left out")
        _look_at_places(each, [*tiers.values()], reader.findings)
    for each in made:
        for alias, name in each.aliases.items():
            other = next((one for one in made if one.name == name), None)
            if other is not None and alias not in (other.tier, *other.table.get("names", ())):
                other.table.setdefault("names", []).append(alias)
    ending = {name: reader.service(name, tiers[name], each) for name, each in run.items()}
    for each in made:
        behind = [name for one in before(each, ending) for name in one.after if name != each.name]
        each.after = tuple(dict.fromkeys((*each.after, *behind)))
    return made, ending


def _look_at_places(service: Service, tiers: Sequence[str], findings: Findings) -> None:
    """Say where Tierlab puts something in for braces that are a text to compose."""
    texts = {key: str(service.table.get(key) or "") for key in ("command", "entrypoint")}
    texts |= {f"environment.{key}": each for key, each in _variables(service).items()}
    for key, text in texts.items():
        for name in named(text, [*tiers, *OWN_PLACES]):
            findings.note(
                f'services.{service.name}.{key}: has braces about "{name}", for which Tierlab puts'
                " in an address or a port"
            )


def _variables(service: Service) -> dict[str, str]:
    return dict(service.table.get("environment") or {})


def _started(reader: Reader, said: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the services that have no profile, or one that COMPOSE_PROFILES names."""
    asked = {each.strip() for each in reader.variables.get("COMPOSE_PROFILES", "").split(",")}
    names = []
    for name, each in said.items():
        profiles = each.get("profiles") or []
        if not profiles or "*" in asked or asked & set(map(str, profiles)):
            names.append(name)
        else:
            reader.findings.note(
                f"{name} is left out, as it has a profile ({', '.join(map(str, profiles))}):"
                " COMPOSE_PROFILES or system.services brings it in"
            )
    return names


def _with_first(
    services: Iterable[Service],
    once: Mapping[str, Service],
    order: Sequence[str],
    tables: Mapping[str, Mapping[str, Any]],
    findings: Findings,
) -> dict[str, dict[str, Any]]:
    """Return the tables of the servers that run others to their end before they begin: of all that
    wait for one, the first that is started, which is the last in the order.
    """
    made, left = {}, set(once)
    for each in sorted(services, key=lambda each: order.index(each.tier), reverse=True):
        first = [one for one in before(each, once) if one.name in left]
        left -= {one.name for one in first}
        if not first:
            continue
        if "image" not in tables[each.tier]:
            names = ", ".join(one.name for one in first)
            findings.note(f"{names} is not run, as another server takes the place of {each.name}")
            continue
        made[each.tier] = with_first(each, tables[each.tier], first, findings)
    return made


def _tiers(names: Iterable[str]) -> dict[str, str]:
    """The names of the services' servers: their own as far as letters and digits go."""
    found: dict[str, str] = {}
    for name in names:
        base = re.sub(r"[^a-z0-9]", "", name.lower()).lstrip("0123456789")[:LONGEST] or "server"
        tier, number = base, 2
        while tier in found.values() or tier == "sessions":
            tier = f"{base[: LONGEST - len(str(number))]}{number}"
            number += 1
        found[name] = tier
    return found


def _merged(
    service: Service,
    called: Mapping[str, list[str]],
    given: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """What the compose file says, and over it what the experiment file does."""
    own = dict(given.get(service.tier, {}))
    if takes_place(own):
        left = {"names": service.table.get("names"), "calls": called[service.tier]}
        return {**{key: value for key, value in left.items() if value}, **own}
    base = {**service.table, "calls": called[service.tier]}
    if variables := _variables(service):
        base["environment"] = {name: literal(value) for name, value in variables.items()}
    tables = [each for each in (base, own) if isinstance(each.get("environment"), dict)]
    environment: dict[str, Any] = reduce(
        lambda made, each: {**made, **each["environment"]}, tables, {}
    )
    return {**base, **own, **({"environment": environment} if environment else {})}
