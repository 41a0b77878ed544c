"""Each environment in turn, where this host has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.environments.borrowed import borrowed, lasting
from tests.environments.conformance.entries import ENVIRONMENTS, Entry
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.host import HostEnvironment
from tierlab.errors import UserError

MARKS = {
    "qemu": pytest.mark.slow,
    "xen": pytest.mark.slow,
    # The machines of the simulated vCenter are containers that do not bear the trial's name.
    "vsphere": pytest.mark.alone,
}


@pytest.fixture(
    scope="package",  # so that all tests of one come before those of the next
    params=[pytest.param(name, marks=MARKS.get(name, ())) for name in ENVIRONMENTS],
)
def entry(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Entry]:
    found = ENVIRONMENTS[request.param]
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        if found.keeper is not None:
            kept_in = tmp_path_factory.mktemp("keeper")
            for name, value in stack.enter_context(found.keeper(kept_in)).items():
                patch.setenv(name, value)
        try:
            found.make.probe()
        except UserError as refusal:
            pytest.skip(str(refusal))
        yield found


@pytest.fixture(scope="package")
def kept(
    entry: Entry, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostEnvironment | None]:
    """An environment for all tests, where it takes long to make one."""
    if not (entry.own_kernel or entry.daemon) or os.geteuid() != 0:
        yield None
        return
    with lasting(entry.make, tmp_path_factory.mktemp("ledger")) as made:
        yield made


@pytest.fixture(scope="package")
def kept_domain(entry: Entry, kept: HostEnvironment | None) -> Domain | None:
    """A domain for all tests, where it takes long to boot one."""
    return started(kept) if entry.own_kernel and kept is not None else None


@pytest.fixture
def environment(
    entry: Entry,
    kept: HostEnvironment | None,
    kept_domain: Domain | None,  # noqa: ARG001 - not lent, so there before the loan
    trial: str,
    traces: object,  # noqa: ARG001
) -> Iterator[Environment]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    if kept is not None:
        with borrowed(kept):
            yield kept
        return
    made = entry.make(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture
def domain(environment: Environment, kept_domain: Domain | None) -> Iterator[Domain]:
    if kept_domain is None:
        yield started(environment)
        return
    yield kept_domain
    kept_domain.stop()


def started(environment: Environment) -> Domain:
    made = environment.create(DomainSpec("db.1", address=environment.addresses.server(4, 1)))
    made.start()
    return made
