"""Each environment in turn, where this host has it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.environments.conformance.entries import ENVIRONMENTS, Entry
from tierlab.environments.base import Domain, DomainSpec, Environment
from tierlab.environments.ledger import Ledger
from tierlab.errors import UserError

MARKS = {"qemu": pytest.mark.slow, "xen": pytest.mark.slow}


@pytest.fixture(
    scope="module",  # so that all tests of one come before those of the next
    params=[pytest.param(name, marks=MARKS.get(name, ())) for name in ENVIRONMENTS],
)
def entry(request: pytest.FixtureRequest) -> Entry:
    found = ENVIRONMENTS[request.param]
    try:
        found.make.probe()
    except UserError as refusal:
        pytest.skip(str(refusal))
    return found


@pytest.fixture
def environment(
    entry: Entry,
    trial: str,
    traces: object,  # noqa: ARG001
    request: pytest.FixtureRequest,
) -> Iterator[Environment]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not entry.shared:
        made = entry.make(Ledger(trial))
        yield made
        made.destroy()
        return
    yield request.getfixturevalue(entry.make.name)


@pytest.fixture
def domain(environment: Environment) -> Domain:
    made = environment.create(DomainSpec("db.1", address=environment.addresses.server(4, 1)))
    made.start()
    return made
