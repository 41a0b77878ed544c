"""Who is called by users and who calls whom, as far as a compose file tells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tierlab.servers.own_options import USUAL_PORTS
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.service import Service

HTTP = "http"


def entry_of(services: Sequence[Service], said: str | None, findings: Findings) -> Service | None:
    """The service that users call: the one that is said; else that is published, speaks HTTP and
    that no other depends on.
    """
    if said is not None:
        found = next((each for each in services if said in (each.name, each.tier)), None)
        if found is None:
            findings.wrong("services", f'has no "{said}", which system.entry names')
        return found
    behind = {name for each in services for name in each.after}
    spoken = [each for each in services if _protocol(each) == HTTP]
    for among in (
        [each for each in spoken if each.published and each.name not in behind],
        [each for each in spoken if each.published],
        [each for each in spoken if each.name not in behind],
    ):
        if len(among) == 1:
            findings.note(f"users call {among[0].name}, at port {among[0].table.get('port')}")
            return among[0]
        if among:
            names = ", ".join(each.name for each in among)
            findings.wrong(
                "services", f"may be called by users at {names}; say which: system.entry"
            )
            return None
    findings.wrong("services", "has none that publishes a port and speaks HTTP; say system.entry")
    return None


def _protocol(service: Service) -> str:
    said = service.table.get("protocol")
    return str(said) if said else USUAL_PORTS.get(service.table.get("port", 0), HTTP)


def calls_of(
    services: Sequence[Service], given: Mapping[str, Mapping[str, Any]], findings: Findings
) -> dict[str, list[str]]:
    """By tier, the tiers that it calls: as the experiment file says; else those it depends on, and
    those whose names its variables or its command have where an address has a host.
    """
    tiers = {each.name: each.tier for each in services}
    called: dict[str, list[str]] = {each.tier: [] for each in services}
    for service in services:
        own = given.get(service.tier, {}).get("calls")
        if isinstance(own, list):
            called[service.tier] = own
            continue
        for other, why in _reasons(service, services):
            tier = tiers[other]
            if tier in called[service.tier] or _reaches(called, tier, service.tier):
                continue
            called[service.tier].append(tier)
            findings.note(f"{service.name} calls {other}, {why}")
    return called


def _reasons(service: Service, services: Sequence[Service]) -> Iterator[tuple[str, str]]:
    for name in service.after:
        if any(each.name == name for each in services):
            yield name, "since it depends on it"
    texts = {key: str(service.table.get(key) or "") for key in ("command", "entrypoint")}
    texts |= dict(service.table.get("environment") or {})
    for each in services:
        aliases = [alias for alias, name in service.aliases.items() if name == each.name]
        for name in (each.name, *each.table.get("names", ()), *aliases):
            key = next((key for key, text in texts.items() if _is_host(name, text)), None)
            if each is not service and key is not None:
                yield each.name, f"which its {key} names"


def _is_host(name: str, text: str) -> bool:
    """Whether a text has the name where an address has its host."""
    host = re.escape(name)
    return (
        re.search(rf"(?:^|//|@|[\s=,]){host}:\d+|(?://|@){host}(?=[/?,]|$)|^{host}$", text)
        is not None
    )


def _reaches(called: Mapping[str, Sequence[str]], begin: str, end: str) -> bool:
    """Whether calls lead from one to the other."""
    waiting, seen = [begin], set()
    while waiting:
        tier = waiting.pop()
        if tier == end:
            return True
        if tier not in seen:
            seen.add(tier)
            waiting += called.get(tier, ())
    return False


def in_order(entry: str, called: Mapping[str, Sequence[str]]) -> list[str]:
    """The tiers that calls lead to, who calls before whom it calls."""
    order: list[str] = []

    def visit(tier: str, above: frozenset[str]) -> None:
        if tier in order or tier in above:
            return
        for each in reversed(called.get(tier, ())):
            visit(each, above | {tier})
        order.append(tier)

    visit(entry, frozenset())
    return order[::-1]
