"""The servers of a compose file in place of the key that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.own_options import FOUND
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.graph import calls_of, entry_of, in_order
from tierlab.workloads.own.compose.replaced import takes_place
from tierlab.workloads.own.compose.service import Reader, Service
from tierlab.workloads.own.compose.shapes import shaped
from tierlab.workloads.own.compose.variables import Interpolation, of_the_project

KEYS = ("compose", "entry", "services")
"""Of a system's table: the file, whom users call, and the services that are servers."""
LONGEST = 12
MOST_BYTES = 1 << 20


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
    document = _document(file)
    variables = of_the_project(file.parent, findings)
    document = shaped(Interpolation(variables, findings).all(document), findings)
    given = {name: each for name, each in system.items() if isinstance(each, dict)}
    reader = Reader(file.parent, document, findings, variables, given)
    services = _services(reader, system.get("services"))
    findings.settle()
    entry = entry_of(services, system.get("entry"), findings)
    called = calls_of(services, given, findings)
    findings.settle()
    assert entry is not None  # or it was settled
    order = in_order(entry.tier, called)
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
    rest = {name: each for name, each in system.items() if name not in (*KEYS, *order)}
    tables = {each.tier: _merged(each, called, given) for each in services}
    return Expanded({**rest, **{tier: tables[tier] for tier in order}}, tuple(findings.notes))


def _document(file: Path) -> dict[str, Any]:
    # By who has such a file.
    import yaml

    from tierlab.workloads.own.compose.scalars import Loader

    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise UserError(f"{file}: is over 1 MiB; that is no compose file.")
        document = yaml.load(text, Loader)
    except OSError as error:
        raise UserError(f"system.compose: {file} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" (line {mark.line + 1})"
        raise UserError(f"{file}: is not valid YAML{where}.") from None
    services = document.get("services") if isinstance(document, dict) else None
    if not isinstance(services, dict) or not services:
        raise UserError(f"{file}: has no services; name a compose file.")
    if not all(isinstance(each, dict) for each in services.values()):
        raise UserError(f"{file}: services must be tables, each with an image.")
    if "include" in document:
        raise UserError(f"{file}: include is not followed; write the services of those files here.")
    return {str(key): value for key, value in document.items()}


def _services(reader: Reader, chosen: Any) -> list[Service]:
    """Those that are servers: of these, or all that belong to no profile."""
    said: Mapping[str, Mapping[str, Any]] = reader.document["services"]
    names = [name for name, each in said.items() if not each.get("profiles")]
    if isinstance(chosen, list):
        for name in chosen:
            if name not in said:
                reader.findings.wrong("services", f'has no "{name}", which system.services names')
        names = [name for name in said if name in chosen]
    tiers = _tiers(names)
    made = [reader.service(name, tiers[name], said[name]) for name in names]
    for each in made:
        for alias, name in each.aliases.items():
            other = next((one for one in made if one.name == name), None)
            if other is not None and alias not in (other.tier, *other.table.get("names", ())):
                other.table.setdefault("names", []).append(alias)
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
    tables = [each for each in (base, own) if isinstance(each.get("environment"), dict)]
    environment: dict[str, Any] = reduce(
        lambda made, each: {**made, **each["environment"]}, tables, {}
    )
    return {**base, **own, **({"environment": environment} if environment else {})}
