"""Whether the tiers of a system can call each other, and by which protocols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from tierlab.experiment.problem import problem, raise_all
from tierlab.servers.endpoint import UNCALLED
from tierlab.servers.own_options import OwnOptions

if TYPE_CHECKING:
    from tierlab.experiment.system import System


def protocols(shape: System) -> dict[str, tuple[str, int]]:
    """What each tier speaks, and on which port: what those that call it want to.

    Who passes through speaks what is spoken behind it. Raises a `problem` where a tier cannot call
    the next.
    """
    if not shape.tiers:
        raise problem('needs a server, as in web = { command = "node server.js", port = 8080 }')
    entry, users_speak = next(iter(shape.tiers)), shape.application.users_speak
    ports = _ports(shape, entry)
    if not all(ports.values()) or not ports:
        raise problem("is missing: users call the first server", entry, "port")
    if users_speak not in ports:
        raise problem(_not_the_users(shape, entry, ports), entry)
    spoken = {entry: (users_speak, ports[users_speak])}
    for caller in shape.tiers:
        for callee in shape.callees(caller):
            if callee not in spoken:
                spoken[callee] = _protocol(shape, caller, callee)
    spoken |= _by_users(shape, entry, spoken)
    spoken |= {name: (UNCALLED, 0) for name in shape.tiers if not _ports(shape, name)}
    raise_all(
        problem(
            "is called by no server, and users call the first; say in whose `calls` it is, or have"
            ' it seen by calls = "found"',
            name,
        )
        for name in shape.tiers
        if name not in spoken
    )
    return spoken


def _by_users(
    shape: System, entry: str, spoken: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[str, tuple[str, int]]]:
    """What the tiers speak that users call beside the first."""
    users_speak, at = shape.application.users_speak, ("sessions", "servers")
    for name in shape.application.users_call:
        if name not in shape.tiers:
            raise problem(f'names "{name}", which is no server of the system', *at)
        if name == entry:
            raise problem(f"names {name}, which is the first server: users call that anyway", *at)
        if name in spoken:
            caller = next(each for each in shape.tiers if name in shape.callees(each))
            raise problem(
                f"names {name}, which {caller} calls too: users call the first server, and others"
                f" only if no server calls them; leave {name} out, or say in [system.{caller}] whom"
                f" {caller} calls without it (calls = [])",
                *at,
            )
        ports = _ports(shape, name)
        if not ports.get(users_speak):
            raise problem(
                f"names {name}, which speaks {' or '.join(ports) or 'nothing'} and no plain"
                f" {users_speak} at a port: users cannot call it",
                *at,
            )
        yield name, (users_speak, ports[users_speak])


def _not_the_users(shape: System, entry: str, ports: Mapping[str, int]) -> str:
    """What to do about a first server that speaks otherwise than users do."""
    users_speak = shape.application.users_speak
    own = isinstance(shape.tiers[entry].settings.options, OwnOptions)
    or_say = f', or say protocol = "{users_speak}" if it speaks that' if own else ""
    return (
        f"is the first server, which users call over {users_speak}, and speaks"
        f" {' or '.join(ports)}; put the one that they call first{or_say}"
    )


def _protocol(shape: System, caller: str, callee: str) -> tuple[str, int]:
    ports = _ports(shape, callee)
    if not ports:
        raise problem(f"is missing: system.{caller} calls it", callee, "port")
    calling = shape.tiers[caller]
    if calling.software.passes_through:
        return next(iter(ports.items()))
    name = calling.software.caller_protocol(calling.settings.options, ports)
    if name is None:
        called = shape.tiers[callee].server
        raise problem(
            f"cannot be {called}, which speaks {' and '.join(ports)}: {calling.server} of"
            f" system.{caller} does not call by that",
            callee,
            "server",
        )
    return name, ports[name]


def _ports(shape: System, tier: str) -> Mapping[str, int]:
    """What a tier's servers can speak."""
    software = shape.tiers[tier].software
    if not software.passes_through:
        return software.spoken(shape.tiers[tier].settings.options)
    (behind,) = shape.callees(tier)
    return _ports(shape, behind)


def call_problems(shape: System) -> Iterator[PydanticCustomError]:
    """What no system can be, whose tiers call each other like that."""
    yield from _replication_problems(shape)
    yield from _standing_problems(shape)


def _replication_problems(shape: System) -> Iterator[PydanticCustomError]:
    """Databases of one tier are to hold the same data."""
    tiers = shape.tiers
    for name, tier in tiers.items():
        if not tier.software.is_database or tier.count == 1 or tier.software.replicates:
            continue
        if not all(
            tiers[each].software.replicates for each in tiers if name in shape.callees(each)
        ):
            yield problem(
                f"must be 1: nothing keeps the data of {tier.count} servers of {tier.server} the"
                ' same; put "pgpool" in front of them',
                name,
                "count",
            )


def _standing_problems(shape: System) -> Iterator[PydanticCustomError]:
    """What runs already is on the host's network, where no trial's own leads to; an image's root is
    a container's."""
    images = [name for name, tier in shape.tiers.items() if tier.software.brings_root]
    if images and shape.environment != "podman":
        yield problem(f'must be "podman": {images[0]} comes as an image', "environment")
    standing = [name for name, tier in shape.tiers.items() if tier.software.stands]
    if standing and shape.environment != "host":
        yield problem(
            f'must be "host": {standing[0]} runs already, outside of any network of a trial\'s own',
            "environment",
        )
