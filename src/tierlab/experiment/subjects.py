"""The servers that a system may have, by name, as disturbances and changes speak of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from tierlab.servers.base import Server
from tierlab.values.word import Word
from tierlab.workloads.kinds import WORKLOADS, servers


def _names(software: Callable[[type[Server]], object] = lambda _: True) -> tuple[str, ...]:
    """The servers that a system may have of such software, in a request's order."""
    return tuple(dict.fromkeys(name for name, kind in servers() if software(kind)))


ANYONE = _names()
DATABASES = _names(lambda kind: kind.is_database)
POOLED = _names(lambda kind: kind.holdable)
COLLECTING = _names(lambda kind: kind.collects)
RESTARTABLE = _names(lambda kind: kind.restart_signal is not None)
ENTRIES = tuple(
    dict.fromkeys(
        f"{tier}.{number}"
        for tier, declared in (
            next(iter(each.tiers.items())) for each in WORKLOADS.values() if each.tiers
        )
        for number in range(1, declared.most + 1)
    )
)
"""Whom users call."""
APPLICATION = COLLECTING[0]
"""Where what has no natural server is done unless said otherwise."""
RESOURCES = tuple(dict.fromkeys(name for _, kind in servers() for name in kind.holdable))
"""What class `pool` can hold in one server or another."""
LOCKABLE = tuple(dict.fromkeys(name for each in WORKLOADS.values() for name in each.lockable))

Anyone = Annotated[str, Word(ANYONE)]
Database = Annotated[str, Word(DATABASES)]
