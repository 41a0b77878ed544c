"""Each environment in turn, where this host has it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.environments.conformance.entries import ENVIRONMENTS, Entry
from tierlab.environments.base import Domain, DomainSpec, Environment
from tierlab.environments.ledger import Ledger
from tierlab.environments.xen import Xen
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


@pytest.fixture(scope="module")
def xen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xen]:
    made = Xen(Ledger(f"test{os.getpid()}-xen", tmp_path_factory.mktemp("ledger")))
    yield made
    made.destroy()


@pytest.fixture
def environment(
    entry: Entry,
    trial: str,
    traces: object,  # noqa: ARG001
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Environment]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if not entry.shared:
        made = entry.make(Ledger(trial))
        yield made
        made.destroy()
        return
    kept: Environment = request.getfixturevalue(entry.make.name)
    create, domains = kept.create, list[Domain]()

    def recorded(spec: DomainSpec) -> Domain:
        domains.append(create(spec))
        return domains[-1]

    monkeypatch.setattr(kept, "create", recorded)
    yield kept
    for domain in domains:
        domain.destroy()


@pytest.fixture
def domain(environment: Environment) -> Domain:
    made = environment.create(DomainSpec("db.1", address=environment.addresses.server(4, 1)))
    made.start()
    return made
